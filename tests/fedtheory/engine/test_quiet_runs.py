"""Runs without randomness are computed from models alone, and agree with second moments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.frames import iterate_moment_frames, list_frames_at
from fedtheory.engine.moments import SteadyTrajectory, Trajectory, build_trajectory
from fedtheory.engine.moments import quiet_trajectory as quiet
from fedtheory.engine.moments.quiet_trajectory import QuietTrajectory
from fedtheory.engine.run import Run
from fedtheory.federation import Fixed, Full, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares, quadratic
from fedtheory.language import quantities as q

MEASURED = [
    "server_mean",
    "server_suboptimality",
    "server_distance_sq",
    "server_gradient_sq",
    "local_suboptimality",
    "local_distance_sq",
    "local_gradient_sq",
    "drift",
    "mean_drift",
    "final_mean",
    "final_suboptimality",
    "final_distance_sq",
    "total_descent",
    "mean_server_suboptimality",
    "mean_server_gradient_sq",
    "mean_local_suboptimality",
    "mean_local_gradient_sq",
    "last_local_suboptimality",
]


def _problem(seed: int, clients: int, dimension: int) -> Problem:
    generator = np.random.default_rng(seed)
    factors = generator.standard_normal((clients, dimension, dimension)) / np.sqrt(dimension)
    hessians = factors @ factors.transpose(0, 2, 1) + 0.1 * np.eye(dimension)
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 2
    weights = generator.uniform(1, 2, clients)
    linear, start = generator.standard_normal((clients, dimension)), generator.standard_normal(dimension)
    return quadratic(hessians, linear, start, weights=weights / weights.sum())


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 1000),
    st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 9)),
    st.booleans(),
    st.sampled_from([1, 0.7]),
)
def test_numbers_are_those_of_second_moments(seed, shape, is_fixed, server_step_size) -> None:
    """Values agree to 1e-9 relative, also with different work and for some of the clients."""
    clients, dimension, rounds = shape
    problem = _problem(seed, clients, dimension)
    steps = tuple(1 + (seed + client) % 4 for client in range(clients))
    law = Fixed((0,)) if is_fixed else Full()
    sizes = FLOAT.array([0.1 + 0.05 * client for client in range(clients)])
    keys = {"rounds": rounds, "local_step_size": sizes, "local_steps": steps, "server_step_size": server_step_size}
    algorithm = fedavg(problem, participation=law, **keys)
    found, expected = QuietTrajectory(problem, algorithm), SteadyTrajectory(problem, algorithm)
    for name in MEASURED:
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * max(np.abs(other).max(), 1), err_msg=name)
    forms = np.stack([np.diag(np.arange(dimension + 1.0)) + client for client in range(clients)])
    factors = np.arange(1.0, clients + 1)
    pairs = [
        (found.mean_difference_sq(factors), expected.mean_difference_sq(factors)),
        (found.local_second_moments(forms), expected.local_second_moments(forms)),
        (found.evaluate_at_virtual_iterates(forms), expected.evaluate_at_virtual_iterates(forms)),
        (found.moments, expected.moments),
    ]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * max(np.abs(other).max(), 1))


def test_many_dimensions_go_by_models(monkeypatch) -> None:
    """Many dimensions are computed from models, also for claims at local steps; noise needs second moments."""
    problem = _problem(0, 3, 40)
    run = Run(problem, fedavg(problem, rounds=3, local_step_size=0.1, local_steps=2))
    assert isinstance(run.trajectory, QuietTrajectory)
    noisy = quadratic(problem.hessians, problem.linear, problem.start, noise=np.ones(3))
    assert not isinstance(build_trajectory(noisy, run.algorithm), QuietTrajectory)
    frames, expected = list(list_frames_at("step", run)), list(iterate_moment_frames(run))
    assert [frame.index for frame in frames] == [frame.index for frame in expected]
    for one, other in zip(frames, expected, strict=True):
        for name in ("local", "average", "server", "gradient", "next_virtual"):
            values = [frame.inner(getattr(frame, name), getattr(frame, name)) for frame in (one, other)]
            np.testing.assert_allclose(*(np.ravel(value) for value in values), rtol=1e-9, err_msg=name)
    measured = [q.average_suboptimality, q.max_drift, q.final_distance_sq, q.average_gradient_sq]
    found = [quantity.on(run) for quantity in measured]
    monkeypatch.setattr(quiet, "_FEWEST", 100)
    whole = replace(run)
    assert not isinstance(whole.trajectory, QuietTrajectory)
    assert found == pytest.approx([quantity.on(whole) for quantity in measured], rel=1e-9)


def test_divergence_is_found_at_the_same_round() -> None:
    problem = _problem(1, 2, 3)
    algorithm = fedavg(problem, rounds=400, local_step_size=50.0, local_steps=2)
    found, expected = QuietTrajectory(problem, algorithm), SteadyTrajectory(problem, algorithm)
    assert found.divergence is not None
    assert expected.divergence is not None
    assert found.divergence.round == expected.divergence.round is not None
    assert len(found.server_mean) == len(expected.server_mean)


def test_long_lists_are_made_in_blocks(monkeypatch) -> None:
    """Long lists are computed in blocks, with equal numbers and bounded memory."""
    problem = replace(
        _problem(2, 3, 2), oracle=quadratic(np.ones((3, 1, 1)), np.ones((3, 1)), np.ones(1), noise=np.ones(3)).oracle
    )
    algorithm = fedavg(problem, rounds=300, local_step_size=0.05, local_steps=2)
    expected = SteadyTrajectory(problem, algorithm)
    kept = [getattr(expected, name) for name in MEASURED[:4]]
    monkeypatch.setattr("fedtheory.engine.moments.steady_trajectory._MOST_KEPT", 10)
    found = SteadyTrajectory(problem, algorithm)
    for name, values in zip(MEASURED, kept, strict=False):
        np.testing.assert_allclose(getattr(found, name), values, rtol=1e-12, err_msg=name)
    assert "moments" not in vars(found)


def test_noise_of_many_rounds_is_found_again(monkeypatch) -> None:
    """The values of each round do not depend on whether its noise was cached."""
    generator = np.random.default_rng(3)
    rows = ClientData(tuple(generator.standard_normal((2, 5, 3))), tuple(generator.standard_normal((2, 5))))
    problem = least_squares(rows, np.ones(3), batch=2)
    algorithm = fedavg(problem, rounds=6, local_step_size=0.05, local_steps=2)
    kept = Trajectory(problem, algorithm)
    monkeypatch.setattr("fedtheory.engine.moments.trajectory._MOST_NOISE", 1)
    found = Trajectory(problem, algorithm)
    assert found.noise is None
    assert None not in kept.noise
    assert found.completed == kept.completed == 6
    for (_, one), (_, other) in zip(found.rounds(), kept.rounds(), strict=True):
        np.testing.assert_array_equal(one.newest_moment, other.newest_moment)
