"""Objectives without curvature have no step size 1/L: their plans scale step sizes by the planned one."""

from __future__ import annotations

from typing import Any

import pytest

from fedtheory import parse_run
from fedtheory.arithmetic import FLOAT
from fedtheory.planner import plan

FLAT: dict[str, dict[str, Any]] = {
    "constant": {"kind": "quadratic", "hessians": [[["0"]], [["0"]]], "linear": [["0"], ["0"]], "start": ["10"]},
    "opposite slopes": {"kind": "quadratic", "hessians": [[["0"]]] * 2, "linear": [["1"], ["-1"]], "start": ["1"]},
    "rows of zeros": {"kind": "least-squares", "inputs": [[["0"]] * 2], "outputs": [["1", "0"]], "start": "zeros"},
}


@pytest.mark.parametrize("name", FLAT)
def test_a_plan_without_curvature_has_an_answer(name: str) -> None:
    """F is constant, so that each step size has the error zero, and a bound covers the recommended run."""
    algorithm = {"local_step_size": "1/8", "local_steps": 2, "rounds": 2}
    found = plan(parse_run({"problem": FLAT[name], "algorithm": algorithm}, FLOAT), 1.0)
    assert found.answer is not None
    assert found.answer.best.error == 0
    assert found.answer.best.step_size > 0
    assert found.answer.promise is not None
    assert found.answer.is_covered
