"""What the exact engine costs: against the number of clients, and against Monte-Carlo. Ratios within one run only."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

from fedtheory import sampling
from fedtheory.federation import fedavg
from fedtheory.moments import Trajectory
from fedtheory.moments.recursion import Recursion
from fedtheory.problem import Problem, quadratic

DIMENSION, LOCAL_STEPS, ROUNDS = 10, 5, 200
STEP_SIZE = 0.05
CLIENTS = (10, 100, 1000, 10_000)
TARGET_ERROR = 1e-3
"""Relative standard error that Monte-Carlo is asked for, on the last round's suboptimality."""


def random_problem(clients: int, dimension: int = DIMENSION) -> Problem:
    """Random positive definite Hessians with eigenvalues up to about one, nearby minimisers, noise variance one."""
    generator = np.random.default_rng(clients)
    factors = generator.standard_normal((clients, dimension, dimension)) / np.sqrt(dimension)
    hessians = factors @ factors.transpose(0, 2, 1) / 4 + 0.05 * np.eye(dimension)
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 2
    minimisers = 1 + 0.1 * generator.standard_normal((clients, dimension))
    linear = (hessians @ minimisers[..., None])[..., 0]
    return quadratic(hessians, linear, 2 * np.ones(dimension), noise=np.ones(clients))


def seconds_per_round(problem: Problem) -> float:
    """Best of several timings of one round, after set-up."""
    algorithm = fedavg(problem, rounds=ROUNDS, local_step_size=STEP_SIZE, local_steps=LOCAL_STEPS)
    recursion = Recursion(problem, algorithm)
    moment = recursion.start
    recursion.round_noise(moment)
    timings = []
    for _ in range(7):
        begin = perf_counter()
        for _ in range(200):
            moment = recursion.after_round(moment, recursion.round_noise(moment))
        timings.append((perf_counter() - begin) / 200)
    return min(timings)


@pytest.mark.slow
def test_cost_of_a_round_does_not_grow_with_the_number_of_clients() -> None:
    """A round at M = 10,000 costs what a round at M = 10 costs."""
    costs = {clients: seconds_per_round(random_problem(clients)) for clients in CLIENTS}
    print("\nclients   microseconds per round   ratio to M = 10")
    for clients, cost in costs.items():
        print(f"{clients:7d}   {1e6 * cost:22.1f}   {cost / costs[10]:15.2f}")
    assert max(costs.values()) < 1.5 * costs[10]


@pytest.mark.slow
@pytest.mark.parametrize("clients", [10, 100])
def test_monte_carlo_costs_ten_thousand_times_more(clients: int) -> None:
    """Vectorised Monte-Carlo, extrapolated to 0.1 % standard error, takes at least 10,000 times the exact run."""
    problem = random_problem(clients)
    algorithm = fedavg(problem, rounds=ROUNDS, local_step_size=STEP_SIZE, local_steps=LOCAL_STEPS)
    exact_seconds = min(_timed_exact(problem, algorithm) for _ in range(5))
    replicas = 100_000 // clients
    begin = perf_counter()
    estimate = sampling.estimate(problem, algorithm, sampling.suboptimality(problem), replicas=replicas, seed=0)
    sampled_seconds = perf_counter() - begin
    reached = estimate.standard_error[-1] / estimate.mean[-1]
    needed = sampled_seconds * (reached / TARGET_ERROR) ** 2
    print(
        f"\nM = {clients}: exact {1e3 * exact_seconds:.2f} ms with set-up; Monte-Carlo {sampled_seconds:.2f} s for "
        f"{100 * reached:.2f} %, so {needed:.0f} s for 0.1 %: ratio {needed / exact_seconds:.0f}"
    )
    assert needed / exact_seconds >= 10_000


def _timed_exact(problem: Problem, algorithm: object) -> float:
    begin = perf_counter()
    fresh = quadratic(problem.hessians, problem.linear, problem.start, noise=np.ones(problem.clients))
    _ = Trajectory(fresh, algorithm).server_suboptimality[-1]  # type: ignore[arg-type]
    return perf_counter() - begin
