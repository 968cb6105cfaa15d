"""Algorithms given by definitions on linear models, against plain loops, and moments for quadratic losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.errors import InputError, NotApplicable
from fedtheory.language import quantities as q
from fedtheory.runfile import parse_run

CLIENTS, ROWS, FEATURES = 3, 5, 2
GENERATOR = np.random.default_rng(5)
INPUTS = GENERATOR.standard_normal((CLIENTS, ROWS, FEATURES))
CLASSES = (GENERATOR.random((CLIENTS, ROWS)) < 0.5).astype(int)
TARGETS = GENERATOR.standard_normal((CLIENTS, ROWS))
MIXING = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
ALGORITHMS: dict[str, dict[str, Any]] = {
    "scaffold": {},
    "scaffold, some clients": {"name": "scaffold", "participation": {"kind": "uniform", "clients": 2}},
    "fednova": {"local_steps": [1, 2, 3]},
    "fedprox": {"proximal": 0.5},
    "fedavgm": {"momentum": 0.6, "nesterov": True},
    "dsgd": {"mixing": MIXING, "local_steps": 1},
    "scaffnew": {"probability": 0.4, "local_steps": 1},
    "compressed": {"coordinates": 1},
    "changing steps": {"name": "fedavg", "local_step_size": "1/(10 + 2*n)"},
}
RANDOM = ("scaffold, some clients", "scaffnew", "compressed")


def _run(name: str, problem: dict[str, Any], rounds: int = 6) -> Any:
    keys = {"name": name, "local_step_size": 0.08, "local_steps": 2, "rounds": rounds, **ALGORITHMS[name]}
    return parse_run({"problem": {"start": [1.0, -2.0], "ridge": 0.2, **problem}, "algorithm": keys}, FLOAT)


def _on_models(name: str) -> LinearModelRun:
    """Return a run with Huber's loss of large width, which is quadratic."""
    root = np.sqrt(2)
    rows = {"inputs": (root * INPUTS).tolist(), "outputs": (root * TARGETS).tolist()}
    run = _run(name, {"kind": "huber", "width": 1e6, **rows})
    assert isinstance(run, LinearModelRun)
    return run


@pytest.mark.parametrize("name", ALGORITHMS)
def test_quadratic_losses_have_the_moments_of_quadratics(name: str) -> None:
    """Results agree to 1e-9 relative without randomness, else within five standard errors."""
    found = _on_models(name)
    expected = _run(name, {"kind": "least-squares", "inputs": INPUTS.tolist(), "outputs": TARGETS.tolist()})
    assert found.is_estimated == (name in RANDOM)
    for measured in ("server_suboptimality", "server_distance_sq", "server_gradient_sq"):
        exact = getattr(expected.trajectory, measured)
        if name not in RANDOM:
            np.testing.assert_allclose(getattr(found.trajectory, measured), exact, rtol=1e-9, err_msg=measured)
        else:
            estimate = found.trajectory.interval(measured.removeprefix("server_"))
            assert (np.abs(estimate.mean - exact) <= 5 * estimate.standard_error + 1e-9 * exact).all(), measured
    assert found.trajectory.divergence is None


def test_scaffold_is_the_plain_loop() -> None:
    """SCAFFOLD agrees with a plain loop on logistic regression with full gradients."""
    run = _run("scaffold", {"kind": "logistic", "inputs": INPUTS.tolist(), "outputs": CLASSES.tolist()})
    signs = 2.0 * CLASSES - 1
    x, common, own = np.array([1.0, -2.0]), np.zeros(FEATURES), np.zeros((CLIENTS, FEATURES))
    for n in range(7):
        np.testing.assert_allclose(run.trajectory.server_mean[n], x, rtol=0, atol=1e-13)
        ends, changes = [], []
        for i in range(CLIENTS):
            y = x
            for _ in range(2):
                margins = signs[i] * (INPUTS[i] @ y)
                gradient = -(signs[i] / (1 + np.exp(margins))) @ INPUTS[i] / ROWS + 0.2 * y
                y = y - 0.08 * (gradient - own[i] + common)
            ends.append(y)
            changes.append((x - y) / 0.16 - common)
        own = own + np.array(changes)
        common = common + np.mean(changes, axis=0)
        x = np.mean(ends, axis=0)
    assert not run.is_estimated
    assert run.trajectory.interval("accuracy").mean.shape == (7,)


def test_batches_are_estimated_with_intervals() -> None:
    run = _run("scaffold", {"kind": "logistic", "inputs": INPUTS.tolist(), "outputs": CLASSES.tolist(), "batch": 2})
    estimate = run.trajectory.interval("loss")
    assert run.is_estimated
    assert (estimate.low[1:] < estimate.high[1:]).all()


def test_local_steps_are_those_of_the_update_rule() -> None:
    """Averaged iterates and stale models are rejected with a reason."""
    run = _on_models("scaffold")
    with pytest.raises(NotApplicable, match="scaffold is not a setting of it"):
        q.max_drift.on(run)
    keys = {"clock": {"policy": "async"}, "name": "fedprox", "proximal": 1, "local_step_size": 0.1, "rounds": 2}
    problem = {"kind": "logistic", "inputs": INPUTS.tolist(), "outputs": CLASSES.tolist(), "ridge": 0.1}
    with pytest.raises(InputError, match="expected a setting of fedavg where rounds do not wait"):
        parse_run({"problem": problem, "algorithm": keys}, FLOAT)
    keys = {"aggregation": [0, 0.5, 0.5], "name": "scaffold", "local_step_size": 0.1, "rounds": 2}
    with pytest.raises(InputError, match="expected positive numbers with scaffold"):
        parse_run({"problem": problem, "algorithm": keys}, FLOAT)
