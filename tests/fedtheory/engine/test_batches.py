"""Runs of one shape that are computed jointly equal those computed one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.batches import compute_trajectories
from fedtheory.engine.moments import Trajectory, build_trajectory
from fedtheory.engine.moments.batch import Batch
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging
from fedtheory.federation import Fixed, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares, quadratic
from fedtheory.language import quantities as q

QUANTITIES = (q.average_suboptimality, q.final_suboptimality, q.max_drift, q.average_gradient_sq)


def _problem(generator: np.random.Generator, clients: int, dimension: int) -> Problem:
    """Return quadratics of any rank, in floats, with different weights; some without noise."""
    factors = generator.integers(-2, 3, (clients, dimension, dimension)).astype(float)
    factors[0] += 3 * np.eye(dimension)
    hessians = factors @ factors.transpose(0, 2, 1) / 8
    points = generator.standard_normal((clients, dimension, 1))
    weights = generator.integers(1, 5, clients).astype(float)
    noise = generator.uniform(0, 2, clients) if generator.random() < 0.7 else None
    linear, start = (hessians @ points)[..., 0], generator.standard_normal(dimension)
    return quadratic(hessians, linear, start, noise=noise, weights=weights / weights.sum())


def _runs(seed: int, count: int, dimension: int, steps: tuple[int, ...], rounds: int) -> list[Run]:
    """Return runs of one shape; the step sizes of some are too large."""
    generator = np.random.default_rng(seed)
    problems = [_problem(generator, len(steps), dimension) for _ in range(count)]
    sizes = 10 ** generator.uniform(-3, 0.5, count)
    given = zip(problems, sizes, strict=True)
    settings = {"rounds": rounds, "local_steps": steps, "server_step_size": float(generator.uniform(0.5, 1.5))}
    return [Run(problem, fedavg(problem, local_step_size=float(size), **settings)) for problem, size in given]


def _value(quantity: q.RunQuantity, run: Run) -> float | None:
    try:
        return float(np.asarray(quantity.on(run)).max())
    except Diverging:
        return None


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.integers(1, 3),
    st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple),
    st.integers(1, 40),
)
@settings(max_examples=40, deadline=None)
def test_a_batch_is_its_runs_one_by_one(
    seed: int, count: int, dimension: int, steps: tuple[int, ...], rounds: int
) -> None:
    """Joint and single computations agree in moments of all rounds, quantities and divergence."""
    runs = _runs(seed, count, dimension, steps, rounds)
    batch = Batch([(run.problem, run.algorithm) for run in runs])
    for run, found in zip(runs, batch.trajectories(), strict=True):
        alone = build_trajectory(run.problem, run.algorithm)
        scale = np.abs(alone.moments).max()
        np.testing.assert_allclose(found.moments, alone.moments, rtol=1e-9, atol=1e-11 * scale)
        assert (found.divergence is None) == (alone.divergence is None)
        if len(set(steps)) == 1:
            np.testing.assert_allclose(found.drift, alone.drift, rtol=1e-8, atol=1e-10 * scale)


def test_runs_know_what_was_found_together() -> None:
    """Runs of different shapes are computed separately; every quantity is that of the single run."""
    runs = [*_runs(1, 4, 2, (3, 3), 20), *_runs(2, 3, 2, (2, 2), 20), *_runs(3, 2, 1, (4,), 9)]
    problem = runs[0].problem
    sampled = fedavg(problem, rounds=5, local_step_size=0.1, local_steps=2, participation=Uniform(1))
    chosen = fedavg(problem, rounds=5, local_step_size=0.1, local_steps=2, participation=Fixed((1,)))
    data = ClientData((np.ones((3, 1)), np.eye(2)[:, :1]), (np.ones(3), np.zeros(2)))
    mini = least_squares(data, np.zeros(1), batch=1)
    exact = quadratic(RATIONAL.array([[[1]], [[2]]]), RATIONAL.array([[1], [0]]), RATIONAL.array([3]))
    alone = [
        Run(problem, sampled),
        Run(mini, fedavg(mini, rounds=4, local_step_size=0.1)),
        Run(exact, fedavg(exact, rounds=4, local_step_size=RATIONAL.number("1/8", "eta"))),
    ]
    runs.append(Run(problem, chosen))
    compute_trajectories([*runs, *alone])
    assert all("attempted_trajectory" in vars(run) for run in runs)
    assert not any("attempted_trajectory" in vars(run) for run in alone)
    for run in runs:
        for quantity in QUANTITIES:
            expected = _value(quantity, Run(run.problem, run.algorithm))
            assert _value(quantity, run) == (None if expected is None else pytest.approx(expected, rel=1e-9))


def test_large_runs_are_found_in_several_batches(monkeypatch) -> None:
    """Large runs are split into several batches, so that arrays fit into memory; results are equal."""
    from fedtheory.engine import batches

    sizes = []
    monkeypatch.setattr(batches, "_LARGEST", 50)
    monkeypatch.setattr(batches, "Batch", lambda settings: (sizes.append(len(settings)), Batch(settings))[1])
    runs = _runs(5, 7, 1, (2, 2), 5)
    compute_trajectories(runs)
    assert sizes == [2, 2, 2, 1]
    for run in runs:
        expected = Trajectory(run.problem, run.algorithm).server_distance_sq
        np.testing.assert_allclose(run.trajectory.server_distance_sq, expected, rtol=1e-9)
