"""Cost of runs with more features than rows, relative to plain NumPy that computes only the models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import Scale, best_of, require_growth
from rows import Row

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import least_squares

pytestmark = pytest.mark.slow
STEP_SIZE, LOCAL_STEPS, ROUNDS, RIDGE = 0.01, 5, 100, 0.01


def wide_data(dimension: int, rows: int = 178, clients: int = 3) -> ClientData:
    """Return random rows, evenly distributed over the clients."""
    generator = np.random.default_rng(0)
    inputs = np.array_split(generator.standard_normal((rows, dimension)) / np.sqrt(dimension), clients)
    outputs = tuple(given @ generator.standard_normal(dimension) for given in inputs)
    return ClientData(tuple(inputs), outputs, RIDGE)


def errors_of(data: ClientData) -> Array:
    """Return E F(x^n) - F* of a run with full gradients, and the problem."""
    problem = least_squares(data, np.zeros(data.inputs[0].shape[1]))
    algorithm = fedavg(problem, rounds=ROUNDS, local_step_size=STEP_SIZE, local_steps=LOCAL_STEPS)
    return Run(problem, algorithm).trajectory.server_suboptimality


def errors_in_plain_numpy(data: ClientData) -> Array:
    """Compute the same errors from the models, with F* from the Gram matrix of the rows."""
    model, models = np.zeros(data.inputs[0].shape[1]), []
    for _ in range(ROUNDS + 1):
        models.append(model)
        ends = []
        for inputs, outputs in data:
            local = model
            for _ in range(LOCAL_STEPS):
                gradient = 2 * (inputs @ local - outputs) @ inputs / len(outputs) + RIDGE * local
                local = local - STEP_SIZE * gradient
            ends.append(local)
        model = np.mean(ends, axis=0)
    roots = [np.sqrt(1 / (len(data.outputs) * len(outputs))) for outputs in data.outputs]
    rows = np.concatenate([root * inputs for root, inputs in zip(roots, data.inputs, strict=True)])
    targets = np.concatenate([root * outputs for root, outputs in zip(roots, data.outputs, strict=True)])
    optimum = rows.T @ np.linalg.solve(rows @ rows.T + RIDGE / 2 * np.eye(len(rows)), targets)
    away = np.array(models) - optimum
    found: Array = ((away @ rows.T) ** 2).sum(axis=1) + RIDGE / 2 * (away * away).sum(axis=1)
    return found


def test_wide_data_against_plain_numpy(benchmark: Any, row: Row) -> None:
    """178 rows with 1,820 features are run for 100 rounds of 5 steps, with equal errors."""
    data = wide_data(1820)
    np.testing.assert_allclose(errors_of(data), errors_in_plain_numpy(data), rtol=1e-9)
    benchmark.pedantic(errors_of, args=(data,), rounds=1)
    found = best_of(lambda: errors_of(data), 2)
    ratio = found / best_of(lambda: errors_in_plain_numpy(data), 2)
    row("178 rows, 1,820 features, 100 rounds of 5 steps", "plain NumPy on the models", ratio, "times the cost")
    assert found < 2


SCALES: dict[str, Scale] = {
    "a run on data over features, 178 rows": (
        (1000, 2000, 4000),
        lambda size: best_of(lambda: errors_of(wide_data(size)), 2),
        1.1,
    ),
}


@pytest.mark.parametrize("name", SCALES)
def test_costs_grow_as_expected(name: str, benchmark: Any, row: Row) -> None:
    """The exponent of a fitted power of the features is no larger than expected."""
    require_growth(name, SCALES[name], benchmark, row)
