"""Searches for the step size of a plan against lists by hand: tried values, choices, and ends."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from types import MethodType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from planned_runs import THEOREM

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.planner import alternatives, measurements, recommendation, rounds_needed
from fedtheory.planner.admissible import Edge
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.bound import STEP, STEPS, NumericBound
from fedtheory.planner.divergence import explain_divergence
from fedtheory.planner.error_curves import ErrorCurve
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.optimum import find_minimiser
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.rounds_needed import RoundsNeeded

ETA, TAU, A = sp.symbols("eta tau A", positive=True)


def _outcome(size: float, rounds: int, error: float, *, reached: bool = False, **more: Any) -> ErrorAtStepSize:
    return ErrorAtStepSize(size, rounds, error, reached, False, **more)


def _rank(one: ErrorAtStepSize) -> tuple[bool, int, float]:
    return not one.reached, one.rounds if one.reached else 0, one.error


def _errors(rounds: int = 10, planned: float = 0.5, least: float = 1.0) -> Any:
    algorithm = SimpleNamespace(rounds=rounds)
    return SimpleNamespace(
        planned=planned, grid=[least, 9.0], run=SimpleNamespace(algorithm=algorithm), run_with=lambda size: size
    )


@pytest.mark.parametrize(("quick", "ratio", "patient"), [(True, 1.4, 4), (False, 2.0, 2)])
def test_step_sizes_are_tried_until_some_are_worse(quick: bool, ratio: float, patient: int) -> None:
    """Step sizes decrease from the largest, including the planned one, with at most the best number of rounds."""
    asked: list[tuple[float, int]] = []

    def outcome(size: float, rounds: int) -> ErrorAtStepSize:
        asked.append((size, rounds))
        return replace(_outcome(size, rounds, abs(size - 2.0), reached=size < 3), still_falls=True)

    search: Any = SimpleNamespace(
        _is_quick=quick,
        largest=4.0,
        _likely_edge=4.0,
        errors=_errors(planned=1.9),
        outcome=outcome,
        _make_rank=lambda one: one.error,
        _is_cheap=False,
        _limit_rounds=lambda best, rounds: rounds - 1 if best.reached else rounds,
    )
    found = RoundsNeeded._try_step_sizes(search, 10)
    sizes = sorted([*(4.0 / ratio**n for n in range(20)), 1.9], reverse=True)
    best = min(sizes, key=lambda size: abs(size - 2.0))
    expected = sizes[: sizes.index(best) + patient + 1]
    assert [one.step_size for one in found] == [size for size, _ in asked]
    assert [size for size, _ in asked] == pytest.approx(expected, rel=1e-12)
    assert [rounds for _, rounds in asked] == [
        10 if all(s >= 3 for s in expected[:n]) else 9 for n in range(len(asked))
    ]
    search.errors = _errors(planned=5.0)
    asked.clear()
    assert 5.0 not in [one.step_size for one in RoundsNeeded._try_step_sizes(search, 10)]
    search.outcome = lambda size, rounds: _outcome(size, rounds, math.inf)
    assert len(RoundsNeeded._try_step_sizes(search, 10)) == 20
    search.errors = _errors(planned=5.0, least=1e-9)
    sizes = [one.step_size for one in RoundsNeeded._try_step_sizes(search, 10)]
    assert sizes[-1] <= 1e-9 < sizes[-2]
    assert [before / after for before, after in pairwise(sizes)] == pytest.approx([ratio] * (len(sizes) - 1))


def test_runs_with_clocks_are_simulated_longer() -> None:
    """Runs with clocks that reach the target are simulated longer, until one stays below it."""
    outcomes = [_outcome(1.0, 9, 0.1, reached=True), _outcome(2.0, 3, 0.1, reached=True), _outcome(3.0, 1, 0.5)]
    for stays, alike, looked_at in (
        ({2.0}, False, [2.0]),
        ({1.0}, False, [2.0, 1.0]),
        (set(), False, [2.0, 1.0]),
        (set(), True, []),
    ):
        asked: list[float] = []

        def later(one: ErrorAtStepSize, stays: Any = stays, asked: Any = asked) -> ErrorAtStepSize:
            asked.append(one.step_size)
            return _outcome(one.step_size, one.rounds, one.error, reached=one.step_size in stays)

        search: Any = SimpleNamespace(_make_rank=_rank, _has_equal_rounds=alike, _confirm_later=later)
        found = RoundsNeeded._sort_lasting(search, outcomes)
        assert asked == looked_at
        assert [one.step_size for one in found] == [2.0, 1.0, 3.0]


@pytest.mark.parametrize(
    ("reached_below", "accuracy", "least"), [(1.0, 0.1, 1e-3), (None, 0.1, 1e-7), (9e-6, 0.1, 1e-6), (None, None, 1e-3)]
)
def test_a_dense_search_goes_on_to_small_step_sizes(
    reached_below: float | None, accuracy: float | None, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps decrease by factors of ten until one reaches the target, followed by two refinements."""
    monkeypatch.setattr(rounds_needed, "_LEAST", 3e-7)
    asked: list[list[float]] = []

    def outcomes(_closed: Any, sizes: list[float]) -> list[ErrorAtStepSize]:
        asked.append([*sizes])
        reached = [reached_below is not None and size <= reached_below for size in sizes]
        return [_outcome(s, 5, abs(math.log(s / 3e-3)), reached=r) for s, r in zip(sizes, reached, strict=True)]

    search: Any = SimpleNamespace(largest=1.0, accuracy=accuracy, _compute_errors=outcomes, _make_rank=_rank)
    found = RoundsNeeded._search_densely(search, None)  # type: ignore[arg-type]
    assert min(asked[-3]) == pytest.approx(least)
    assert [len(sizes) for sizes in asked] == [240, *[79] * (len(asked) - 3), 33, 33]
    best = 3e-3 if reached_below is None or reached_below > 3e-3 else reached_below
    assert found.step_size == pytest.approx(best, rel=2e-3)
    assert max(asked[-1]) / min(asked[-1]) < max(asked[-2]) / min(asked[-2]) < 1.2


