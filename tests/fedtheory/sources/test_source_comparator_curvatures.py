"""Bounds with each client's own curvature: they hold, improve on the largest one, and no smaller ones are proved."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from curvature_runs import line_run
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_runs import TWO_CLIENTS, loss_run
from loss_runs import problem as losses

from fedtheory import FLOAT, RATIONAL, parse_run, planner
from fedtheory.engine.frames import list_frames_at
from fedtheory.engine.run import Run
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.planner.bound import bound_of_run
from fedtheory.planner.comparators import QuadraticComparators
from verify.check import check

STEP, ALL_STEPS, RUN, ROUND_STEP, ROUND_STEPS, ROUNDS = (
    find(f"comparator:curvatures.{name}")
    for name in ("one-step", "all-steps", "average-error", "rounds.one-step", "rounds.all-steps", "rounds")
)
CLAIMS = (STEP, ALL_STEPS, RUN, ROUND_STEP, ROUND_STEPS, ROUNDS)
WITH_LARGEST = find("comparator:drift.average-error")


PLANE: dict[str, Any] = {
    "kind": "quadratic",
    "hessians": [[["1/10", "0"], ["0", "3"]], [["10", "0"], ["0", "1"]], [["2", "0"], ["0", "0"]]],
    "linear": [["2", "1"], ["-1", "0"], ["1", "0"]],
    "start": ["2", "-1"],
    "noise": "1/2",
    "weights": ["1/2", "1/3", "1/6"],
}


def in_frames(run: Run) -> tuple[Any, Any]:
    """Return the weighted drift and the sum of differences, over the frames of all local steps."""
    weights, drift, imbalance = run.problem.weights * run.client_smoothness, 0, 0
    for frame in list_frames_at("step", run):
        apart = frame.local + frame.average.scale(-frame.arithmetic.identity(1)[0])
        drift += (frame.inner(apart, apart) * weights).sum()
        mixed = apart.average(weights)
        imbalance += frame.inner(mixed, mixed).item()
    steps = run.algorithm.rounds * run.algorithm.work.steps[0]
    return drift / steps, imbalance / steps


@pytest.mark.parametrize("noise", ["0", "1/2"])
def test_the_weighted_drift_is_that_of_each_local_step(noise: str) -> None:
    """The weighted drift agrees for unequal weights and curvatures, with and without noise, and in floats."""
    algorithm = {"local_step_size": "1/20", "local_steps": 3, "rounds": 2}
    run = parse_run({"problem": PLANE | {"noise": noise}, "algorithm": algorithm}, RATIONAL)
    drift, imbalance = in_frames(run)
    assert (q.curvature_drift.on(run), q.curvature_imbalance.on(run)) == (drift, imbalance)
    assert q.curvature_drift.on(run.as_floats()) == pytest.approx(float(Fraction(str(drift))))
    assert q.curvature_imbalance.on(run.as_floats()) == pytest.approx(float(Fraction(str(imbalance))))


def test_the_weighted_drift_of_losses_that_are_not_quadratic() -> None:
    """The weighted drift agrees outcome by outcome, with two samples of each client."""
    run = loss_run(losses(TWO_CLIENTS, ["3"], weights=["1/3", "2/3"], noise=["1/2", "1"]), steps=2, rounds=1)
    assert (q.curvature_drift.on(run), q.curvature_imbalance.on(run)) == in_frames(run)


def test_equal_curvatures_weigh_nothing() -> None:
    """For equal curvatures the drift is L times the average drift, and the differences sum to zero."""
    run = line_run(["3"] * 3, ["1", "-5", "2"], "1/20", noise="1")
    assert q.curvature_drift.on(run) == 3 * q.average_round_drift.on(run) > 0
    assert q.curvature_imbalance.on(run) == 0


def test_noise_and_dissimilarity_with_curvatures_by_hand() -> None:
    """Noise and dissimilarity are those of two clients in one dimension at the comparator."""
    run = line_run(["1", "5"], ["1", "-1"], "1/20", noise="2", weights=["1/4", "3/4"])
    at = run.comparator.point[0] + run.problem.optimum[0]
    slopes = at - 1, 5 * at + 1
    mean = (slopes[0] + 3 * slopes[1]) / 4
    squares = (slopes[0] - mean) ** 2, (slopes[1] - mean) ** 2
    assert q.comparator_curved_dissimilarity.on(run) == (squares[0] + 15 * squares[1]) / 4
    assert q.comparator_curved_noise.on(run) == 2 * (fmpq(1, 4) + 5 * fmpq(3, 4))


CURVATURES = st.sampled_from(["0", "1/100", "1/3", "1", "7", "50"])
PULLS = st.integers(-20, 20).map(str)
CLIENTS = st.lists(st.tuples(CURVATURES, PULLS, st.integers(1, 5)), min_size=1, max_size=4).filter(
    lambda clients: any(curvature != "0" for curvature, *_ in clients)
)


def run_of(clients: list[tuple[str, str, int]], part: int, equal: bool, **changes: Any) -> Run:
    """Return a run with a fraction of the step size that the average curvature allows."""
    curvatures, pulls, shares = zip(*clients, strict=True)
    weights = [Fraction(1 if equal else share) for share in shares]
    weights = [weight / sum(weights) for weight in weights]
    mean = sum(weight * Fraction(curvature) for weight, curvature in zip(weights, curvatures, strict=True))
    step = str(Fraction(part, 20) / mean)
    return line_run([*curvatures], [*pulls], step, weights=[*map(str, weights)], **changes)


@settings(max_examples=40, deadline=None)
@given(CLIENTS, st.integers(1, 19), st.integers(1, 9), st.integers(1, 3), st.sampled_from(["0", "1"]))
def test_they_hold_for_very_unequal_curvatures(clients: Any, part: int, steps: int, rounds: int, noise: str) -> None:
    """All six bounds hold where they apply, up to the largest allowed step."""
    run = run_of(clients, part, equal=False, local_steps=steps, rounds=rounds, noise=noise)
    assert [claim.id for claim in CLAIMS if check(claim, run).holds is False] == []
    assert check(RUN, run).holds


@settings(max_examples=40, deadline=None)
@given(CLIENTS, st.integers(1, 19), st.integers(1, 9), st.sampled_from(["0", "1"]))
def test_they_promise_no_less_than_with_the_largest(clients: Any, part: int, steps: int, noise: str) -> None:
    """The bound with own curvatures is at most that with the largest one, where both apply."""
    run = run_of(clients, part, equal=True, local_steps=steps, noise=noise)
    with_largest, with_own = check(WITH_LARGEST, run).worst, check(RUN, run).worst
    if with_largest is not None:
        assert with_own is not None
        assert with_own.rhs <= with_largest.rhs


def test_by_how_much_they_are_smaller() -> None:
    """One steep client at rest among seven flat drifting ones improves the bound by a factor of 31, or 2.1."""
    pulls = ["40", "-40", "40", "-40", "40", "-40", "9", "1"]
    long = line_run(["1"] * 7 + ["100"], pulls, "1/100", start="1", local_steps=6, rounds=50)
    short = line_run(["1"] * 7 + ["100"], pulls, "1/1000", start="1", local_steps=6, rounds=50)
    pairs = ((WITH_LARGEST, RUN, long, 31), (find("comparator:average-error"), ROUNDS, short, 2))
    for largest, with_own, run, factor in pairs:
        before, now = check(largest, run).worst, check(with_own, run).worst
        assert before is not None
        assert now is not None
        assert before.rhs > factor * now.rhs
        assert now.rhs < fmpq(5, 2) * now.lhs


def test_steps_longer_than_the_steepest_client_allows() -> None:
    """The average curvature counts: eta may exceed 1/L, and even 2/L."""
    run = line_run(["1", "1", "1", "20"], ["1", "2", "-1", "0"], "1/8", start="1", local_steps=2)
    assert q.smoothness.on(run) * fmpq(1, 8) > 2
    assert not check(WITH_LARGEST, run).applicable
    found = check(RUN, run)
    assert found.applicable
    assert found.holds


ENDS: dict[str, dict[str, Any]] = {
    "one local step": {"local_steps": 1},
    "one client": {"curvatures": ["3"], "pulls": ["2"]},
    "equal curvatures": {"curvatures": ["3", "3"]},
    "flat clients beside a steep one": {"curvatures": ["0", "4"]},
}


@pytest.mark.parametrize("changes", ENDS.values(), ids=ENDS)
def test_the_ends_of_the_range(changes: dict[str, Any]) -> None:
    """Without drift its cost is zero; with equal curvatures the bound is the simpler one."""
    given_ = {"curvatures": ["1", "3"], "pulls": ["2", "-1"], "step": "1/50", "noise": "1/2", "local_steps": 2}
    run = line_run(**given_ | changes)
    for claim in CLAIMS:
        assert check(claim, run).holds, claim.id
    found, before = (check(claim, run).worst for claim in (RUN, WITH_LARGEST))
    assert found is not None
    assert before is not None
    if "local_steps" in changes or run.problem.clients == 1:
        assert q.curvature_drift.on(run) == q.curvature_imbalance.on(run) == 0
    if len(set(run.client_smoothness)) == 1:
        assert found.rhs == before.rhs


@pytest.mark.long
def test_the_plan_follows_the_comparator() -> None:
    """Numbers with curvatures, bound and conditions are those of the run at each step size."""
    problem = {"kind": "least-squares", "data": "diabetes", "clients": 5, "split": "iid", "batch": 8}

    def run_at(step: float) -> Run:
        algorithm = {"local_step_size": step, "local_steps": 3, "rounds": 50}
        return parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)

    there = run_at(0.004)
    found = QuadraticComparators(run_at(0.001)).numbers(0.004 * 3 * 50)
    for root in (q.comparator_curved_noise, q.comparator_curved_dissimilarity):
        assert found[root.name] ** 2 == pytest.approx(root.on(there))
    bound, worst = bound_of_run(ROUNDS, run_at(0.001)), check(ROUNDS, there).worst
    assert worst is not None
    assert bound.value({"local_step_size": 0.004}) == pytest.approx(worst.rhs)
    assert len(bound.conditions) == len(ROUNDS.conditions)
    assert not all(slack.holds for slack in bound.slacks({"local_step_size": 0.2}))
    plan = planner.plan(run_at(0.001), claims=[ROUNDS, RUN])
    assert plan.recommended is not None
    assert plan.recommended.claim in (ROUNDS, RUN)
