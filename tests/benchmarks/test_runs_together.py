"""Cost of many small runs in one batch: against single runs, and against the sizes of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import Scale, best_of, require_growth
from rows import Row

from fedtheory.arithmetic import Array
from fedtheory.engine.moments import build_trajectory
from fedtheory.engine.moments.batch import Batch, Setting
from fedtheory.federation import fedavg
from fedtheory.federation.problem import quadratic

pytestmark = pytest.mark.slow
LOCAL_STEPS, ROUNDS, RUNS = 4, 50, 1000


def settings_of(runs: int, rounds: int) -> list[Setting]:
    """Return runs of two clients in one dimension with different noise, optima and step sizes."""
    generator = np.random.default_rng(runs)
    hessians, start, noise = np.array([[[1.0]], [[2.0]]]), np.array([2.0]), np.array([0.25, 0.25])
    found = []
    for _ in range(runs):
        problem = quadratic(hessians, generator.uniform(-2, 2, (2, 1)), start, noise=noise)
        size = float(generator.uniform(0.001, 0.125))
        found.append((problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=LOCAL_STEPS)))
        assert problem.centred is not problem
    return found


def plain_numpy(settings: list[Setting]) -> Array:
    """Compute the same moments in NumPy, for two clients with equal weights and full participation only."""
    centred = [problem.centred for problem, _ in settings]
    hessians, linear = np.stack([one.hessians for one in centred]), np.stack([one.linear for one in centred])
    sizes = np.stack([algorithm.work.step_sizes for _, algorithm in settings])[..., None]
    keep, push = 1 - sizes * hessians[..., 0], sizes * linear
    power, shift, noise = np.ones_like(keep), np.zeros_like(keep), np.zeros_like(keep)
    for _ in range(LOCAL_STEPS):
        noise = keep * keep * noise + sizes * sizes * 0.25
        power, shift = keep * power, keep * shift + push
    round_map = np.zeros((len(settings), 2, 2))
    round_map[:, 0, 0], round_map[:, 1:, 0], round_map[:, 1:, 1] = 1, shift.mean(axis=1), power.mean(axis=1)
    added = np.zeros_like(round_map)
    added[:, 1:, 1] = noise.sum(axis=1) / 4
    point = np.stack([np.concatenate([[1.0], one.start]) for one in centred])
    moments = np.empty((len(settings), ROUNDS + 1, 2, 2))
    moments[:, 0] = point[:, :, None] * point[:, None, :]
    for n in range(ROUNDS):
        moments[:, n + 1] = round_map @ moments[:, n] @ round_map.transpose(0, 2, 1) + added
    return moments


def test_runs_together_cost_less_than_one_by_one(benchmark: Any, row: Row) -> None:
    """A batch is faster than separate trajectories of all its runs, and has the moments of plain NumPy."""
    settings = settings_of(RUNS, ROUNDS)
    found = np.stack([one.moments for one in Batch(settings).trajectories()])
    np.testing.assert_allclose(found, plain_numpy(settings), rtol=1e-10, atol=1e-12)
    alone = best_of(lambda: [build_trajectory(*setting) for setting in settings], 2)
    together = best_of(lambda: list(Batch(settings).trajectories()), 3)
    benchmark.pedantic(lambda: list(Batch(settings).trajectories()), rounds=1)
    row("trajectories of 1,000 runs together", "one by one", alone / together, "times faster")
    assert alone > 2 * together


SCALES: dict[str, Scale] = {
    "a batch over its runs": (
        (500, 1000, 2000, 4000),
        lambda size: best_of(_follow(size, ROUNDS), 3),
        1.2,
    ),
    "a batch over T": ((50, 100, 200, 400), lambda size: best_of(_follow(RUNS, size), 3), 1.1),
}


def _follow(runs: int, rounds: int) -> Any:
    settings = settings_of(runs, rounds)
    return lambda: list(Batch(settings).trajectories())


@pytest.mark.parametrize("name", SCALES)
def test_costs_grow_as_expected(name: str, benchmark: Any, row: Row) -> None:
    """The exponent of a fitted power of the size is no larger than expected."""
    require_growth(name, SCALES[name], benchmark, row)
