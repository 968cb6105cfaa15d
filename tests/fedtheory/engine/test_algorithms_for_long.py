"""Rounding errors do not grow over many rounds: a stationary run stays stationary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import NotApplicable

QUADRATICS = ft.quadratic(
    hessians=np.array([[[1.0, 0.0], [0.0, 0.2]], [[0.3, 0.0], [0.0, 1.0]], [[0.5, 0.2], [0.2, 0.5]]]),
    linear=np.array([[1.0, 0.0], [-1.0, 2.0], [0.5, -1.0]]),
    start=np.array([4.0, -3.0]),
    noise=np.full(3, 0.1),
)
BATCHES = ft.problem_from(
    [[1.0, 0.5], [-0.5, 1.0], [0.3, -1.0], [0.7, 0.2], [-1.0, 0.1], [0.4, 0.9]],
    [1.0, 0.0, -1.0, 0.5, 0.2, 0.1],
    client=[0, 0, 1, 1, 2, 2],
    batch=1,
)
TWO_OF_THREE = {"kind": "uniform", "clients": 2}
SETTINGS = {
    "sampled": (QUADRATICS, {"name": "scaffold", "local_step_size": 0.1, "participation": TWO_OF_THREE}),
    "batches": (BATCHES, {"name": "scaffold", "local_step_size": 0.05}),
    "momentum": (BATCHES, {"name": "fedavgm", "local_step_size": 0.02, "momentum": 0.5}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_floor_is_a_floor(name: str) -> None:
    """The error after 200 rounds equals that after 400, and no divergence is reported."""
    problem, keys = SETTINGS[name]
    found = ft.simulate(ft.run_on(problem, local_steps=10, rounds=400, **keys))
    assert found.diverges is None
    assert 0 < found.suboptimality[-1] == pytest.approx(found.suboptimality[200], rel=1e-9)


def test_it_is_the_exact_one() -> None:
    """Floats agree with a few rounds in rationals."""
    problem: dict[str, Any] = {"kind": "quadratic", "hessians": [[["1"]], [["1/5"]]], "linear": [["1"], ["-1/2"]]}
    problem |= {"start": ["3"], "noise": "1/10"}
    algorithm = {"name": "scaffold", "local_step_size": "1/4", "local_steps": 2, "rounds": 6}
    algorithm["participation"] = {"kind": "uniform", "clients": 1}
    run = {"problem": problem, "algorithm": algorithm}
    exact = ft.simulate(run, arithmetic="rational").to_numpy()
    np.testing.assert_allclose(ft.simulate(run).to_numpy(), exact, rtol=1e-12)


KEEPING_NOTHING: dict[str, dict[str, Any]] = {
    "fedavgm": {"momentum": 0.5},
    "fedprox": {"proximal": 0.5},
    "fednova": {},
    "compressed": {"coordinates": 1},
}


@pytest.mark.parametrize("name", KEEPING_NOTHING)
def test_many_stateless_clients(name: str) -> None:
    """Ten thousand stateless clients of one kind equal ten of that kind with less averaged noise."""
    keys = KEEPING_NOTHING[name] | {"name": name, "local_step_size": 0.01, "local_steps": 5, "rounds": 1100}
    few, many = (
        ft.simulate(
            ft.run_on(ft.quadratic(np.ones((M, 1, 1)), np.ones((M, 1)), np.zeros(1), noise=np.full(M, M / 10)), **keys)
        )
        for M in (10, 10_000)
    )
    assert many.suboptimality[-1] == pytest.approx(few.suboptimality[-1], rel=1e-9)


def test_local_iterates_that_are_too_many() -> None:
    """Local iterates that do not fit into memory are rejected."""
    problem = ft.quadratic(np.ones((10_000, 1, 1)), np.ones((10_000, 1)), np.zeros(1))
    run = ft.run_on(problem, name="fedprox", proximal=1, local_step_size=0.01, local_steps=9, rounds=1100)
    with pytest.raises(NotApplicable, match="local iterates"):
        _ = run.trajectory.drift
