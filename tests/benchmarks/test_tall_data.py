"""Cost of runs on many rows, relative to plain NumPy that first builds each client's fourth moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import Scale, best_of, require_growth
from rows import Row

from fedtheory.arithmetic import Array
from fedtheory.engine.moments import build_trajectory
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares

pytestmark = pytest.mark.slow
STEP_SIZE, LOCAL_STEPS, BATCH = 0.01, 5, 32
_ROWS = 4096


def tall_problem(rows: int, dimension: int = 30, clients: int = 8) -> Problem:
    """Return rows of a noisy linear model, evenly distributed, with mini-batches."""
    generator = np.random.default_rng(0)
    inputs = generator.standard_normal((clients, rows // clients, dimension)) * np.linspace(1, 0.3, dimension)
    outputs = inputs.sum(axis=2) / np.sqrt(dimension) + 0.3 * generator.standard_normal(inputs.shape[:2])
    return least_squares(ClientData(tuple(inputs), tuple(outputs)), np.zeros(dimension), batch=BATCH)


def errors_of(problem: Problem, rounds: int) -> Array:
    """Return E F(x^n) - F*, including set-up; the problem is new, so that nothing is cached."""
    algorithm = fedavg(problem, rounds=rounds, local_step_size=STEP_SIZE, local_steps=LOCAL_STEPS)
    return build_trajectory(problem, algorithm).server_suboptimality


def errors_in_plain_numpy(problem: Problem, rounds: int) -> Array:
    """Compute the same errors from fourth moments on pairs of coordinates, then step by step for each client."""
    assert problem.data is not None
    inputs, outputs = np.concatenate(problem.data.inputs), np.concatenate(problem.data.outputs)
    optimum = np.linalg.lstsq(inputs, outputs, rcond=None)[0]
    hessian, size = 2 * inputs.T @ inputs / len(inputs), inputs.shape[1] + 1
    rows, columns = np.triu_indices(size)
    counts = np.where(rows == columns, 1.0, 2.0)
    clients = []
    for own, targets in problem.data:
        samples = np.column_stack([own @ optimum - targets, own])
        fourth = np.zeros((len(rows), len(rows)))
        for first in range(0, len(samples), _ROWS):
            pairs = samples[first : first + _ROWS, rows] * samples[first : first + _ROWS, columns]
            fourth += pairs.T @ pairs
        clients.append((2 * own.T @ samples / len(own), 4 * fourth / len(own)))
    start = np.concatenate([[1.0], -optimum])
    moment, errors = np.outer(start, start), [optimum @ hessian @ optimum / 2]
    for _ in range(rounds):
        maps, noises = [], []
        for gradient, fourth in clients:
            step = np.eye(size)
            step[1:] -= STEP_SIZE * gradient
            mean, now = np.eye(size), moment
            for _ in range(LOCAL_STEPS):
                full = gradient @ now @ gradient.T
                samples = np.empty((size, size))
                samples[rows, columns] = samples[columns, rows] = fourth @ (counts * now[rows, columns])
                now = step @ now @ step.T
                now[1:, 1:] += STEP_SIZE**2 * (samples[1:, 1:] - full) / BATCH
                mean = step @ mean
            maps.append(mean)
            noises.append(now - mean @ moment @ mean.T)
        average = np.mean(maps, axis=0)
        moment = average @ moment @ average.T + np.sum(noises, axis=0) / len(clients) ** 2
        errors.append((moment[1:, 1:] * hessian).sum() / 2)
    return np.array(errors)


def test_many_rows_against_plain_numpy(benchmark: Any, row: Row) -> None:
    """80,000 rows in 30 dimensions, 8 clients, 100 rounds of 5 steps take at most 1.5 times as long, with equal
    errors.
    """
    problem = tall_problem(80_000)
    expected = errors_in_plain_numpy(problem, 100)
    np.testing.assert_allclose(errors_of(tall_problem(80_000), 100), expected, rtol=1e-9)
    found = best_of(lambda: errors_of(tall_problem(80_000), 100), 2)
    made = best_of(lambda: tall_problem(80_000), 2)
    benchmark.pedantic(errors_of, args=(problem, 100), rounds=1)
    ratio = (found - made) / best_of(lambda: errors_in_plain_numpy(problem, 100), 1)
    row("80,000 rows, 30 features, 100 rounds of 5 steps", "plain NumPy with fourth moments", ratio, "times the cost")
    assert ratio <= 1.5


def seconds_of_rounds(rows: int) -> float:
    """Return the seconds of a hundred further rounds, after set-up."""
    problem = tall_problem(rows, 10)
    errors_of(problem, 200)
    return best_of(lambda: errors_of(problem, 200), 3) - best_of(lambda: errors_of(problem, 100), 3)


def seconds_of_a_run(rows: int) -> float:
    """Return the seconds of a run, including set-up."""
    made = best_of(lambda: tall_problem(rows, 10), 2)
    return best_of(lambda: errors_of(tall_problem(rows, 10), 100), 2) - made


SCALES: dict[str, Scale] = {
    "a round on data over rows, after set-up": ((10**4, 3 * 10**4, 10**5), seconds_of_rounds, 0.1),
    "a run on data over rows, with set-up": ((10**5, 2 * 10**5, 4 * 10**5), seconds_of_a_run, 1.1),
}


@pytest.mark.parametrize("name", SCALES)
def test_costs_grow_as_expected(name: str, benchmark: Any, row: Row) -> None:
    """The exponent of a fitted power of the rows is no larger than expected."""
    require_growth(name, SCALES[name], benchmark, row)