def test_outcomes_of_curves() -> None:
    """An outcome is the final error or the first stable round; its decrease is seen at half of the rounds."""
    curve = np.array([9.0, 1.04, 2.0, 1.0])

    def outcome(needed: int | None, *, alike: bool = True, given: Any = curve) -> ErrorAtStepSize:
        search: Any = SimpleNamespace(
            closed=None,
            curve=lambda *_: ErrorCurve(given, 0 * np.ones(len(given))),
            _find_first_below=lambda _: needed,
            _has_equal_rounds=alike,
        )
        return RoundsNeeded.outcome(search, 0.5, len(given))

    last = outcome(None)
    assert (last.rounds, last.error, last.reached, last.still_falls, last.highest) == (4, 1.0, False, False, None)
    early = outcome(3)
    assert (early.rounds, early.error, early.reached, early.still_falls) == (3, 2.0, True, True)
    first = outcome(1)
    assert (first.rounds, first.error, first.still_falls) == (1, 9.0, True)
    assert outcome(2).still_falls
    clocks = outcome(None, alike=False)
    assert (clocks.highest, clocks.followed) == (1.0, 4)
    assert outcome(None, alike=False, given=np.array([9.0, 8.0, 7.0, 1.0] * 2)).highest == 7.0
    assert not outcome(None, given=np.array([1.0, 1.0, 1.0, math.inf])).still_falls
    assert outcome(None, given=np.array([1.0, 1.0, 1.0, 0.94])).still_falls
    assert not outcome(None, given=np.array([1.0, 1.0, 1.0, 0.95])).still_falls


