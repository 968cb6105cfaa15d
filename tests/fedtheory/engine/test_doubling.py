"""Rounds by repeated squaring equal those one by one, also for many rounds."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.engine.moments import SteadyTrajectory, Trajectory
from fedtheory.engine.moments.doubling import compose_rounds
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging
from fedtheory.federation import Uniform, fedavg
from fedtheory.federation.problem import Problem, quadratic
from fedtheory.language import quantities as q

MEANS = ("mean_server_suboptimality", "mean_server_gradient_sq", "mean_local_suboptimality", "mean_local_gradient_sq")
AVERAGES = (
    q.average_suboptimality,
    q.average_gradient_sq,
    q.average_local_gradient_sq,
    q.average_round_drift,
    q.final_suboptimality,
    q.max_drift,
    q.curvature_drift,
    q.curvature_imbalance,
)


def problem_of(seed: int, clients: int = 3, dimension: int = 2) -> Problem:
    """Return quadratics with curvatures from 1/2 to 2, and noise, in floats."""
    generator = np.random.default_rng(seed)
    factors = generator.standard_normal((clients, dimension, dimension))
    bases = np.stack([np.linalg.qr(factor)[0] for factor in factors])
    curvatures = generator.uniform(0.5, 2, (clients, dimension))
    hessians = bases * curvatures[:, None, :] @ bases.transpose(0, 2, 1)
    linear, start = generator.standard_normal((clients, dimension)), generator.standard_normal(dimension)
    symmetric = (hessians + hessians.transpose(0, 2, 1)) / 2
    return quadratic(symmetric, linear, start, noise=np.full(clients, 0.5))


def whole(generator: np.random.Generator, size: int) -> Array:
    """Return a matrix of small rationals."""
    return RATIONAL.array(generator.integers(-3, 4, (size, size))) / fmpq(7)


@given(st.integers(0, 10**6), st.integers(1, 70))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_any_number_of_rounds_at_once(seed: int, rounds: int) -> None:
    """The power, the noise, the sum and the last moment equal those of a loop, in rationals."""
    generator = np.random.default_rng(seed)
    round_map, noise, start = (whole(generator, 2) for _ in range(3))
    found = compose_rounds(round_map, noise, start, rounds)
    power, moment, total = RATIONAL.identity(2), start, RATIONAL.zeros(2, 2)
    for _ in range(rounds):
        total = total + moment
        moment = round_map @ moment @ round_map.T + noise
        power = round_map @ power
    assert found.rounds == rounds
    assert (found.power == power).all()
    assert (found.total == total).all()
    assert (found.apply(start) == moment).all()


def test_no_rounds() -> None:
    """Zero rounds give the initial moment."""
    with pytest.raises(ValueError, match="at least one"):
        compose_rounds(np.eye(2), np.eye(2), np.eye(2), 0)


@given(st.integers(0, 10**6), st.integers(1, 400), st.integers(1, 4))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_means_are_those_of_the_loop(seed: int, rounds: int, local_steps: int) -> None:
    """All averages over rounds agree with those of single updates to 1e-10."""
    problem = problem_of(seed)
    algorithm = fedavg(problem, rounds=rounds, local_step_size=0.05, local_steps=local_steps, server_step_size=1.0)
    run, one_by_one = Run(problem, algorithm), Trajectory(problem, algorithm)
    assert isinstance(run.trajectory, SteadyTrajectory)
    assert not isinstance(one_by_one, SteadyTrajectory)
    for name in (*MEANS, "mean_drift", "moments", "local_suboptimality", "drift"):
        assert np.allclose(getattr(run.trajectory, name), getattr(one_by_one, name), rtol=1e-10, atol=1e-13), name


def test_a_million_rounds() -> None:
    """An average over a million rounds agrees with a loop to 1e-10, without moments of single rounds."""
    problem = problem_of(7)
    algorithm = fedavg(problem, rounds=10**6, local_step_size=1e-4, local_steps=3, server_step_size=1.0)
    run = Run(problem, algorithm)
    values = [plain(quantity, run) for quantity in AVERAGES[:5]]
    assert "_all_moments" not in run.trajectory.__dict__
    assert np.isclose(values[1], run.trajectory.server_gradient_sq[:-1].mean(), rtol=1e-10, atol=0)
    assert np.isclose(values[0], run.trajectory.local_suboptimality[:, 1:].mean(), rtol=1e-10, atol=0)
    assert np.isclose(values[4], run.trajectory.server_suboptimality[-1], rtol=1e-10, atol=0)


def plain(quantity: q.RunQuantity, run: Run) -> float:
    """Return a quantity's value."""
    return float(np.asarray(quantity.on(run)).reshape(-1)[0])


def test_a_million_rounds_of_many_clients() -> None:
    """Twenty clients in fifty dimensions run without the 20 GB of a loop's moments."""
    problem = problem_of(3, clients=20, dimension=50)
    algorithm = fedavg(problem, rounds=10**6, local_step_size=1e-3, local_steps=5, server_step_size=1.0)
    run = Run(problem, algorithm)
    short = Run(problem, fedavg(problem, rounds=4000, local_step_size=1e-3, local_steps=5, server_step_size=1.0))
    rounds = short.trajectory.local_suboptimality[:, 1:].mean(axis=1)
    settled = rounds.mean() * 0.004 + rounds[-1] * 0.996
    assert np.isclose(plain(q.average_suboptimality, run), settled, rtol=1e-6)


def test_divergence_names_the_same_round() -> None:
    """A divergence is detected in the same round as one by one."""
    problem = problem_of(1)
    algorithm = fedavg(problem, rounds=2000, local_step_size=2.0, local_steps=2, server_step_size=1.0)
    run, one_by_one = Run(problem, algorithm), Trajectory(problem, algorithm)
    assert one_by_one.divergence is not None
    assert run.attempted_trajectory.divergence == one_by_one.divergence
    with pytest.raises(Diverging):
        _ = run.trajectory


def test_rounds_that_differ_are_followed_one_by_one() -> None:
    """Rounds with client sampling, or in rationals, are computed one by one."""
    problem = problem_of(2)
    sampled = fedavg(
        problem, rounds=3, local_step_size=0.1, local_steps=2, server_step_size=1.0, participation=Uniform(2)
    )
    assert not isinstance(Run(problem, sampled).trajectory, SteadyTrajectory)
