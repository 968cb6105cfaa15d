"""Runs from the dual of a search for a certificate: near misses of one step fail on them, true statements have none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, inner, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value
from fedtheory.language.registry import all_sources, claims_of, find
from fedtheory.language.targets import resolve
from fedtheory.search import SampledGradient, find_worst_functions
from fedtheory.search.blocks import SHARED
from fedtheory.search.worst_functions import WorstFunction, _find_coordinates
from verify.falsify.instance_search import search_worst_starts
from verify.falsify.run_tables import evaluate_run
from verify.falsify.worst_starts import _build_runs, _list_from_common_start, list_worst_starts

x, y, F, v, w, best = sp.symbols("x y F v w best", real=True)
local, mean, following, F_i = sp.symbols("x_i xbar xnext F_i", real=True)
L, mu, eta, M, sigma = sp.symbols("L mu eta M sigma", positive=True)
POINTS: dict[Any, Any] = {x: q.point, y: q.second_point, F: q.objective, L: q.smoothness}
DESCENT: dict[Any, Any] = {
    v: q.centralised_model,
    w: q.next_centralised_model,
    best: q.optimum,
    F: q.objective,
    L: q.smoothness,
}
DESCENT |= {eta: q.local_step_size, mu: q.strong_convexity}
STEP: dict[Any, Any] = {
    local: q.local_iterate,
    mean: q.average_iterate,
    following: q.next_average_iterate,
    best: q.optimum,
}
STEP |= {F: q.objective, F_i: q.client_objective, L: q.smoothness}
STEP |= {eta: q.local_step_size, M: q.clients, sigma: q.noise_deviation}
CONVEX = (a.convex_and_smooth,)
CURVED = (a.convex_and_smooth, a.strongly_convex_clients)
ROUND = (a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation, a.unbiased_bounded_variance)
NEAR = sp.Rational(99, 100)


def _descent(lhs: Any, rhs: Any, assumptions: Sequence[Any], conditions: Sequence[Any]) -> Claim:
    stated: dict[str, Any] = {"place": "path", "where": DESCENT, "assumptions": assumptions, "conditions": conditions}
    return resolve(Claim(id="mine:descent", lhs=lhs, rhs=rhs, **stated))


def _lower_bound(f: Any) -> Claim:
    left = inner(Gradient(F, y), x - y) - f * L / 2 * norm_sq(x - y)
    right = Value(F, x) - Value(F, y)
    return resolve(Claim(id="mine:points", place="points", lhs=left, rhs=right, where=POINTS, assumptions=(a.smooth,)))


def _distances(f: Any) -> Claim:
    return _descent(norm_sq(w - best), norm_sq(v - best), CONVEX, [eta <= 2 / (f * L)])


def _values(f: Any) -> Claim:
    gap = Value(F, w) - Value(F, best)
    return _descent(norm_sq(w - best) + 2 * eta / f * gap, norm_sq(v - best), CONVEX, [eta <= 1 / L])


def _contraction(f: Any) -> Claim:
    factor = 1 - 2 * eta * mu * L / (mu + L) / f
    return _descent(norm_sq(w - best), factor * norm_sq(v - best), CURVED, [eta <= 2 / (mu + L)])


def _progress(f: Any) -> Claim:
    now, gap = Expectation(norm_sq(mean - best)), Expectation(Value(F, mean) - Value(F, best))
    drift, noise = Expectation(Average(norm_sq(local - mean))), eta**2 * sigma**2 / M
    right = now + noise - 2 / f * eta * gap + 3 * L * eta * drift
    stated: dict[str, Any] = {
        "place": "step",
        "where": STEP,
        "assumptions": (*ROUND, *CONVEX),
        "conditions": [eta <= 1 / (12 * L)],
    }
    return resolve(Claim(id="mine:step", lhs=Expectation(norm_sq(following - best)), rhs=right, **stated))


FAMILIES = {
    "lower bound": _lower_bound,
    "distances": _distances,
    "values": _values,
    "contraction": _contraction,
    "progress": _progress,
}


@pytest.mark.parametrize("name", FAMILIES)
def test_near_misses_fail_at_a_start(name: str) -> None:
    """Constants that are one percent too small are refuted, in rationals, by one of the first few runs."""
    found = search_worst_starts(FAMILIES[name](NEAR), 10.0)
    assert found.violation is not None
    assert found.violation.found.arithmetic.is_rigorous
    assert found.looked <= 12


@pytest.mark.parametrize("name", ["lower bound", "distances", "values", "contraction"])
def test_true_statements_have_no_start(name: str) -> None:
    """Named inequalities show the statement at every sample, so that there is no worst function."""
    assert find_worst_functions(FAMILIES[name](sp.S.One)) == []
    assert list(list_worst_starts(FAMILIES[name](sp.S.One))) == []


def test_bounds_on_runs_have_no_start() -> None:
    """The search is for points and steps only."""
    assert find_worst_functions(find("renard2022:thm-2.1")) == []


def test_sides_that_are_equal_by_definition_have_no_start() -> None:
    """A statement whose sides have one normal form is violated nowhere, so that rounding proposes nothing."""
    where = {local: q.local_iterate, mean: q.average_iterate}
    sides = {"lhs": Expectation(norm_sq(local - mean)), "rhs": Expectation(norm_sq(mean - local))}
    claim = resolve(Claim(id="mine:same", place="step", where=where, assumptions=[a.convex_and_smooth], **sides))
    assert find_worst_functions(claim) == []


@pytest.mark.long
@pytest.mark.parametrize("source", sorted(all_sources()))
def test_true_published_statements_are_not_violated(source: str) -> None:
    """No start violates a published statement about points, paths or steps that is not refuted, or stays open."""
    for claim in claims_of(source):
        if claim.place in ("points", "path", "step") and claim.is_testable and claim.verdict in ("proved", "supported"):
            found = search_worst_starts(claim, 10.0)
            assert (found.violation, found.left_open) == (None, 0), claim.id


def test_worst_functions_satisfy_convexity() -> None:
    """Gradients at the two ends of a step increase with the point, at most by the largest curvature."""
    (first, *_) = find_worst_functions(_values(NEAR))
    curvature = first.numbers[q.smoothness]
    places = sorted((each.points[0], each.gradients[0]) for each in first.gradients)
    rises = [(other - one, second - first) for (one, first), (other, second) in pairwise(places)]
    assert all(-1e-6 <= rise <= curvature * length + 1e-6 for length, rise in rises)


@pytest.mark.parametrize("rounding", [0.0, 1e-12, -1e-12])
def test_signs_do_not_depend_on_rounding(rounding: float) -> None:
    """The first one of two opposite entries of an eigenvector is positive, whichever is larger by rounding."""
    one, other = sp.symbols("a b")
    squares = {(SHARED, one, one): 1.0, (SHARED, one, other): -1.0, (SHARED, other, other): 1.0 + rounding}
    found = _find_coordinates(squares, SHARED)
    assert found[one] == pytest.approx(1)
    assert found[other] == pytest.approx(-1)


def test_local_iterates_are_reached_from_a_common_start() -> None:
    """Two clients reach their points of the worst function, half a unit from their average, after some local steps."""
    own = SampledGradient(q.local_iterate, False, (0.5, -0.5), (-0.75, 0.75), None)
    losses, quadratics = _list_from_common_start([own], 0.125)
    assert losses["problem"]["start"] == [0]
    where = {local: q.local_iterate, mean: q.average_iterate}
    drift = Expectation(Average(norm_sq(local - mean)))
    claim = resolve(Claim(id="mine:drift", place="step", lhs=drift, rhs=sp.Rational(1, 4), where=where))
    for table in (losses, quadratics):
        assert table["algorithm"]["local_steps"] > 1
        found = evaluate_run(claim, table)
        assert found is not None
        assert found.ratio == pytest.approx(1, rel=1e-2)


def test_a_worst_function_without_curvature_has_runs() -> None:
    """If the samples give the smoothness zero, points and gradients keep their units."""
    L, x = sp.Symbol("L", positive=True), sp.Symbol("x")
    claim = Claim(id="mine:flat", place="points", lhs=0, rhs=L * norm_sq(x), where={x: q.point, L: q.smoothness})
    gradients = [
        SampledGradient(q.point, False, (at, at), (slope, slope), 0.0) for at, slope in ((0.0, 1.0), (1.0, 1.5))
    ]
    plain, flat = (
        list(_build_runs(claim, WorstFunction(numbers, gradients, 0.0, 1.0)))
        for numbers in ({q.smoothness: 1.0}, {q.smoothness: 0.0})
    )
    assert plain
    assert plain == flat