def test_outcomes_that_are_looked_at_for_longer() -> None:
    """Rounds are multiplied by four, with clocks also by sixteen and sixty-four, if affordable."""

    def later(alike: bool, most: int, needed: int = 5, start: int = 5) -> tuple[ErrorAtStepSize, list[int]]:
        asked: list[int] = []

        def outcome(size: float, rounds: int) -> ErrorAtStepSize:
            asked.append(rounds)
            return _outcome(size, needed if rounds > 40 else 5, 0.1, reached=True, followed=rounds)

        search: Any = SimpleNamespace(
            _has_equal_rounds=alike, _is_affordable=lambda rounds: rounds <= most, outcome=outcome
        )
        search._confirm = MethodType(RoundsNeeded._confirm, search)
        search._follow_cycles = MethodType(RoundsNeeded._follow_cycles, search)
        return RoundsNeeded._confirm_later(search, _outcome(0.5, start, 0.1, reached=True)), asked

    assert later(True, 999)[1] == [20]
    found, asked = later(True, 999, start=15, needed=70)
    assert (asked, found.reached, found.rounds) == ([60, 280], True, 70)
    found, asked = later(False, 999)
    assert (asked, found.reached, found.followed) == ([20, 80, 320], True, 320)
    found, asked = later(False, 100)
    assert (asked, found.reached, found.followed) == ([20, 80], True, 80)
    found, asked = later(False, 999, needed=70)
    assert (asked, found.reached, found.rounds) == ([20, 80], False, 70)
    assert later(False, 19)[1] == []


def test_the_best_outcome_stays_below_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best outcome stays below its target in the limit; otherwise the first one is kept."""
    limits = {1.0: 0.5, 2.0: 0.05, 3.0: None}
    monkeypatch.setattr(rounds_needed, "compute_limit", lambda size, _: limits[size])
    one, two, three = (_outcome(size, round(size), 0.1, reached=True) for size in (1.0, 2.0, 3.0))
    search: Any = SimpleNamespace(
        errors=_errors(), error=None, accuracy=0.2, _make_rank=_rank, _confirm_later=lambda found: found
    )
    settled = RoundsNeeded._choose_lasting(search, one, [two, three])
    assert (settled.step_size, settled.limit, settled.reached) == (2.0, 0.05, True)
    search._confirm_later = lambda found: _outcome(found.step_size, 9, 0.1, reached=found.step_size == 3.0)
    settled = RoundsNeeded._choose_lasting(search, one, [two, three])
    assert (settled.step_size, settled.limit, settled.rounds) == (3.0, None, 9)
    search._confirm_later = lambda found: _outcome(found.step_size, 9, 0.1)
    settled = RoundsNeeded._choose_lasting(search, one, [two, three])
    assert (settled.step_size, settled.reached) == (1.0, False)
    search.accuracy = None
    settled = RoundsNeeded._choose_lasting(search, one, [two, three])
    assert (settled.step_size, settled.limit, settled.reached) == (1.0, 0.5, True)


def test_runs_that_are_affordable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Affordability depends on operations, and on the listed numbers unless a run is a single path."""
    work = SimpleNamespace(has_sizes_until=lambda rounds: rounds < 500_000)
    run = SimpleNamespace(problem=SimpleNamespace(dimension=9), algorithm=SimpleNamespace(work=work))
    search: Any = SimpleNamespace(errors=SimpleNamespace(run=run))
    for operations, one_path, rounds, affordable in (
        (1e10, False, 200_000, True),
        (1e10, False, 200_001, False),
        (1e10, True, 200_001, True),
        (1e10, True, 500_000, False),
        (1.1e10, True, 10, False),
    ):
        monkeypatch.setattr(rounds_needed, "count_operations", lambda *_, o=operations: o)
        monkeypatch.setattr(rounds_needed, "is_deterministic", lambda _, o=one_path: o)
        assert RoundsNeeded._is_affordable(search, rounds) is affordable


