"""Bounds of plans against values by hand: guarantees, products, conditions, axes, ranks."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from planned_runs import LIU, THEOREM

from fedtheory.errors import InputError
from fedtheory.language import quantities as q
from fedtheory.planner import planning, recommendation
from fedtheory.planner.admissible import Edge, _find_roots, _solve, find_interval_end
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.bound import ROUNDS, STEP, STEPS, NumericBound, compile_function, complete_products, list_terms
from fedtheory.planner.planning import _find_smallest_bound, sort_terms
from fedtheory.planner.recommendation import Answer, Plan, Promise, _find_widest, _make_rank, _rank_error
from fedtheory.planner.regimes import _space_axis, resolve_name

ETA, T, A = sp.symbols("eta T A", positive=True)


def _bound(expression: sp.Expr, *conditions: Any, **values: float) -> NumericBound:
    names = {ETA: STEP, T: ROUNDS, A: "a"}
    return NumericBound(
        THEOREM, tuple(sp.Add.make_args(sp.sympify(expression))), conditions, names, {STEP: 1.0, **values}
    )


def test_bounds_promise_nothing_where_they_are_negative_or_undefined() -> None:
    """A bound of zero counts; a negative or undefined one does not."""
    for expression, values, expected in (
        (ETA - 1, {}, 0.0),
        (ETA - 2, {}, math.inf),
        (1 / (ETA - 1), {}, math.inf),
        (sp.sqrt(ETA - 2), {}, math.inf),
        (3 * ETA, {}, 3.0),
        (sp.log(A), {"a": 0.0}, math.inf),
    ):
        bound = _bound(expression, **values)
        assert bound.value() == expected
        assert bound.along(STEP)(1.0) == expected
    assert _bound(ETA).along(STEP, ETA - 2)(1.0) == -1
    assert math.isnan(compile_function((ETA,), sp.sqrt(ETA - 2))([1.0]))


def test_products_follow_from_their_factors() -> None:
    """Products follow from factors, and a factor from a product; given values are kept."""
    assert complete_products({"rounds": 3.0, "local_steps": 4.0})["iterations"] == 12
    assert complete_products({"iterations": 12.0, "local_steps": 4.0, "rounds": 9.0}, frozenset({"iterations"})) == {
        "iterations": 12.0,
        "local_steps": 4.0,
        "rounds": 3.0,
    }
    both = complete_products(
        {"iterations": 12.0, "local_steps": 4.0, "rounds": 9.0}, frozenset({"iterations", "rounds"})
    )
    assert (both["iterations"], both["rounds"]) == (12, 9)
    assert complete_products({"iterations": 12.0, "local_steps": 4.0}).get("rounds") in (None, 3.0)


def test_terms_of_products_of_sums() -> None:
    """A factor that is a sum is expanded if none of its terms is subtracted."""
    assert set(list_terms(A * (ETA + T))) == {A * ETA, A * T}
    assert list_terms(A * (ETA - T)) == (A * (ETA - T),)
    assert set(list_terms(ETA + T)) == {ETA, T}
    assert list_terms(A * ETA) == (A * ETA,)
    assert list_terms(ETA) == (ETA,)


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        (ETA <= A, 3.0),
        (A >= ETA, 3.0),
        (2 * ETA + 1 <= A, 1.0),
        (ETA**2 <= A, math.sqrt(3)),
        (ETA**2 + ETA <= A + 3, 2.0),
        (ETA**3 <= A, 3 ** (1 / 3)),
    ],
)
def test_edges_of_conditions(condition: Any, value: float) -> None:
    """Edges are closed forms for polynomials of degree one and two, else found by a search."""
    bound = _bound(ETA, condition, a=3.0)
    formula = _solve(bound, condition, STEP)
    assert (formula is None) is (condition == (ETA**3 <= A))
    assert planning.largest(bound, STEP).value == pytest.approx(value)
    assert (_find_roots(condition, ETA) == []) is (formula is None)


def test_edges_that_hold_beyond_are_none() -> None:
    """A condition that holds above its root has no edge there; a negative root is ignored."""
    assert _solve(_bound(ETA, a=3.0), ETA >= A, STEP) is None
    assert _solve(_bound(ETA, a=-3.0), ETA <= A, STEP) is None
    assert find_interval_end(lambda x: x <= 5, 1.0) == pytest.approx(5.0, rel=1e-13)
    assert find_interval_end(lambda x: x < 1, 1.0) == 0.0
    assert find_interval_end(lambda x: x >= 1, 1.0) == math.inf
    assert find_interval_end(lambda x: x < 2, 1.0) == pytest.approx(2.0, rel=1e-13)


def test_axes_of_maps() -> None:
    """Axes have equal ratios, integer counts from one on, and values around one for zero."""
    assert _space_axis(_bound(ETA), STEP, 2.0, 3) == pytest.approx([0.1, 1.0, 10.0])
    assert list(_space_axis(_bound(ETA, **{ROUNDS: 4.0}), ROUNDS, 2.0, 3)) == [1, 6, 40]
    assert list(_space_axis(_bound(ETA, **{ROUNDS: 1000.0}), ROUNDS, 2.0, 3)) == [100, 1000, 10000]
    assert _space_axis(_bound(ETA, a=0.0), "a", 2.0, 3) == pytest.approx([0.1, 1.0, 10.0])


def test_names_of_a_map() -> None:
    bound = _bound(ETA, **{STEPS: 2.0})
    assert (
        resolve_name(bound, "eta"),
        resolve_name(bound, STEP),
        resolve_name(bound, "A"),
        resolve_name(bound, STEPS),
    ) == (STEP, STEP, "a", STEPS)
    for unknown in ("x", "server_step_size"):
        with pytest.raises(InputError, match="expected two of"):
            resolve_name(bound, unknown)


def _promise(error: q.RunQuantity, value: float, verdict: str = "proved", start: float | None = 9.0) -> Any:
    plan = SimpleNamespace(claim=SimpleNamespace(verdict=verdict), error=error)
    return Promise(plan, 1.0, SimpleNamespace(value=lambda: value), start)  # type: ignore[arg-type]


def test_promises_in_order() -> None:
    """Proved bounds come first, then those below half of the start, on a closer error, and smaller ones."""
    wanted = q.final_suboptimality
    ordered = [
        _promise(wanted, 1.0),
        _promise(wanted, 2.0),
        _promise(wanted, 8.5, start=None),
        _promise(q.final_distance_sq, 0.5),
        _promise(q.average_suboptimality, 4.5),
        _promise(wanted, 4.6),
        _promise(q.average_suboptimality, 4.6),
        _promise(wanted, 9.0),
        _promise(wanted, 0.125, "supported"),
    ]
    mixed = [ordered[place] for place in (8, 3, 5, 7, 0, 4, 2, 6, 1)]
    assert sorted(mixed, key=lambda one: _make_rank(one, wanted)) == ordered
    assert [one.is_vacuous for one in ordered] == [False] * 7 + [True, False]
    assert not _promise(wanted, 99.0, start=None).is_vacuous
    assert [_rank_error(one, wanted) for one in (wanted, q.final_distance_sq, q.average_suboptimality)] == [0, 1, 2]
    assert _rank_error(q.final_suboptimality, q.average_suboptimality) == 2


def test_the_largest_term_of_a_promise() -> None:
    """The largest term is given with its fraction of the bound, which is one if the bound is zero."""
    (term, share) = Promise(None, 1.0, _bound(3 * ETA + 1 / ETA), None).largest_term  # type: ignore[arg-type]
    assert (term, share) == (3 * ETA, 0.75)
    assert Promise(None, 1.0, _bound(ETA - 1), None).largest_term[1] == 1.0  # type: ignore[arg-type]
    assert sort_terms(_bound(1 / ETA + 3 * ETA + 2)) == [(3 * ETA, 3), (2, 2), (1 / ETA, 1)]


def test_the_bound_with_the_largest_coverage() -> None:
    plans = [ClaimPlan(LIU, q.final_distance_sq, True, None, step=step) for step in (None, Edge(0.1), Edge(0.3))]
    assert _find_widest(plans) is plans[2]
    assert _find_widest([plans[2], plans[1]]) is plans[2]


def test_answers_that_a_bound_covers() -> None:
    """An answer is covered if a bound has a value at its step size; without a cause nothing is impossible."""
    best = SimpleNamespace(step_size=0.5)
    for promise, covered in (
        (None, False),
        (SimpleNamespace(step_size=0.5), True),
        (SimpleNamespace(step_size=0.4), False),
    ):
        found: Any = SimpleNamespace(promise=promise, best=best)
        assert Answer.is_covered.fget(found) is covered  # type: ignore[attr-defined]
    for cause, hopeless in (
        (None, False),
        (SimpleNamespace(is_hopeless=True), True),
        (SimpleNamespace(is_hopeless=False), False),
    ):
        found = SimpleNamespace(cause=cause)
        assert Answer.is_hopeless.fget(found) is hopeless  # type: ignore[attr-defined]


def test_the_step_size_of_a_plan() -> None:
    """The step size comes from exact errors, else from the recommended bound, with which the card begins."""
    plans = tuple(
        SimpleNamespace(applicable=applies, row=lambda n=n: [n], advice=dict, optimum=SimpleNamespace(step_size=0.5))
        for n, applies in enumerate((True, False, True))
    )
    given: Any = plans
    found = Plan(given, given[2], (), None)
    assert (found.step_size, found.summary()) == (0.5, "use step size 0.5; 2 of 3 bounds cover the run")
    assert list(found.card().rows) == [[2], [0]]
    without = replace(found, recommended=None)
    assert (without.step_size, without.summary()) == (None, "no recommendation; 2 of 3 bounds cover the run")
    exact: Any = SimpleNamespace(best=SimpleNamespace(step_size=0.25), facts=dict)
    assert replace(found, answer=exact).step_size == 0.25


def test_why_a_planned_run_diverges(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planned run diverges if its error is infinite, or its step size is at or above the edge."""
    monkeypatch.setattr(recommendation, "explain_divergence", lambda _, edge: edge)
    for planned, error, edge, diverges in (
        (0.5, 1.0, 1.0, False),
        (1.0, 1.0, 1.0, True),
        (2.0, 1.0, 1.0, True),
        (0.5, math.inf, 1.0, True),
    ):
        errors: Any = SimpleNamespace(planned=planned, run=None)
        reached: Any = SimpleNamespace(planned=SimpleNamespace(error=error), diverges_from=edge)
        assert recommendation._explain_divergence(errors, reached) == (edge if diverges else None)


def test_smallest_bounds_on_the_first_error() -> None:
    """Bounds are sorted by errors, values and places; those without a best step size are skipped."""

    def plan(error: q.RunQuantity, value: float | None) -> Any:
        return SimpleNamespace(error=error, optimum=None if value is None else SimpleNamespace(value=value))

    plans = [plan(q.max_drift, 0.1), plan(q.final_suboptimality, 3.0), plan(q.final_suboptimality, 2.0)]
    assert _find_smallest_bound(plans) is plans[2]
    assert _find_smallest_bound(plans[:1]) is plans[0]
    assert _find_smallest_bound([plan(q.max_drift, None)]) is None
    assert _find_smallest_bound([]) is None
