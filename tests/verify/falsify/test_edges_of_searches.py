"""Edges of the search for violations and of orders: a single client or scale, runs that do not exist, vectors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from claim_symbols import WHERE, D, T, eta
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.limiting_runs import with_infinitesimal_steps
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.check.orders import Order, _find_order_of_power, find_order
from verify.check.rates import _set_local_steps
from verify.falsify.exponents import LogarithmReader, Logarithms
from verify.falsify.generation import _set_rounds
from verify.falsify.rays import Ray, ScaledRun
from verify.falsify.regimes.algorithm_tables import ClaimedAlgorithm
from verify.falsify.regimes.factors import BASE, Point
from verify.falsify.regimes.horizon import find_rounds
from verify.falsify.regimes.problem_tables import build_problem
from verify.falsify.run_tables import Table, get
from verify.falsify.search_state import SearchState


def test_only_numbers_of_a_run_have_an_order() -> None:
    """The distance D = 1 of a run is a root, of order 0; a model, and a symbol that stands for nothing, have none."""
    array = RATIONAL.array
    at = quadratic(array([[[1]]]), array([[0]]), array([1]))
    run = with_infinitesimal_steps(Run(at, fedavg(at, rounds=1, local_step_size=fmpq(1, 2))))
    model = sp.Symbol("w", real=True)
    claim = Claim(id="t:order", lhs=D, rhs=1, where={D: q.initial_distance, model: q.server_model})
    distance = find_order(claim, D, run)
    assert distance is not None
    assert (distance.power, distance.is_exact) == (Fraction(0), True)
    assert find_order(claim, model, run) is None
    assert find_order(claim, eta, run) is None


def test_orders_known_from_above() -> None:
    """A positive power or a root of a bounded order has an upper bound; a negative power has none."""
    known = Order(Fraction(2), is_exact=False)
    for exponent in (Fraction(1, 2), Fraction(1), Fraction(3, 2)):
        assert _find_order_of_power(known, exponent) == Order(2 * exponent, is_exact=False)
    assert _find_order_of_power(known, Fraction(0)) is None
    assert _find_order_of_power(Order(Fraction(2)), Fraction(0)) == Order(Fraction(0))


@pytest.mark.parametrize(("steps", "work", "rounds"), [(3, 3, 6), (4, 4, 5), (0, 1, 20), (20, 20, 1), (50, 50, 1)])
def test_the_rounds_of_other_local_steps(steps: int, work: int, rounds: int) -> None:
    """There are as many iterations as in five rounds of at most four steps, rounded down to whole rounds."""
    array = RATIONAL.array
    at = quadratic(array([[[1]], [[2]]]), array([[0], [1]]), array([1]))
    run = Run(at, fedavg(at, rounds=5, local_step_size=fmpq(1, 2), local_steps=(2, 4)))
    found = _set_local_steps(run, steps).algorithm
    assert (found.work.steps, found.rounds) == ((work, work), rounds)
    assert set(found.work.step_sizes) == {fmpq(1, 2)}


def _table(rounds: int, **algorithm: Any) -> Table:
    start = {"kind": "quadratic", "hessians": [[[fmpq(1)]]], "linear": [[fmpq(0)]], "start": [fmpq(1)]}
    return {"problem": start, "algorithm": {"local_step_size": fmpq(1, 4), "rounds": rounds, **algorithm}}


def _rounds(claim: Claim, table: Table, size: int) -> set[int]:
    """Return the numbers of rounds in fifty draws."""
    generator = np.random.default_rng(0)
    return {get(_set_rounds(claim, table, size, generator), "algorithm.rounds") for _ in range(50)}


def test_rounds_of_small_and_of_large_runs() -> None:
    """Small runs keep their rounds, larger ones get one to three sizes; with a clock the rounds stay."""
    claim = Claim(id="t:rounds", lhs=0, rhs=T, where={T: q.rounds})
    bounded = Claim(id="t:rounds", lhs=0, rhs=T, where={T: q.rounds}, conditions=[T >= 15])
    clock = {"times": [fmpq(1)], "policy": "sync"}
    assert _rounds(claim, _table(7), 1) == {7}
    assert _rounds(claim, _table(7), 2) == {2, 4, 6}
    assert _rounds(claim, _table(7), 5) == {5, 10, 15}
    assert _rounds(claim, _table(7, clock=clock), 5) == {7}
    assert _rounds(bounded, _table(7, clock=clock), 5) == {15, 16}


@pytest.mark.parametrize(("kind", "first"), [("one tiny", (1, 1000)), ("one heavy", (9, 10)), (None, None)])
def test_weights_of_extreme_runs(kind: str | None, first: tuple[int, int] | None) -> None:
    """One client of M has 1/(1000 M), or 9/10 + 1/(10 M), and the others share the rest; a single one has none."""
    point: Point = {**BASE, "weights": kind}
    assert "weights" not in build_problem({**point, "clients": 0})
    for power in (1, 2):
        found, clients = build_problem({**point, "clients": power}).get("weights"), 2**power
        if first is None or kind is None:
            assert found is None
            continue
        one = fmpq(1, 1000 * clients) if kind == "one tiny" else fmpq(9 * clients + 1, 10 * clients)
        assert found == [one] + [(1 - one) / (clients - 1)] * (clients - 1)
        assert sum(found) == 1


def test_a_ray_reads_runs_that_exist() -> None:
    """A run with half a client says nothing, nor one beyond reach or with features that are not asked for."""
    claim = Claim(id="t:ray", lhs=q.final_suboptimality, rhs=D**2, where=WHERE)
    reader, table = LogarithmReader(claim), _table(3)
    reading = reader.read(table)
    assert isinstance(reading, Logarithms)
    none = np.zeros_like(reading.terms)
    state, ray = SearchState(claim, 1e9), Ray(reader, ScaledRun(table), reading, none)
    found = ray._read(state, ScaledRun(table))
    assert found is not None
    assert found.lead(none) == reading.lead(none)
    assert ray._read(state, ScaledRun(table, {"clients": -1})) is None
    assert ray._read(state, ScaledRun(table, {"rounds": 12})) is None
    assert ray._read(state, ScaledRun(_table(3, server_step_size=fmpq(1, 2)))) is None


HORIZONS = [
    ("fedavg", {}, 0, 2**22),
    ("fedavg", {"participation": "one"}, 3, 600),
    ("fedavg", {"clock": "one slow"}, 0, 200),
    ("fedavg", {"clock": "one slow"}, 3, 25),
    ("fedavg", {"loss": "Huber", "sources": "s"}, 0, 256),
    ("fedavg", {"loss": "Huber", "sources": "s"}, 11, 1),
    ("fedavg", {"loss": "Huber", "sources": "s", "participation": "one"}, 3, 4),
    ("fedavg", {"loss": "Huber", "sources": "s", "clock": "buffer"}, 0, 32),
    ("fedavg", {"loss": "data"}, 0, 256),
    ("fedavg", {"loss": "data", "clock": "buffer"}, 0, 32),
    ("scaffold", {}, 0, 500),
    ("scaffold", {}, 5, 50),
    ("scaffold", {}, 3, 62),
    ("scaffnew", {}, 5, 120),
    ("dsgd", {"mixing": "ring"}, 0, 80),
]


@pytest.mark.parametrize(("algorithm", "levels", "steps", "rounds"), HORIZONS)
def test_the_longest_runs(algorithm: str, levels: Point, steps: int, rounds: int) -> None:
    """The longest runs have as many local steps as can be simulated, in whole rounds."""
    point: Point = {**BASE, "local steps": steps, "horizon": ("T", 30), **levels}
    subject = ClaimedAlgorithm(algorithm)
    assert find_rounds(point, fmpq(1, 4), subject) == rounds
    assert find_rounds({**point, "horizon": ("T", 2)}, fmpq(1, 4), subject) == min(rounds, 4)
    assert find_rounds(point, fmpq(1, 4), subject, looked_at=1) == 1