def test_why_no_step_size_is_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is the limit of small steps, the larger part of the limiting error, or unknown."""
    monkeypatch.setattr(rounds_needed, "has_one_map", lambda _: False)

    def reason(bias: float, noise: float, common: int | None = 1, *, closed: bool = True) -> str:
        rounds = SimpleNamespace(bias=bias, noise_floor=noise, limit=bias + noise)
        run = SimpleNamespace(algorithm=SimpleNamespace(work=SimpleNamespace(common_steps=common)))
        search: Any = SimpleNamespace(
            accuracy=0.1,
            errors=SimpleNamespace(run=run, planned=1.0),
            closed=SimpleNamespace(scale_steps=lambda _: rounds) if closed else None,
            largest=1.0,
        )
        return str(RoundsNeeded.reason(search, _outcome(1.0, 5, 0.5)))

    assert "unequal local steps of unlike" in reason(0.5, 0.0, None)
    assert "unequal steps or weights of unlike" in reason(0.5, 0.0)
    assert reason(0.1, 0.2) == "gradient noise keeps the limit at 0.3 down to the step size 1e-07"
    assert reason(0.1, 0.1).startswith("drift of unlike clients keeps the limit at 0.2")
    assert reason(0.1, 0.2, closed=False).startswith("the stationary error is above it")


def test_the_planned_step_size_is_the_largest_of_the_clients() -> None:
    sizes = np.array([0.1, 0.3, 0.2])
    algorithm = SimpleNamespace(work=SimpleNamespace(step_sizes=sizes))
    run: Any = SimpleNamespace(problem=None, algorithm=algorithm)
    assert ExactErrors(run).planned == 0.3
    problem = SimpleNamespace(is_quadratic=True, data=None)
    floats = SimpleNamespace(client_smoothness=np.array([18.0, 1.0, 17.0]), algorithm=algorithm)
    cause = explain_divergence(SimpleNamespace(problem=problem, as_floats=lambda: floats), 0.25)  # type: ignore[arg-type]
    assert cause is not None
    assert (cause.client, cause.curvature, cause.step_size, cause.diverges_from) == ("2", 17.0, 0.3, 0.25)


def _plan(bound: NumericBound | None, **given: Any) -> ClaimPlan:
    return ClaimPlan(THEOREM, q.final_suboptimality, True, given.pop("reason", None), bound=bound, **given)


def test_largest_local_and_server_steps() -> None:
    """Both steps are limited if the bound has them; the server step is one for averaging."""
    names = {ETA: STEP, TAU: STEPS, A: "server_step_size"}
    bound = NumericBound(
        THEOREM, (TAU * A,), (TAU <= 5, A <= 3), names, {STEP: 1.0, STEPS: 2.0, "server_step_size": 1.0}
    )
    both = _plan(bound)
    assert both.local_steps is not None
    assert both.server_step is not None
    assert (both.local_steps.value, both.server_step.value) == (5, 3)
    alone = _plan(NumericBound(THEOREM, (ETA,), (), {ETA: STEP}, {STEP: 1.0}))
    assert alone.local_steps is None
    assert _plan(None).local_steps is _plan(None).server_step is None
    for assumption, value in ((a.unit_server_step, 1.0), (a.server_step_of_one, 1.0), (a.smooth, None)):
        given: Any = SimpleNamespace(
            _covered=alone.bound, claim=SimpleNamespace(assumptions=(a.full_participation, assumption))
        )
        edge = ClaimPlan.server_step.func(given)  # type: ignore[attr-defined]
        assert (None if edge is None else edge.value) == value


def test_bounds_that_cover_a_run_meet_all_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    def bound(*holds: bool) -> Any:
        return SimpleNamespace(slacks=lambda: [SimpleNamespace(holds=one) for one in holds])

    bounds = {"all": bound(True, True), "one": bound(True, False), "none": None, "free": bound()}
    monkeypatch.setattr(recommendation, "find_covering_bound", lambda claim, _: bounds[claim])
    plans: Any = [SimpleNamespace(claim=name) for name in bounds]
    found = recommendation._list_covering(plans, None)  # type: ignore[arg-type]
    assert [plan.claim for plan, _ in found] == ["all", "free"]


@pytest.mark.parametrize(
    ("promise", "elsewhere", "expected"),
    [
        ((True, False), "other", ("there", None)),
        ((True, True), "other", ("there", "other")),
        ((False, False), "other", ("there", "other")),
        ((False, False), None, ("there", None)),
        (None, "other", ("other", None)),
        (None, None, (None, None)),
    ],
)
def test_promises_of_an_answer(
    promise: tuple[bool, bool] | None, elsewhere: str | None, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A meaningful bound on the wanted error suffices; otherwise another one is searched."""
    wanted = q.final_suboptimality
    there: Any = None
    if promise is not None:
        error = wanted if promise[0] else q.average_suboptimality
        there = SimpleNamespace(plan=SimpleNamespace(error=error), is_vacuous=promise[1], name="there")
    other = None if elsewhere is None else SimpleNamespace(name="other")
    for name, value in (
        ("_list_covering", []),
        ("_choose_best", there),
        ("_find_best_promise", other),
        ("_find_other_error", None),
        ("_compute_time", None),
    ):
        monkeypatch.setattr(recommendation, name, lambda *_, value=value: value)
    monkeypatch.setattr(recommendation, "_explain_divergence", lambda *_: None)
    run = SimpleNamespace(algorithm=SimpleNamespace(rounds=9, work=SimpleNamespace(steps=(1,))))
    longer = SimpleNamespace(algorithm=SimpleNamespace(rounds=7, work=SimpleNamespace(steps=(2,))))
    run.with_rounds = lambda rounds: longer if rounds == 7 else None  # type: ignore[attr-defined]
    errors: Any = SimpleNamespace(run_with=lambda _: run, run=run)
    for rounds, steps in ((9, (1,)), (7, (2,))):
        reached: Any = SimpleNamespace(error=wanted, best=SimpleNamespace(step_size=0.5, rounds=rounds))
        found = recommendation.build_answer(errors, reached, None, [])
        names = tuple(None if one is None else one.name for one in (found.promise, found.elsewhere))  # type: ignore[attr-defined]
        assert (names, found.local_steps) == (expected, steps)


