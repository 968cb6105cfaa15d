"""Costs of logistic regression with many rows, relative to plain loops over the clients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import best_of
from rows import Row

from fedtheory import FLOAT, parse_run
from fedtheory.arithmetic import Array
from fedtheory.engine.linear_models import LinearModelRun

pytestmark = pytest.mark.slow
CLIENTS, ROWS, FEATURES, ROUNDS, STEPS, BATCH = 8, 20_000, 30, 20, 5, 8


def tall(batch: int | None) -> LinearModelRun:
    """Logistic regression on normal rows."""
    generator = np.random.default_rng(0)
    inputs = generator.standard_normal((CLIENTS, ROWS // CLIENTS, FEATURES))
    outputs = (inputs[..., 0] + generator.standard_normal(inputs.shape[:2]) > 0).astype(int)
    problem = {"kind": "logistic", "inputs": inputs.tolist(), "outputs": outputs.tolist(), "ridge": 0.01}
    keys = problem if batch is None else {**problem, "batch": batch}
    algorithm = {"local_step_size": 0.1, "local_steps": STEPS, "rounds": ROUNDS}
    run = parse_run({"problem": keys, "algorithm": algorithm}, FLOAT)
    assert isinstance(run, LinearModelRun)
    return run


def plainly(run: LinearModelRun, generator: np.random.Generator | None) -> Array:
    """Compute one path by loops over rounds, clients and steps, with the loss after every round."""
    model = run.problem.model
    data = [model.inputs[model.rows_of(client)] for client in range(CLIENTS)]
    server, losses = np.zeros(FEATURES), []
    for _ in range(ROUNDS):
        ends = []
        for rows in data:
            w = server.copy()
            for _ in range(STEPS):
                drawn = rows if generator is None else rows[generator.integers(len(rows), size=BATCH)]
                w -= 0.1 * (-(1 / (1 + np.exp(drawn @ w))) @ drawn / len(drawn) + 0.01 * w)
            ends.append(w)
        server = np.mean(ends, axis=0)
        losses.append(np.log1p(np.exp(-model.inputs @ server)).mean() + 0.005 * server @ server)
    return np.array(losses)


def test_full_gradients(benchmark: Any, row: Row) -> None:
    """One path is computed with loss, gradient and accuracy of every model."""
    run = tall(None)
    _ = run.problem.centred
    found = benchmark.pedantic(lambda: run.with_rounds(ROUNDS).trajectory, rounds=1)
    assert np.allclose(found.server_loss[1:], plainly(run, None), rtol=1e-9)
    seconds = best_of(lambda: run.with_rounds(ROUNDS).trajectory, 3)
    ratio = seconds / best_of(lambda: plainly(run, None), 3)
    row("logistic regression, full gradients, 20,000 x 30", "plain NumPy", ratio, "times the cost")


def test_batches(benchmark: Any, row: Row) -> None:
    """All replicas together are compared with as many plain paths."""
    run = tall(BATCH)
    _ = run.problem.centred
    found = benchmark.pedantic(lambda: run.with_rounds(ROUNDS).trajectory, rounds=1)
    count = found.replicas.count
    generator = np.random.default_rng(1)
    paths = np.array([plainly(run, generator) for _ in range(4)])
    assert np.allclose(found.server_loss[1:], paths.mean(axis=0), rtol=0.05)
    seconds = best_of(lambda: run.with_rounds(ROUNDS).trajectory, 1)
    ratio = seconds / (count * best_of(lambda: plainly(run, generator), 3))
    row(f"logistic regression, batches, {count} replicas, 20,000 x 30", "plain NumPy", ratio, "times the cost")
