"""Targets of runs with clocks, whose errors oscillate in every cycle; and runs that always diverge."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.run import Run
from fedtheory.language import quantities as q
from fedtheory.planner.error_curves import compute_errors
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.rounds_needed import FINAL, find_planned_and_best
from fedtheory.runfile import parse_run

PROBLEM = {
    "kind": "quadratic",
    "hessians": [[["1"]], [["1/5"]], [["2"]]],
    "linear": [["1"], ["-1/2"], ["3"]],
    "start": ["3"],
    "noise": "1/10",
}
BUFFERED = {"policy": "fedbuff", "times": [1, 2, 7], "buffer": 2, "staleness": "1/sqrt(1+s)"}


def _run(rounds: int = 34) -> Run:
    algorithm = {"local_step_size": "1/10", "local_steps": 5, "rounds": rounds, "clock": BUFFERED}
    return parse_run({"problem": PROBLEM, "algorithm": algorithm}, FLOAT)


def test_a_target_is_reached_for_whole_cycles() -> None:
    """A target must hold for whole cycles, and in all later ones."""
    run, target = _run(), 0.1
    reached = find_planned_and_best(ExactErrors(run), FINAL, target)
    assert reached is not None
    assert reached.best.reached
    assert reached.best.followed is not None
    assert reached.best.followed > 10 * reached.best.rounds
    longer = run.with_step_factor(10 * reached.best.step_size).with_rounds(reached.best.followed)
    errors = compute_errors(longer, q.final_suboptimality)
    assert (errors[reached.best.rounds - 1 :] <= target).all()


def test_missed_targets_report_the_largest_error_of_a_cycle() -> None:
    """If a target is missed, the largest error of the last rounds is reported."""
    run = _run(8)
    reached = find_planned_and_best(ExactErrors(run), FINAL, 1e-9)
    assert reached is not None
    best = reached.best
    assert not best.reached
    assert best.highest is not None
    errors = compute_errors(run.with_step_factor(10 * best.step_size).with_rounds(best.rounds), q.final_suboptimality)
    assert best.highest == pytest.approx(errors[3 * best.rounds // 4 :].max())
    assert best.highest > best.error or np.isclose(best.highest, best.error)


def test_without_a_target_the_largest_error_of_a_cycle_decides() -> None:
    """A step size whose last error is small at the end of the run only is not recommended."""
    run = _run()
    reached = find_planned_and_best(ExactErrors(run), FINAL, None)
    assert reached is not None
    best = reached.best
    largest = {}
    for size in (*np.geomspace(0.01, 1, 30), best.step_size):
        errors = compute_errors(run.with_step_factor(10 * size), q.final_suboptimality)
        largest[size] = float(errors[3 * len(errors) // 4 :].max())
    assert largest[best.step_size] == best.highest
    assert largest[best.step_size] <= 1.1 * min(largest.values())


@pytest.mark.long
def test_a_plan_of_a_clock_tells_how_far_it_was_followed() -> None:
    """The first line of the plan names the time that was simulated."""
    from fedtheory.planner import plan
    from fedtheory.planner.sentences import describe_use

    answer = plan(_run(), 0.1, []).answer
    assert answer is not None
    assert f"below the target up to round {answer.best.followed}" in describe_use(answer)
    assert "time units" in describe_use(answer)
