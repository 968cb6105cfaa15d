"""Algorithms with more clients, dimensions and rounds than can be enumerated, against sampled paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.run import Run
from fedtheory.runfile import parse_run

CLIENTS, DIMENSION, ROUNDS, STEPS, REPLICAS = 6, 4, 8, 3, 6000
STEP, SERVER, BATCH, DRAWN, PROBABILITY = 0.03, 1.2, 2, 2, 0.3


def _data() -> tuple[Array, Array, Array]:
    generator = np.random.default_rng(5)
    inputs = generator.normal(size=(CLIENTS, 7, DIMENSION))
    outputs = generator.normal(size=(CLIENTS, 7)) + 3 * np.arange(CLIENTS)[:, None] / CLIENTS
    return inputs, outputs, np.arange(1, CLIENTS + 1) / (CLIENTS * (CLIENTS + 1) / 2)


def _run(keys: dict[str, Any]) -> Run:
    inputs, outputs, weights = _data()
    problem = {
        "kind": "least-squares",
        "inputs": inputs.tolist(),
        "outputs": outputs.tolist(),
        "weights": weights.tolist(),
        "start": [2.0] * DIMENSION,
        "batch": BATCH,
        "replacement": False,
    }
    return parse_run({"problem": problem, "algorithm": {"local_step_size": STEP, "rounds": ROUNDS} | keys}, FLOAT)


def _gradients(points: Array, generator: np.random.Generator) -> Array:
    """Return mini-batch gradients at points (replicas, M, d)."""
    inputs, outputs, _ = _data()
    drawn = generator.random((len(points), CLIENTS, 7)).argsort(axis=2)[:, :, :BATCH]
    every = np.arange(CLIENTS)[None, :, None]
    x, y = inputs[every, drawn], outputs[every, drawn]
    residuals = np.einsum("rmbd,rmd->rmb", x, points) - y
    return np.asarray(2 * np.einsum("rmb,rmbd->rmd", residuals, x) / BATCH)


def _scaffold(generator: np.random.Generator) -> Array:
    weights = _data()[2]
    x = np.full((REPLICAS, DIMENSION), 2.0)
    c, own = np.zeros_like(x), np.zeros((REPLICAS, CLIENTS, DIMENSION))
    for _ in range(ROUNDS):
        y = np.repeat(x[:, None], CLIENTS, axis=1)
        for _ in range(STEPS):
            y = y - STEP * (_gradients(y, generator) - own + c[:, None])
        new = own - c[:, None] + (x[:, None] - y) / (STEP * STEPS)
        present = generator.random((REPLICAS, CLIENTS)).argsort(axis=1) < DRAWN
        shares = (present * weights)[:, :, None]
        c = c + (shares * (new - own)).sum(axis=1)
        own = np.where(present[:, :, None], new, own)
        x = x + SERVER * (shares * CLIENTS / DRAWN * (y - x[:, None])).sum(axis=1)
    return x


def _scaffnew(generator: np.random.Generator) -> Array:
    weights = _data()[2][:, None]
    x, h = np.full((REPLICAS, CLIENTS, DIMENSION), 2.0), np.zeros((REPLICAS, CLIENTS, DIMENSION))
    for _ in range(ROUNDS):
        z = x - STEP * (_gradients(x, generator) - h)
        common = (weights * (z - STEP / PROBABILITY * h)).sum(axis=1, keepdims=True)
        coin = generator.random((REPLICAS, 1, 1)) < PROBABILITY
        x = np.where(coin, common, z)
        h = h + PROBABILITY / STEP * (x - z) * coin
    return np.asarray((weights * x).sum(axis=1))


SAMPLED = {
    "scaffold": (
        {
            "name": "scaffold",
            "local_steps": STEPS,
            "server_step_size": SERVER,
            "participation": {"kind": "uniform", "clients": DRAWN},
        },
        _scaffold,
    ),
    "scaffnew": ({"name": "scaffnew", "probability": PROBABILITY}, _scaffnew),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_sampled_paths_agree(name: str) -> None:
    """The mean and the squared distance after the last round agree with sampled paths within five standard errors."""
    keys, sample = SAMPLED[name]
    trajectory = _run(keys).trajectory
    models = sample(np.random.default_rng(11))
    optimum = trajectory.problem.optimum
    measured = np.column_stack([models, ((models - optimum) ** 2).sum(axis=1)])
    expected = np.append(trajectory.server_mean[-1], trajectory.server_distance_sq[-1])
    errors = measured.std(axis=0, ddof=1) / np.sqrt(REPLICAS)
    assert (np.abs(measured.mean(axis=0) - expected) < 5 * errors).all()
