"""Cost of runs with many clients: set-up for each client, and rounds whose cost does not depend on their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import Scale, best_of, random_problem, require_growth
from rows import Row

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Participation, Uniform, fedavg
from fedtheory.federation.problem import Problem
from fedtheory.runfile import parse_run

pytestmark = pytest.mark.slow
STEP_SIZE, LOCAL_STEPS, SAMPLED = 0.05, 5, 100


def errors_of(problem: Problem, rounds: int, participation: Participation) -> Array:
    """Return E F(x^n) - F* of a run, including set-up."""
    return _run_of(problem, rounds, participation).trajectory.server_suboptimality


def _run_of(problem: Problem, rounds: int, participation: Participation) -> Run:
    algorithm = fedavg(
        problem,
        rounds=rounds,
        local_step_size=STEP_SIZE,
        local_steps=LOCAL_STEPS,
        participation=participation,
    )
    return Run(problem, algorithm)


def final_error_in_plain_numpy(problem: Problem, rounds: int) -> float:
    """Return the last error of full participation in NumPy: maps and noise of the clients step by step, then the
    rounds.
    """
    hessians, size = problem.hessians, problem.dimension
    optimum = np.linalg.solve(hessians.mean(axis=0), problem.linear.mean(axis=0))
    step = np.eye(size) - STEP_SIZE * hessians
    push = STEP_SIZE * (problem.linear - hessians @ optimum)
    mean, moved, noise = np.broadcast_to(np.eye(size), hessians.shape), np.zeros_like(push), np.zeros_like(hessians)
    for _ in range(LOCAL_STEPS):
        mean, moved = step @ mean, (step @ moved[..., None])[..., 0] + push
        noise = step @ noise @ step + STEP_SIZE**2 * np.eye(size) / size
    average, shift, added = mean.mean(axis=0), moved.mean(axis=0), noise.mean(axis=0) / len(hessians)
    point, covariance = problem.start - optimum, np.zeros((size, size))
    for _ in range(rounds):
        point, covariance = average @ point + shift, average @ covariance @ average.T + added
    return float(((np.outer(point, point) + covariance) * hessians.mean(axis=0)).sum() / 2)


def test_many_clients_against_plain_numpy(benchmark: Any, row: Row) -> None:
    """100,000 clients with different quadratics in ten dimensions are run for 100 rounds of 5 steps, with the same
    error.
    """
    problem = random_problem(100_000)
    expected = final_error_in_plain_numpy(problem, 100)
    assert errors_of(problem, 100, Full())[-1] == pytest.approx(expected, rel=1e-9)
    benchmark.pedantic(errors_of, args=(problem, 100, Full()), rounds=1)
    found = best_of(lambda: errors_of(problem, 100, Full()), 2)
    ratio = found / best_of(lambda: final_error_in_plain_numpy(problem, 100), 2)
    row("100,000 clients, 10 dimensions, 100 rounds of 5 steps", "plain NumPy", ratio, "times the cost")
    assert ratio <= 3


def test_clients_in_types_against_their_types(benchmark: Any, row: Row) -> None:
    """A million clients of three types, a thousand of them sampled per round, are compared with three clients."""

    def run(count: int, sampled: int) -> Run:
        few = random_problem(3)
        hessians, linear = few.hessians.tolist(), few.linear.tolist()
        problem = {"kind": "quadratic", "hessians": hessians, "linear": linear, "noise": 1.0, "count": count}
        law = {"kind": "uniform", "clients": sampled}
        algorithm = {"local_step_size": STEP_SIZE, "local_steps": LOCAL_STEPS, "rounds": 100, "participation": law}
        return parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)

    found = best_of(lambda: run(333_333, 1000).trajectory.server_suboptimality, 3)
    ratio = found / best_of(lambda: run(1, 2).trajectory.server_suboptimality, 3)
    benchmark.pedantic(lambda: run(333_333, 1000).trajectory, rounds=1)
    row("999,999 clients in three types, 100 sampled rounds", "three clients", ratio, "times the cost")


def seconds_of_sampled_rounds(clients: int) -> float:
    """Return the seconds of two thousand rounds with client sampling, after the set-up by a first run."""
    run = _run_of(random_problem(clients), 100, Uniform(SAMPLED))
    assert run.trajectory.server_suboptimality[-1] > 0
    return best_of(lambda: run.with_rounds(2000).trajectory.server_suboptimality, 5)


def seconds_of_a_sampled_run(clients: int) -> float:
    """Return the seconds of a run with client sampling, including set-up."""
    problem = random_problem(clients)
    return best_of(lambda: errors_of(problem, 100, Uniform(SAMPLED)), 9)


SCALES: dict[str, Scale] = {
    "sampled rounds over M, after set-up": ((1000, 3000, 10_000), seconds_of_sampled_rounds, 0.1),
    # Over a factor of 16 the moment at which arrays leave the processor's caches counts less.
    "a sampled run over M, with set-up": ((2_000, 8_000, 32_000), seconds_of_a_sampled_run, 1.2),
}


@pytest.mark.parametrize("name", SCALES)
def test_costs_grow_as_expected(name: str, benchmark: Any, row: Row) -> None:
    """The exponent of a fitted power of the number of clients is no larger than expected."""
    require_growth(name, SCALES[name], benchmark, row)
