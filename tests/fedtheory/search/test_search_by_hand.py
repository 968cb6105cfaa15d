"""Choices of the proof search against values by hand: signs, orders, edges and omissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from own_claims import CONVEX, LOOSE, WHERE, D, L, M, T, error_bound, eta, mu, sigma, tau

from fedtheory import Claim, inner, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Numbers, Rejected, scalar
from fedtheory.kernel.expressions import Average, Gradient, Value
from fedtheory.kernel.quotients import ONE, ZERO, quotient
from fedtheory.language.targets import resolve
from fedtheory.proofs.link_context import build_link_context
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search.blocks import NOISE, SHARED, Block, Blocks, find_squares, multiply_numbers
from fedtheory.search.candidates import find_candidates
from fedtheory.search.coefficients import Selection, System, list_simple_values
from fedtheory.search.conic import UNBOUNDED, Programs, find_least_support
from fedtheory.search.dimensions import Dimensions, divide_dimensions
from fedtheory.search.polynomials import solve
from fedtheory.search.positivity import (
    SignFacts,
    split_into_products,
    split_pairs,
    split_quickly,
    split_with_squares,
)
from fedtheory.search.premises import list_lacking_quantities, list_supposable
from fedtheory.search.restated import rename_claim
from fedtheory.search.samples import Samples, draw_inner_points, draw_samples, find_negative, is_feasible

NUMBERS = Numbers(symbols=frozenset({eta, L, sigma, tau, M}), at_least={tau: 1, M: 1}, integer=frozenset({tau, M}))
STEP = [eta <= 1 / (4 * L)]
SIGNS = SignFacts(NUMBERS, STEP)


def _is_sum(found: Sequence[Any] | None, number: Any) -> bool:
    """Return whether all summands are non-negative and add up to a number."""
    if found is None:
        return False
    return sp.cancel(sp.Add(*found) - number) == 0 and all(map(SIGNS.is_nonnegative, found))


PAIRS = {
    "one pair": (2 * sigma**2 - 8 * eta * L * sigma**2, True),
    "one pair, too much": (2 * sigma**2 - 9 * eta * L * sigma**2, False),
    "one term beside two": (1 - 2 * eta * L - eta * L / tau, True),
    "one term beside two, too much": (1 - 4 * eta * L - 4 * eta * L / tau, False),
    "nothing larger": (eta * L - 1, False),
    "none negative": (1 + eta, True),
}


@pytest.mark.parametrize("name", PAIRS)
def test_no_term_serves_twice(name: str) -> None:
    number, stands = PAIRS[name]
    assert _is_sum(split_pairs(number, SIGNS), number) is stands


def test_zero_needs_no_summand() -> None:
    assert split_quickly(sp.S.Zero, SIGNS) == []


def test_only_short_sums_are_paired() -> None:
    """Sums of up to twelve terms are paired."""
    terms = [L**power for power in range(13)]
    assert split_pairs(sp.Add(*terms[:12]), SIGNS) is not None
    assert split_pairs(sp.Add(*terms), SIGNS) is None


SQUARES = {
    "a square": ((eta - L) ** 2, True),
    "a weighted square": ((2 * eta - 3 * L) ** 2, True),
    "a square and more": ((eta - L) ** 2 + L**2, True),
    "a square times letters": (eta * L * (eta - 2 * L) ** 2, True),
    "two squares": ((eta - L) ** 2 + sigma**2 * (sigma - tau) ** 2, True),
    "just too much": (eta**2 - sp.Rational(201, 100) * eta * L + L**2, False),
    "a negative square": (-((eta - L) ** 2), False),
}


@pytest.mark.parametrize("name", SQUARES)
def test_squares_are_completed(name: str) -> None:
    """Squares are completed exactly if the discriminant allows it."""
    number, stands = SQUARES[name]
    assert _is_sum(split_with_squares(sp.expand(number), SIGNS), number) is stands


QUOTIENTS = {
    "a denominator with a negative factor": ((4 * eta * L - 1) / (2 * eta * L - 1), True),
    "its square": ((1 - 4 * eta * L) / (2 * eta * L - 1) ** 2, True),
    "its cube": ((4 * eta * L - 1) / (2 * eta * L - 1) ** 3, True),
    "no sign below": ((1 - 4 * eta * L) / (1 - 8 * eta * L), False),
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_signs_of_denominators(name: str) -> None:
    number, stands = QUOTIENTS[name]
    assert _is_sum(split_into_products(number, SIGNS), number) is stands


def test_cheap_columns_come_first() -> None:
    """The cheaper one of two equal columns is used, and no weight is negative."""
    column = {(0,): fmpq(2)}
    assert solve([column, column], {(0,): fmpq(3)}, [5, 1]) == {1: fmpq(3, 2)}
    assert solve([column], {(0,): fmpq(3), (1,): fmpq(1)}, [1]) is None
    assert solve([column], {(0,): fmpq(-3)}, [1]) is None


def _at(**values: Any) -> dict[sp.Symbol, sp.Rational]:
    symbols = {"eta": eta, "L": L, "tau": tau}
    return {symbols[name]: sp.Rational(value) for name, value in values.items()}


def test_conditions_at_a_point() -> None:
    """Edges satisfy <= but not <, and no count is below its least value."""
    assert is_feasible(_at(eta="1/4", L=1), NUMBERS, [eta <= 1 / (4 * L)])
    assert not is_feasible(_at(eta="1/4", L=1), NUMBERS, [eta < 1 / (4 * L)])
    assert not is_feasible(_at(eta="1/3", L=1), NUMBERS, [eta <= 1 / (4 * L)])
    assert is_feasible(_at(tau=1), NUMBERS, [])
    assert not is_feasible(_at(tau="1/2"), NUMBERS, [])
    assert is_feasible(_at(eta=3), NUMBERS, [sp.Ne(eta, 1)])


def _points(symbol: sp.Symbol, *values: float) -> Samples:
    return Samples([symbol], np.array([values]))


def test_the_point_of_a_negative_value_satisfies_the_conditions() -> None:
    """The most negative point is used if it satisfies the conditions, else the next one."""
    conditions = [eta <= 4]
    assert find_negative(1 - eta, _points(eta, 2, 8, 3), NUMBERS, conditions) == {eta: 3}
    assert find_negative(1 - eta, _points(eta, 8, 1), NUMBERS, conditions) is None
    assert find_negative(1 - eta, _points(eta, *range(11, 4, -1), 2), NUMBERS, conditions) == {eta: 2}
    assert find_negative(1 - eta, _points(eta, *range(12, 4, -1), 2), NUMBERS, conditions) is None


def test_samples_meet_lower_bounds() -> None:
    """Samples are above lower bounds, half of them on the edge; symbols of conditions are sampled as well."""
    below = draw_samples([eta, L], NUMBERS, [eta >= 2 / L], 200)
    assert below.at.shape[1] > 150
    assert (below.values(eta * L) >= 2).all()
    assert (below.values(eta * L) == 2).any()
    symbols = [symbol.name for symbol in draw_samples([eta], NUMBERS, STEP, 10).symbols]
    assert symbols == ["L", "eta"]


def test_generic_points_lie_inside() -> None:
    samples = draw_inner_points([eta, L, tau], NUMBERS, STEP, 7)
    assert samples.at.shape == (3, 7)
    assert (samples.values(4 * eta * L) < 1).all()
    counts = samples.values(tau)
    assert set(counts) <= {2, 3, 4, 5, 6}
    assert (np.diff(samples.values(eta)) != 0).all()


def test_points_inside_narrow_conditions() -> None:
    """One of the symbols is much smaller if moderate values violate a condition, and all points lie inside."""
    narrow = [10**4 * L * eta**2 * tau**2 <= 1]
    samples = draw_inner_points([eta, L, tau], NUMBERS, narrow, 7)
    assert samples.at.shape == (3, 7)
    assert (10**4 * samples.values(L * eta**2 * tau**2) < 1).all()
    assert draw_inner_points([eta, L, tau], NUMBERS, [eta <= 1 / L, eta >= 2 / L], 7).at.shape == (3, 0)


def test_numbers_of_clients_are_sampled_for_several() -> None:
    """The average of p (1 - p) is below that of p by the mean square; conditions hold for every client."""
    own = sp.Symbol("p", positive=True)
    numbers = Numbers(symbols=frozenset((eta,)), of_clients=frozenset((own,)))
    samples = draw_inner_points([own, eta], numbers, [sp.Le(own, eta)], 4)
    clients = samples.of_clients[own]
    assert (clients <= samples.at[0]).all()
    mean = samples.values(Average(own * (1 - own)))
    assert mean == pytest.approx(np.mean(clients * (1 - clients), axis=0))
    assert samples.values(own) == pytest.approx(clients[0])
    alone = draw_inner_points([own, eta], numbers, [sp.Le(own, eta)], 4, single_client=True)
    assert own in alone.symbols
    assert not alone.of_clients


def test_averages_are_not_sampled() -> None:
    with pytest.raises(Rejected, match="has no numeric value"):
        _points(eta, 1).values(Average(eta))


def _sided(**changes: Any) -> Claim:
    return resolve(Claim(id="mine:sided", lhs=0, rhs=D, where={**WHERE, mu: q.strong_convexity}, **changes))


def test_dimensions_of_numbers() -> None:
    """Units are norms and objective values: eta is norm squared by value, L its inverse, sigma value by norm."""
    unknown = sp.Symbol("unknown", positive=True)
    of = Dimensions(_sided()).find
    assert of(eta * L) == of(tau / M) == of(sp.Rational(3)) == (0, 0)
    assert of(D) == (1, 0)
    assert of(eta * sigma**2) == of(D**2 / (2 * eta * tau * T)) == of(eta * sigma**2 + L * D**2) == (0, 1)
    assert of(sigma) == of(L * D) == (-1, 1)
    for strange in (1 + eta, unknown, unknown * eta, sp.sqrt(L)):
        assert of(strange) is None
    assert divide_dimensions((0, 1), (2, -1)) == (-2, 2)
    assert divide_dimensions(None, (0, 0)) is divide_dimensions((0, 0), None) is None


def test_dimensions_of_blocks() -> None:
    """A gradient has the unit value by norm, for objectives and noise, and a model the unit norm."""
    dimensions = Dimensions(_sided())
    x, F = sp.symbols("x F", real=True)
    model, gradient = (SHARED, x, x), (SHARED, Gradient(F, x), Gradient(F, x))
    mixed, noise = (SHARED, Gradient(F, x), x), (NOISE, x, x)
    for key, number in ((model, L), (gradient, eta), (mixed, sp.S.One), (noise, eta)):
        assert dimensions.find_dimension(Blocks({}, {key: quotient(number)})) == (0, 1)
    values = {Value(F, x): ONE}
    assert dimensions.find_dimension(Blocks(values, {model: quotient(L)})) == (0, 1)
    assert dimensions.find_dimension(Blocks({sp.S.One: ONE}, {})) == (0, 0)
    assert dimensions.find_dimension(Blocks(values, {model: ONE})) is None


def _number(value: Any) -> Any:
    return quotient(sp.sympify(value))


def test_linear_equations_are_solved() -> None:
    """2 a + b = 4 and b = 3 give a = 1/2; a third equation holds or not."""
    system = System(Blocks({}, {}), [None, None, None], {})  # type: ignore[list-item]
    assert system.impose({0: _number(2), 1: _number(1), -1: _number(-4)})
    assert system.free == [1, 2]
    assert system.impose({1: _number(1), -1: _number(-3)})
    assert system.free == [2]
    half, three = (system.known[place][-1].expression for place in (0, 1))
    assert (half, three) == (sp.Rational(1, 2), 3)
    assert system.impose({-1: ZERO})
    assert not system.impose({-1: _number(1)})
    assert not system.impose({0: ZERO, -1: _number(1)})
    chain = System(Blocks({}, {}), [None, None, None], {})  # type: ignore[list-item]
    assert chain.impose({0: _number(1), 1: _number(-1), 2: _number(-1)})
    assert chain.impose({1: _number(1), 2: _number(1)})
    assert chain.known == {0: {}, 1: {2: _number(-1)}}


def test_simple_values_begin_at_an_end() -> None:
    """Two ends at 2 eta^2 leave one value; inside (0, eta) the end eta is tried first."""
    at = np.array([0.3, 1.7, 2.9])
    samples = Samples([eta], at[None, :])
    choice = Selection([], samples, Dimensions(_sided()), samples)
    exact = list(list_simple_values([(2 * v**2, 2 * v**2) for v in at], choice))
    assert exact == [2 * eta**2]
    inside = list(list_simple_values([(0.0, v) for v in at], choice))
    assert inside[0] == eta
    assert eta / 2 in inside
    assert 2 * eta not in inside
    assert all(0 <= float(one.subs(eta, v)) <= v + 1e-4 for one in inside for v in at)
    assert next(list_simple_values([(v / 3, 1e12) for v in at], choice)) == eta / 3
    ends = [(v + 1) / 2 for v in at]
    assert next(list_simple_values([(v, v) for v in ends], replace(choice, units=(eta + 1,)))) == (eta + 1) / 2
    step = list_simple_values([(v, v) for v in at], choice, Dimensions(_sided()).find(eta))
    assert list(step) == [eta]
    assert not list(list_simple_values([(v, v) for v in at], choice, (1, 0)))


def test_ends_that_a_program_does_not_find() -> None:
    """A simple value is found if its range is known at two or more points."""
    at = np.array([0.3, 1.7, 2.9])
    samples = Samples([eta], at[None, :])
    choice = Selection([], samples, Dimensions(_sided()), samples)
    ends = [(0.0, 0.3), (0.0, 1.7), (0.0, UNBOUNDED)]
    assert next(list_simple_values(ends, choice)) == eta


def _programs(goal: Sequence[float], columns: Sequence[Sequence[float]], sizes: Sequence[int] = ()) -> Programs:
    """Return a program at two samples; without matrices every entry has to cancel."""
    pytest.importorskip("clarabel")
    table = np.array(columns, dtype=float).T
    return Programs(np.array([goal, goal], dtype=float), np.array([table, table]), len(goal) - sum(sizes), sizes, 2)


def test_no_candidate_of_a_support_can_be_left_out() -> None:
    """All attempts write the goal (2, 3) by two of the columns (1, 0), (0, 1) and (1, 1)."""
    programs = _programs((2, 3), [(1, 0), (0, 1), (1, 1)])
    assert find_least_support(programs) == [1, 2]
    assert all(len(find_least_support(programs, attempt) or ()) == 2 for attempt in range(4))
    assert find_least_support(_programs((2, 3), [(1, 0), (1, 0)])) is None


x, y, F = sp.symbols("x y F", real=True)


def _context(assumptions: Sequence[Any]) -> tuple[Any, Any]:
    where = {x: q.point, y: q.second_point, F: q.objective, L: q.smoothness}
    where |= {mu: q.strong_convexity} if a.strongly_convex_clients in assumptions else {}
    difference = Gradient(F, x) - Gradient(F, y)
    sides = {"lhs": norm_sq(difference) / L, "rhs": inner(difference, x - y)}
    claim = resolve(Claim(id="mine:pair", place="points", where=where, assumptions=assumptions, **sides))
    plain = use_plain_symbols(claim)
    return build_link_context(plain, plain.relations[0]), plain.relations[0]


KINDS: Mapping[str, tuple[Sequence[Any], Mapping[str, int]]] = {
    "convex and smooth": ([a.convex_and_smooth], {"cocoercivity": 6, "smoothness": 6}),
    "smooth": ([a.smooth], {"smoothness": 2, "lipschitz_gradient": 2, "interpolation": 2}),
    "strongly convex": (
        [a.convex_and_smooth, a.strongly_convex_clients],
        {"cocoercivity": 6, "smoothness": 6, "strong_convexity": 6, "interpolation": 6},
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_inequalities_at_two_points(name: str) -> None:
    """All inequalities of the objective are listed in both directions; a convex one also with its minimiser."""
    assumptions, expected = KINDS[name]
    context, relation = _context(assumptions)
    form = scalar(relation.slack, context)
    kinds = [one.pattern.reason.kind for one in find_candidates(context, form, relation, False)]
    assert {kind: kinds.count(kind) for kind in expected} == expected
    assert kinds.count("one") == 1
    assert not {"cocoercivity", "strong_convexity", "lipschitz_gradient", "interpolation"} & (
        set(kinds) - expected.keys()
    )
    nearby = [one.pattern.reason for one in find_candidates(context, form, relation, True)]
    assert {reason.about[0] for reason in nearby if reason.about} == {F}
    assert sum(reason.kind == "smoothness" for reason in nearby) == 2


def _matrix(xx: Any, xy: Any, yy: Any) -> dict[tuple[Block, Any, Any], Any]:
    entries = {(SHARED, x, x): xx, (SHARED, x, y): xy, (SHARED, y, y): yy}
    return {key: quotient(sp.sympify(number)) for key, number in entries.items() if number != 0}


INDEFINITE = ((1, 2, 1), (0, 1, 1), (-1, 0, 1))


@pytest.mark.parametrize(
    ("entries", "count"),
    [
        ((1, 1, 2), 2),
        ((1, 1, 1), 1),
        ((4, 2, 1), 1),
        ((0, 0, 3), 1),
        ((1, 2, 1), None),
        ((0, 1, 1), None),
        ((-1, 0, 1), None),
    ],
    ids=str,
)
def test_positive_semidefinite_matrices_are_sums_of_squares(entries: tuple[int, int, int], count: int | None) -> None:
    """There are as many squares as the rank, and none for an indefinite matrix."""
    context, _ = _context([a.smooth])
    found = find_squares(_matrix(*entries), context, SignFacts(context.numbers, ()))
    assert (None if found is None else len(found)) == count


def test_products_of_long_polynomials_are_refused() -> None:
    symbols = sp.symbols("p_0:64", positive=True)
    long, longer = (quotient(sp.Add(*symbols[:count])) for count in (63, 64))
    assert multiply_numbers(long, long)
    with pytest.raises(Rejected, match="more than 4000 terms"):
        multiply_numbers(long, longer)


def test_supposed_assumptions_of_a_claim() -> None:
    """Assumptions whose constant the claim names are supposed, if it makes none on the objectives."""
    where = {**WHERE, mu: q.strong_convexity}
    assert list_supposable(error_bound(LOOSE)) == [a.convex_and_smooth, a.smooth]
    assert list_supposable(error_bound(LOOSE + mu, where=where)) == [
        a.convex_and_smooth,
        a.smooth,
        a.strongly_convex_clients,
    ]
    assert list_supposable(error_bound(LOOSE, assumptions=CONVEX)) == []
    assert list_supposable(replace(error_bound(LOOSE), is_published=True)) == []
    assert list_supposable(error_bound(0, (), rhs=D, where={D: q.initial_distance})) == []


def test_quantities_that_others_name() -> None:
    claim = error_bound(LOOSE, where={symbol: quantity for symbol, quantity in WHERE.items() if symbol != M})
    assert list_lacking_quantities(claim, [error_bound(LOOSE + sigma / M)]) == ["clients"]
    assert list_lacking_quantities(error_bound(LOOSE), [claim]) == []
    of_vectors = Claim(id="mine:step", lhs=norm_sq(eta), rhs=D, where={eta: q.server_model, D: q.initial_distance})
    assert list_lacking_quantities(error_bound(LOOSE), [of_vectors]) == []


def test_a_document_is_renamed_where_it_names_its_claim() -> None:
    """Only references to the claim itself are renamed."""
    document = {"claim": "a:1", "note": "a:1", "parts": [{"claim": "a:1"}, {"claim": "a:2"}, "a:1"]}
    renamed = {"claim": "b:1", "note": "a:1", "parts": [{"claim": "b:1"}, {"claim": "a:2"}, "a:1"]}
    assert rename_claim(document, "a:1", "b:1") == renamed
