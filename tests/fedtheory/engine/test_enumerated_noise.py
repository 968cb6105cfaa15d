"""The engine against all outcomes of two-point noise, as equal rationals."""

from __future__ import annotations

from typing import Any

import pytest
import tiny_shapes as shapes
from tiny_runs import assert_local_agrees, assert_server_agrees, quadratics

LINE = shapes.LINE | {"constants": ["1/3", "-2"]}
PLANE = shapes.PLANE | {"constants": ["0", "5"]}

SETTINGS: dict[str, dict[str, Any]] = {
    "line, one step": LINE | {"deviation": 1, "rounds": 3},
    "line, three steps": LINE | {"deviation": "1/2", "steps": 3, "rounds": 2},
    "line, noise of one client": LINE | {"deviation": [2, 0], "steps": 2, "rounds": 3},
    "line, no noise": LINE | {"steps": 3, "rounds": 3},
    "line, unequal weights": LINE | {"deviation": [1, 3], "importance": ["1/5", "4/5"], "steps": 2, "rounds": 2},
    "line, unequal step sizes": LINE | {"deviation": [1, "1/3"], "eta": ["1/3", "1/7"], "steps": 2, "rounds": 2},
    "line, server step": LINE | {"deviation": [1, 2], "steps": 2, "rounds": 2, "server": "3/2"},
    "line, everything": LINE
    | {
        "deviation": [1, 2],
        "importance": ["2/3", "1/3"],
        "eta": ["1/2", "2/9"],
        "steps": 3,
        "rounds": 2,
        "server": "1/2",
    },
    "line, too large a step": LINE | {"deviation": 1, "eta": 3, "steps": 2, "rounds": 2},
    "line, one client": LINE
    | {"hessians": [[["2"]]], "linear": [["1"]], "constants": [0]}
    | {"deviation": 1, "steps": 3, "rounds": 3},
    "plane, one step": PLANE | {"deviation": 1, "rounds": 2},
    "plane, two steps": PLANE | {"deviation": [1, 2], "steps": 2, "rounds": 1},
    "plane, server step and weights": PLANE
    | {"deviation": [1, 2], "importance": ["1/4", "3/4"], "server": "5/4", "eta": ["1/5", "1/8"], "rounds": 2},
    "plane, two steps and rounds": PLANE
    | {"deviation": ["1/2", 0], "steps": 2, "rounds": 2, "importance": ["3/5", "2/5"]},
    "plane, no noise": PLANE | {"steps": 3, "rounds": 3},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_server_expectations(name: str) -> None:
    """Mean, suboptimality, distance and gradient of the server's model agree."""
    assert_server_agrees(quadratics(**SETTINGS[name]))


@pytest.mark.parametrize("name", SETTINGS)
def test_local_expectations(name: str) -> None:
    """Suboptimality and distance of the averaged iterate, and every client's drift, agree."""
    assert_local_agrees(quadratics(**SETTINGS[name]))


@pytest.mark.parametrize("steps", [(1, 2), (3, 1), (2, 3)])
@pytest.mark.parametrize("shape", [LINE, PLANE], ids=["line", "plane"])
def test_unequal_local_steps(shape: dict[str, Any], steps: tuple[int, int]) -> None:
    """Clients with different numbers of steps, and unequal weights, step sizes and noise, agree."""
    small = shape is LINE
    pair = quadratics(
        **shape,
        deviation=[1, 2],
        steps=steps,
        eta=["1/4", "1/6"],
        importance=["1/3", "2/3"],
        server="3/4",
        rounds=2 if small else 1,
    )
    assert_server_agrees(pair)
    assert pair.engine.algorithm.work.common_steps is None


def test_the_two_sides_can_differ() -> None:
    """With another noise variance of one client the numbers differ, so that the comparison is not vacuous."""
    right, wrong = (quadratics(**LINE, deviation=[1, d], rounds=2) for d in (1, "11/10"))
    mismatched = type(right)(wrong.engine, right.tiny)
    with pytest.raises(AssertionError):
        assert_server_agrees(mismatched)
