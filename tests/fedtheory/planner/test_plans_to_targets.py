"""Targets that are reached permanently, the edge of divergence, and closed forms of errors."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedtheory import FLOAT, InputError, Run, planner
from fedtheory.arithmetic import Array, plain_floats
from fedtheory.planner.closed_rounds import ClosedRounds, has_closed_rounds
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.outcomes import PlannedAndBest
from fedtheory.planner.rounds_needed import find_planned_and_best
from fedtheory.planner.sentences import describe_answer
from fedtheory.runfile import parse_run

PAIR: dict[str, Any] = {
    "kind": "quadratic",
    "hessians": [[["1"]], [["1/5"]], [["2"]]],
    "linear": [["1"], ["-1/2"], ["3"]],
    "start": ["3"],
    "noise": "1/10",
}
PLAIN: dict[str, Any] = {"local_step_size": "1/10", "local_steps": 5, "rounds": 50}


def run_of(**changes: Any) -> Run:
    """Return three different clients in one dimension."""
    return parse_run({"problem": PAIR, "algorithm": PLAIN | changes}, FLOAT, Path())


def reached(run: Run, accuracy: float | None, error: str = "final", margin: float = 0.1) -> PlannedAndBest:
    """Return the error that a run reaches."""
    found = find_planned_and_best(ExactErrors(run), error, accuracy, margin)
    assert found is not None
    return found


def curve(run: Run, step_size: float, rounds: int) -> Array:
    """Return the exact error after each round, from the recursion of moments."""
    errors = ExactErrors(run)
    return plain_floats(errors.run_with(step_size).with_rounds(rounds).trajectory.server_suboptimality)


@pytest.mark.parametrize(
    "changes",
    [{}, {"local_steps": [1, 20, 5]}, {"server_step_size": 2}, {"local_steps": 4, "local_step_size": "1/3"}],
)
def test_closed_forms_are_those_of_the_recursion(changes: dict[str, Any]) -> None:
    """Closed forms agree after any number of rounds, with noise, unequal work and a server step."""
    run = run_of(**changes)
    assert has_closed_rounds(run)
    closed = ClosedRounds(run)
    for factor in (0.01, 0.5, 1.0, 2.0):
        rounds = closed.scale_steps(factor)
        exact = curve(run, factor * ExactErrors(run).planned, 40)
        assert rounds.errors(np.arange(41)) == pytest.approx(exact, rel=1e-9)
        assert rounds.limit == pytest.approx(rounds.error(10**6), rel=1e-9)
        for accuracy in (2 * rounds.limit, 1.001 * rounds.limit, 5.0):
            needed = rounds.first_below(accuracy)
            assert needed is not None
            assert (rounds.errors(np.arange(needed, needed + 500)) <= accuracy).all()
            assert needed == 1 or rounds.error(needed - 1) > accuracy


def test_step_sizes_far_beyond_the_edge_diverge_without_a_warning() -> None:
    """For large step sizes the eigenvalues are finite, but their products are not."""
    run = run_of(local_steps=300, local_step_size=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rounds = [ClosedRounds(run).scale_steps(factor) for factor in (4.0, 9.0, 12.0)]
    assert any(1e160 < abs(one.eigenvalues).max() < np.inf for one in rounds)
    assert all(one.error(100) == np.inf for one in rounds)


def test_random_weights_and_batches_have_no_closed_form() -> None:
    """With random weights or batches, second moments do not follow from means."""
    assert not has_closed_rounds(run_of(participation={"kind": "uniform", "clients": 1}))
    assert not has_closed_rounds(run_of(name="scaffold"))


def test_an_error_that_crosses_the_target_is_not_there() -> None:
    """At step size 1/2 the error is 0.0086 after one round, and tends to 0.135, so the target is not reached."""
    found = reached(run_of(), 0.01)
    assert curve(run_of(), 0.5, 1)[1] < 0.01
    assert found.best.reached
    assert found.best.limit is not None
    assert found.best.limit <= 0.01
    assert found.best.step_size < 0.2
    assert (curve(run_of(), found.best.step_size, 300)[found.best.rounds :] <= 0.01).all()
    assert found.best.rounds <= 5


def test_unequal_local_steps_stay_away_from_the_optimum() -> None:
    """With unequal local steps no step size stays below the target, and the reason is given."""
    run = run_of(local_steps=[1, 20, 5], rounds=400)
    found = reached(run, 0.01)
    assert not found.best.reached
    assert found.reason is not None
    assert "unequal local steps" in found.reason
    plan = planner.plan(run, 0.01, claims=[])
    line = dict(describe_answer(plan))["use:"]
    assert "no step size tried stays below 0.01: small steps tend to a model with error 0.256688" in line


@pytest.mark.parametrize("changes", [{}, {"participation": {"kind": "uniform", "clients": 2}}, {"name": "scaffold"}])
def test_no_step_size_of_a_fine_grid_needs_much_fewer_rounds(changes: dict[str, Any]) -> None:
    """No step size of a fine grid needs much fewer rounds, among those within the margin that reach the target."""
    run = run_of(**changes)
    found = reached(run, 0.05)
    assert found.best.reached
    fewest = math.inf
    for size in np.geomspace(1e-3, 0.9 * found.diverges_from, 60 if changes else 400):
        above = np.flatnonzero(~(curve(run, float(size), 100) <= 0.05))
        fewest = min(fewest, above[-1] + 1 if above[-1] < 100 else math.inf)
    assert found.best.rounds <= 1.2 * fewest


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"local_steps": [1, 2, 7]},
        {"server_step_size": 3},
        {"participation": {"kind": "uniform", "clients": 1}},
        {"name": "scaffold"},
        {"name": "fedavgm", "momentum": "1/2"},
        {"clock": {"policy": "async", "times": [1, 2, 5]}},
    ],
)
def test_the_edge_of_divergence(changes: dict[str, Any]) -> None:
    """Errors stay finite slightly below the edge, and are unbounded above."""
    run = run_of(**changes)
    found = reached(run, None)
    assert found.best.step_size <= 0.9 * found.diverges_from * (1 + 1e-12)
    errors = ExactErrors(run)
    below, above = (errors.run_with(factor * found.diverges_from).with_rounds(600) for factor in (0.93, 1.1))
    assert plain_floats(below.trajectory.server_suboptimality)[-1] < 1e3
    ended = above.attempted_trajectory
    assert ended.divergence is not None or plain_floats(ended.server_suboptimality)[-1] > 1e3


def test_the_margin_is_kept_and_reported() -> None:
    """A larger margin gives smaller step sizes; one of zero goes up to the edge."""
    run = run_of()
    wide, none = (reached(run, 5.0, margin=margin) for margin in (0.9, 0.0))
    assert wide.best.step_size <= 0.1 * wide.diverges_from * (1 + 1e-12)
    assert none.diverges_from == pytest.approx(wide.diverges_from)
    with pytest.raises(InputError, match="margin"):
        planner.plan(run, claims=[], margin=1.0)
    plan = planner.plan(run, claims=[], margin=0.25)
    line = dict(describe_answer(plan))["use:"]
    assert "diverges from 1.13394 on, a margin of 25% is kept" in line


def test_the_last_model_counts_unless_the_average_is_asked_for() -> None:
    """By default the error of the last model counts; each answer also names the average."""
    final, average = planner.plan(run_of(), claims=[]), planner.plan(run_of(), claims=[], error="average")
    assert final.answer is not None
    assert average.answer is not None
    assert final.answer.error.name == "final_suboptimality"
    assert average.answer.error.name == "average_suboptimality"
    assert final.answer.best.error < average.answer.best.error
    assert average.answer.best.step_size > final.answer.best.step_size
    assert "(the last model; the average over the path: " in dict(describe_answer(final))["use:"]
    assert "(the average over the path; the last model: " in dict(describe_answer(average))["use:"]


def test_a_diverging_plan_is_called_so() -> None:
    """A diverging plan says so, instead of printing "inf"."""
    plan = planner.plan(run_of(local_step_size="2"), claims=[])
    assert "as planned (step size 2) it diverges" in dict(describe_answer(plan))["use:"]
