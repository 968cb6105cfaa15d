"""Choices of the search for violations against values by hand: kinds of runs, roundings, ties and limits of counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, find_simplest_between
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.check.orders import Order, _find_order_of_power
from verify.falsify.counts import list_allowed_counts
from verify.falsify.equal_sides import _solve_for_zeros
from verify.falsify.exponents import Logarithms, Room, find_best_step
from verify.falsify.generation import KINDS, Bases, Clients, InstanceKind, classify_run
from verify.falsify.local_search import _list_simplest, find_factor_at_edge, find_factor_within
from verify.falsify.simple_numbers import find_simple_power, list_simpler, measure_length

T, eta, L = sp.symbols("T eta L", positive=True)


def _table(
    *, linear: tuple[str, ...] = ("1", "-1"), noise: str = "0", steps: int = 1, start: str = "3"
) -> dict[str, Any]:
    problem = {
        "kind": "quadratic",
        "hessians": [[["1"]]] * len(linear),
        "linear": [[one] for one in linear],
        "start": [start],
        "noise": noise,
    }
    return {"problem": problem, "algorithm": {"local_step_size": "1/4", "local_steps": steps, "rounds": 2}}


KIND_OF = {
    "pulls": (_table(), InstanceKind("pulls that differ", False, False, False)),
    "alike": (_table(linear=("1", "1"), noise="1"), InstanceKind("clients that are alike", True, False, False)),
    "one": (_table(linear=("1",), steps=2), InstanceKind("one client", False, True, False)),
    "at the optimum": (_table(start="0"), InstanceKind("pulls that differ", False, False, True)),
}


@pytest.mark.parametrize("name", KIND_OF)
def test_kinds_of_runs(name: str) -> None:
    table, kind = KIND_OF[name]
    assert classify_run(parse_run(table, RATIONAL)) == kind
    assert len(kind.words) == 4
    assert kind in KINDS


@pytest.mark.parametrize(
    ("clients", "one", "two"),
    [("pulls that differ", False, False), ("curvatures that differ", False, True), ("one client", True, True)],
)
def test_quadratics_from_data(clients: Clients, one: bool, two: bool) -> None:
    """Quadratics from data keep their noise and linear terms; a single client gets no other curvatures."""
    for count, expected in ((1, one), (2, two)):
        data = {"problem": {"kind": "least-squares", "inputs": [[["1"]]] * count, "noise": ["0"]}}
        for noisy in (False, True):
            found = Bases([data]).for_kind(InstanceKind(clients, noisy, False, False))
            assert bool(found) is (expected and not noisy)
    own = _table(linear=("1",))
    assert Bases([own]).for_kind(InstanceKind(clients, True, False, False)) == [own]


def test_factors_are_simple_numbers_near_powers_of_two() -> None:
    assert [find_simple_power(exponent, 0.01) for exponent in (3.0, -2.0, 0.0)] == [8, fmpq(1, 4), 1]
    for exponent in (0.5, -1.7, 5.3):
        assert float(find_simple_power(exponent, 0.01)) == pytest.approx(2**exponent, rel=0.01)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ((1, 3), (1, 2), (1, 2)),
        ((5, 2), (7, 2), (3, 1)),
        ((2, 7), (3, 10), (2, 7)),
        ((0, 1), (1, 9), (0, 1)),
        ((3, 10), (1, 3), (1, 3)),
    ],
    ids=str,
)
def test_the_simplest_number_of_an_interval(low: Any, high: Any, expected: Any) -> None:
    """The smallest denominator, as a search over all denominators finds it."""
    found = find_simplest_between(fmpq(*low), fmpq(*high))
    assert found == fmpq(*expected)
    inside = (
        Fraction(p, n)
        for n in range(1, 12)
        for p in range(12 * n)
        if Fraction(*low) <= Fraction(p, n) <= Fraction(*high)
    )
    assert next(inside) == Fraction(*expected)


def test_reading_effort_of_numbers() -> None:
    """Powers of two less than others of their length, whole numbers less than fractions, negative ones a sign more."""
    assert measure_length(Fraction(0)) == 0
    weights = [measure_length(Fraction(*one)) for one in ((1, 1), (8, 1), (7, 1), (1, 8), (7, 8), (7, 9))]
    assert weights == sorted(weights)
    assert len(set(weights)) == len(weights)
    assert measure_length(fmpq(-3, 4)) == measure_length(Fraction(3, 4)) + 1
    candidates = list(list_simpler(fmpq(-7, 9)))
    assert candidates[-1] == fmpq(7, 9)
    assert all(measure_length(one) < measure_length(fmpq(-7, 9)) for one in candidates[:-1])
    assert list(list_simpler(fmpq(0))) == []


def test_counts_that_conditions_allow() -> None:
    """Counts are the smallest four, up to sixteen; there are none without a condition on that count alone."""

    def allowed(*conditions: Any) -> list[int]:
        where = {T: q.rounds, eta: q.local_step_size}
        return [
            *list_allowed_counts(
                Claim(id="mine:counts", lhs=0, rhs=T * eta, where=where, conditions=conditions), q.rounds
            )
        ]

    assert allowed(T >= 3) == [3, 4, 5, 6]
    assert allowed(sp.Eq(T, 10)) == [10]
    assert allowed(T >= 16) == [16]
    assert allowed(T >= 17) == []
    assert allowed(T >= 3, T <= 4) == [3, 4]
    assert allowed(eta <= 1) == allowed(eta * T >= 1) == allowed() == []


def test_zeros_of_powers() -> None:
    """Zeros of a f^p + b are found from the values at one and two, for p of one and two with either sign."""
    for power, zero in ((1, 3), (-1, 5), (2, 7), (-2, fmpq(1, 3))):
        root = fmpq(zero)
        assert root in list(_solve_for_zeros(lambda f, p=power, z=root: f**p - z**p))
    assert list(_solve_for_zeros(lambda _: fmpq(1))) == []
    assert list(_solve_for_zeros(lambda _: None)) == []


def test_orders_of_powers() -> None:
    """An upper bound on an order gives no lower bound, and nothing about the inverse."""
    assert _find_order_of_power(Order(Fraction(2)), Fraction(-1, 2)) == Order(Fraction(-1))
    assert _find_order_of_power(Order(Fraction(2), is_exact=False), Fraction(3)) == Order(Fraction(6), is_exact=False)
    assert _find_order_of_power(Order(Fraction(2), is_exact=False), Fraction(-1)) is None
    assert _find_order_of_power(Order(float("inf")), Fraction(-1)) is None


STEPS = Claim(
    id="mine:steps", lhs=0, rhs=eta, where={eta: q.local_step_size, L: q.smoothness}, conditions=[eta <= 1 / (4 * L)]
)


@pytest.mark.parametrize(
    ("step", "within", "edge"), [("1/8", None, 2), ("1/4", None, 1), ("1", "1/4", None), ("9", "1/256", None)]
)
def test_factors_of_step_sizes(step: str, within: str | None, edge: int | None) -> None:
    """On a curvature of one steps are at most 1/4: squares of two times smaller, and the edge exactly."""
    table = _table()
    table["algorithm"]["local_step_size"] = step
    run = parse_run(table, RATIONAL)
    assert find_factor_within(STEPS, run) == (None if within is None else fmpq(*map(int, within.split("/"))))
    if edge is not None:
        assert find_factor_at_edge(STEPS, run) == edge
    free = Claim(id="mine:free", lhs=0, rhs=eta, where={eta: q.local_step_size})
    assert find_factor_at_edge(free, run) is None
    assert find_factor_within(free, run) is None


def test_simple_edges_come_first() -> None:
    found = list(_list_simplest(fmpq(31, 100), fmpq(34, 100)))
    assert (found[0], found[-1]) == (fmpq(1, 3), fmpq(31, 100))
    assert all(fmpq(31, 100) <= one <= fmpq(34, 100) for one in found)


def _reading(smaller: float, terms: list[float], conditions: list[float]) -> Logarithms:
    return Logarithms(smaller, np.array(terms), np.array(conditions))


def test_the_best_step_of_exponents() -> None:
    """The smaller side grows with the square of the first aspect, the term with it: four powers up, with room.

    The second aspect changes nothing, and stays; a condition that grows with the first one keeps it back.
    """
    at, still = _reading(0, [0], [-3]), _reading(0, [0], [0])
    grows = _reading(2, [1], [0])
    room = Room(np.array([-4.0, -4.0]), np.array([4.0, 4.0]), np.ones((1, 2)), np.array([8.0]))
    none, inequality = np.zeros(1), np.array([False])
    assert list(find_best_step(at, none, [grows, still], inequality, room)) == [4, 0]
    bound = _reading(2, [1], [1])
    assert list(find_best_step(at, none, [bound, still], inequality, room)) == [3, 0]
    assert list(find_best_step(_reading(0, [0], [0]), none, [bound, still], np.array([True]), room)) == [0, 0]
    # The second aspect must not make room for the first one.
    narrow = Room(np.array([-4.0, 0.0]), room.high, room.sums, np.array([2.0]))
    assert list(find_best_step(at, none, [grows, still], inequality, narrow)) == [2, 0]


def test_the_lead_of_a_smaller_side() -> None:
    """Two terms of size one are two together; a burden of one power of two doubles a term."""
    reading = _reading(3.0, [0.0, 0.0], [])
    assert reading.lead(np.zeros(2)) == pytest.approx(2.0)
    assert reading.lead(np.array([1.0, -np.inf])) == pytest.approx(2.0)
    exponents = reading.exponents(_reading(7.0, [2.0, -2.0], []), 2)
    assert (exponents.smaller, list(exponents.terms)) == (2.0, [1.0, -1.0])
