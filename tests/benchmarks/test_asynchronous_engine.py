"""Cost of asynchronous runs: fifty clients, each with its own model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq
from problems import Scale, best_of, random_problem, require_growth
from rows import Row

from fedtheory.arithmetic import Array
from fedtheory.engine.moments import Trajectory
from fedtheory.engine.moments.local import embed_covariances
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.federation import Algorithm, fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.clock import Asynchronous, Clock
from fedtheory.federation.problem import Problem

pytestmark = pytest.mark.slow
CLIENTS, DIMENSION, UPDATES = 50, 20, 10_000


def asynchronous(problem: Problem, updates: int, ties: str = "one-by-one") -> Algorithm:
    """Return an algorithm in which clients report one after the other, with times from 1 to about 2.5."""
    policy = Asynchronous("one-by-one" if ties == "one-by-one" else "together")
    clock = Clock(policy, tuple(fmpq(100 + 3 * client) for client in range(problem.clients)))
    weights = compute_time_based_weights(clock, np.array([fmpq(1, problem.clients)] * problem.clients))
    return fedavg(problem, rounds=updates, local_step_size=0.005, local_steps=5, clock=clock, aggregation=weights)


@pytest.mark.parametrize("ties", ["one-by-one", "together"])
def test_ten_thousand_asynchronous_updates(ties: str, benchmark: Any, row: Row) -> None:
    """Joint moments of fifty stale models in twenty dimensions are compared with as many synchronous rounds."""
    problem = random_problem(CLIENTS, DIMENSION)
    waiting = fedavg(problem, rounds=UPDATES, local_step_size=0.005, local_steps=5)
    algorithm = asynchronous(problem, UPDATES, ties)
    found: list[Trajectory] = []

    def follow() -> None:
        found.append(Trajectory(problem, algorithm))

    seconds = best_of(lambda: benchmark.pedantic(follow, rounds=1), 1)
    assert np.isfinite(found[0].server_suboptimality).all()
    ratio = seconds / best_of(lambda: Trajectory(problem, waiting), 1)
    row(f"10,000 asynchronous updates, ties {ties}", "as many synchronous rounds", ratio, "times the cost")


SCALES: dict[str, Scale] = {
    "an asynchronous run over T": ((500, 1000, 2000, 4000), lambda size: seconds_of(20, 10, size), 1.15),
    "an asynchronous run over M": ((10, 20, 40, 80), lambda size: seconds_of(size, 10, 500), 1.2),
}


def seconds_of(clients: int, dimension: int, updates: int) -> float:
    """Return the seconds of a run in which clients report one after the other, including set-up."""
    problem = random_problem(clients, dimension)
    return best_of(lambda: Trajectory(problem, asynchronous(problem, updates)), 3)


@pytest.mark.parametrize("name", SCALES)
def test_costs_grow_as_expected(name: str, benchmark: Any, row: Row) -> None:
    """The exponent of a fitted power of the size is no larger than expected."""
    require_growth(name, SCALES[name], benchmark, row)


def dense_suboptimality(problem: Problem, algorithm: Algorithm) -> Array:
    """Return E F - F* of the server's model from one linear map of the models of the server and of every client."""
    recursion = Recursion(problem, algorithm)
    size, clients = problem.dimension + 1, problem.clients
    state = np.tile(recursion.start, (clients + 1, clients + 1))
    values = []
    for update in algorithm.updates():
        linear, noise = np.eye(len(state)), np.zeros_like(state)
        for client in update.reports:
            weight, place = recursion.iterate_weights(update)[client], slice((client + 1) * size, (client + 2) * size)
            linear[:size, place] += weight * recursion._displacements[client]
        noise[:size, :size] = embed_covariances(recursion.noise(None, update).server)  # type: ignore[arg-type]
        state = linear @ state @ linear.T + noise
        for client in update.reports:
            place = slice((client + 1) * size, (client + 2) * size)
            state[place] = state[:size]
            state[:, place] = state[:, :size]
        values.append((problem.hessian * state[1:size, 1:size]).sum() / 2)
    return np.array(values)


def test_live_models_against_the_dense_recursion(benchmark: Any, row: Row) -> None:
    """The engine gives the errors of one matrix for all models, and is faster."""
    problem = random_problem(20, 10)
    algorithm = asynchronous(problem, 60)
    dense = dense_suboptimality(problem, algorithm)
    trajectory = benchmark.pedantic(Trajectory, args=(problem, algorithm), rounds=3)
    assert np.allclose(trajectory.server_suboptimality[1:], dense, rtol=1e-9)
    quick, slow = (best_of(lambda f=f: f(problem, algorithm), 3) for f in (Trajectory, dense_suboptimality))
    row("asynchronous engine, M = 20, d = 10", "dense joint recursion", slow / quick, "times faster")
    assert slow > 2 * quick
