"""Plans for clients with one class each: errors over step sizes have several minima."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.planner import plan
from fedtheory.planner.margins import keep_margin
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.rounds_needed import RoundsNeeded, _jumps
from fedtheory.runfile import parse_run

ROWS = {
    -1.0: [[-1.2, 1.0], [0.3, 1.0], [-0.4, 1.0], [-2.0, 1.0]],
    1.0: [[1.0, 1.0], [-0.5, 1.0], [2.1, 1.0], [0.2, 1.0]],
}
RIDGE, STEPS, ROUNDS = 0.01, 5, 60


def _gradient(x: Array, label: float) -> Array:
    rows = np.array(ROWS[label])
    with np.errstate(over="ignore"):
        slope = -label / (1 + np.exp(label * (x @ rows.T)))
    gradient: Array = slope @ rows / len(rows) + RIDGE * x
    return gradient


def _loss(x: Array) -> Array:
    fits = [np.logaddexp(0, -label * (x @ np.array(rows).T)).mean(axis=-1) for label, rows in ROWS.items()]
    loss: Array = sum(fits) / len(fits) + RIDGE / 2 * (x**2).sum(axis=-1)
    return loss


def _run_plainly(sizes: Array) -> Array:
    """Return F - F* after every round, (S, T), for each step size."""
    least = np.zeros(2)
    for _ in range(20_000):
        least = least - 1.0 * (_gradient(least, -1.0) + _gradient(least, 1.0)) / 2
    x, found = np.zeros((len(sizes), 2)), []
    for _ in range(ROUNDS):
        ends = []
        for label in ROWS:
            local = x
            for _ in range(STEPS):
                local = local - sizes[:, None] * _gradient(local, label)
            ends.append(local)
        x = sum(ends) / len(ends)
        found.append(_loss(x) - _loss(least))
    return np.array(found).T


def _one_class_run() -> Any:
    problem = {
        "kind": "logistic",
        "inputs": list(ROWS.values()),
        "outputs": [[label] * len(rows) for label, rows in ROWS.items()],
        "start": [0, 0],
        "ridge": RIDGE,
    }
    algorithm = {"local_step_size": 0.3, "local_steps": STEPS, "rounds": ROUNDS}
    return parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)


def test_the_step_size_is_near_the_best_of_all() -> None:
    """A plain simulation of 300 step sizes is hardly better, although larger ones than the best have lower dips."""
    answer = plan(_one_class_run(), claims=[]).answer
    assert answer is not None
    plainly = _run_plainly(np.array([answer.best.step_size, answer.planned.step_size]))[:, -1]
    assert plainly == pytest.approx([answer.best.error, answer.planned.error], rel=1e-6)
    errors = _run_plainly(np.geomspace(1e-3, 200, 300))[:, -1]
    assert answer.best.error <= 1.1 * errors.min()
    assert answer.best.error < answer.planned.error


@pytest.mark.parametrize(
    ("errors", "jumps"),
    [
        ([4.0, 2.0, 1.0], False),
        ([1.0, 1.9, 1.0], False),
        ([1.0, 2.1, 1.0], True),
        ([1.0, math.inf], False),
        ([1.0], False),
    ],
)
def test_errors_that_jump(errors: list[float], jumps: bool) -> None:
    assert _jumps(np.array(errors)) is jumps


def test_a_lucky_last_error_does_not_count() -> None:
    """Without a target, an error that jumps ranks by its largest value in the last rounds."""
    search: Any = SimpleNamespace(accuracy=None, _has_equal_rounds=True)
    lucky = ErrorAtStepSize(9.0, 10, 0.1, reached=False, still_falls=True, highest=3.0)
    steady = ErrorAtStepSize(1.0, 10, 0.5, reached=False, still_falls=False)
    assert min([lucky, steady], key=lambda one: RoundsNeeded._make_rank(search, one)) is steady


def test_errors_at_a_noise_floor_do_not_end_the_search() -> None:
    """Errors that drift keeps up at large step sizes fall again at small ones; errors still falling there are worse."""
    sizes = [2.0**-n for n in range(40)]

    def outcome(size: float, _: int) -> ErrorAtStepSize:
        is_small = size < 2.0**-12
        drift = 1.0 if size < 1.0 else 0.5
        error = 2.0**-12 / size * 1e-3 if is_small else drift if size > 2.0**-8 else size
        tried.append(size)
        return ErrorAtStepSize(size, 10, error, reached=False, still_falls=is_small)

    tried: list[float] = []
    search: Any = SimpleNamespace(
        accuracy=None,
        _has_equal_rounds=True,
        _is_quick=False,
        _is_cheap=False,
        _likely_edge=1.0,
        largest=1.0,
        errors=SimpleNamespace(grid=[sizes[-1]], planned=2.0),
        outcome=outcome,
        _limit_rounds=lambda _, rounds: rounds,
    )
    search._make_rank = lambda one: RoundsNeeded._make_rank(search, one)
    found = RoundsNeeded._try_step_sizes(search, 10)
    assert min(found, key=search._make_rank).step_size <= 2.0**-12
    assert tried[-1] > sizes[-1]


def test_a_margin_is_not_kept_at_a_much_worse_step_size() -> None:
    """If smaller step sizes are worse than the best one increased by the margin, the best one is returned."""
    errors = {8.0: 0.3, 4.0: 0.1}
    search: Any = SimpleNamespace(margin=0.5, planned_rounds=10)
    search.outcome = search.confirm_outcome = lambda size, _: ErrorAtStepSize(
        size, 10, errors.get(size, 0.5), False, False
    )
    assert keep_margin(search, search.outcome(4.0, 10)).step_size == 4.0


def _run_with_momentum(size: float, rounds: int) -> Array:
    """Return F - F* after every round of two clients in two dimensions, 3 local steps, server momentum 9/10."""
    hessians, linear = np.array([np.diag(one) for one in CURVATURES]), np.array(LINEAR)
    least = np.linalg.solve(hessians.mean(axis=0), linear.mean(axis=0))
    x, velocity, found = np.zeros(2), np.zeros(2), []
    for _ in range(rounds):
        ends = []
        for hessian, b in zip(hessians, linear, strict=True):
            local = x
            for _ in range(3):
                local = local - size * (hessian @ local - b)
            ends.append(local)
        velocity = 0.9 * velocity + np.mean(ends, axis=0) - x
        x = x + velocity
        found.append((x - least) @ hessians.mean(axis=0) @ (x - least) / 2)
    return np.array(found)


CURVATURES, LINEAR = [[0.8, 1.3], [3.3, 2.5]], [[-1.4, -0.6], [-6.1, -0.7]]


@pytest.mark.parametrize("target", [0.3, 0.1])
def test_rounds_with_momentum_are_the_fewest(target: float) -> None:
    """With momentum errors oscillate: those of small step sizes are below the target sooner, and for good."""
    problem = {"kind": "quadratic", "hessians": [np.diag(one).tolist() for one in CURVATURES], "linear": LINEAR}
    algorithm = {"name": "fedavgm", "momentum": 0.9, "local_step_size": 0.05, "local_steps": 3, "rounds": 40}
    answer = plan(
        parse_run({"problem": {**problem, "start": [0, 0]}, "algorithm": algorithm}, FLOAT), target, claims=[]
    ).answer
    assert answer is not None
    fewest = 400
    for size in np.geomspace(1e-3, 0.9 * answer.reached.diverges_from, 150):
        above = np.flatnonzero(~(_run_with_momentum(size, 400) <= target))
        fewest = min(fewest, int(above[-1]) + 2 if len(above) else 1)
    assert answer.best.reached
    later = _run_with_momentum(answer.best.step_size, 4 * answer.best.rounds)[answer.best.rounds - 1 :]
    assert later.max() <= target
    assert answer.best.rounds <= 1.1 * fewest + 1