def test_sums_of_two_falling_powers_have_no_root() -> None:
    for powers in ({-1: 1.0, -2: 1.0}, {-1: 1.0, -2: 1.0, 1: 1.0}, {-2: 1.0, 1: 1.0}, {-1: 0.0, 1: 1.0}):
        assert find_minimiser(powers) is None


def test_step_sizes_are_halved_until_one_is_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step sizes are halved down to 2^-15, followed by eight bisections."""
    asked: list[float] = []

    def failures(_claim: Any, step: float) -> bool:
        asked.append(step)
        return step > 0.3

    monkeypatch.setattr(measurements, "list_failures", failures)
    errors: Any = SimpleNamespace(planned=1.0, run_with=lambda step: step, run=SimpleNamespace(sample_smoothness=1.0))
    found = measurements.find_covered_edge(THEOREM, Edge(1.0), errors).value
    assert asked[:3] == [1.0, 0.5, 0.25]
    assert len(asked) == 11
    assert 0.3 * 2 ** (-1 / 256) <= found <= 0.3
    asked.clear()
    monkeypatch.setattr(measurements, "list_failures", lambda _, step: asked.append(step) or True)
    assert measurements.find_covered_edge(THEOREM, Edge(1.0), errors).value == 0
    assert asked[1:] == [2.0**-power for power in range(1, 16)]


def test_rows_of_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are those of a batch, else of the average client; zero without data."""

    class Model(SimpleNamespace):
        """A problem with a linear model."""

    monkeypatch.setattr(alternatives, "LinearModelProblem", Model)
    of_data = SimpleNamespace(data=SimpleNamespace(outputs=[[1], [1, 2, 3]]))
    for problem, counts, mean in (
        (Model(model=SimpleNamespace(counts=[2.0, 4.0])), [2, 4], 3.0),
        (of_data, [1, 3], 2.0),
        (SimpleNamespace(data=None), [], 0.0),
    ):
        run: Any = SimpleNamespace(problem=problem)
        assert alternatives._count_rows(run.problem) == counts
        for batch in (None, 5):
            monkeypatch.setattr(alternatives, "_get_batch_size", lambda _, batch=batch: batch)
            assert alternatives._average_gradient_rows(run) == (0.0 if not counts else mean if batch is None else 5.0)
