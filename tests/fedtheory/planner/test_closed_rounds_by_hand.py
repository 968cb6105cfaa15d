"""Step sizes up to which expected models cannot diverge, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedtheory import FLOAT
from fedtheory.planner.closed_rounds import ClosedRounds
from fedtheory.runfile import parse_run


@pytest.mark.parametrize(
    ("curvatures", "step_size", "steps", "server", "expected"),
    [
        ((2,), "1/4", 3, "1", 4),
        ((2,), "1/4", 3, "2", 2 / 3),
        ((2, 8), "1/4", 1, "1", 8 / 5),
        ((2, 8), "1/4", 3, "1", 1),
        ((2, 8), "1/4", 3, "2", 2 / (2 * 3 * 5 / 4)),
    ],
)
def test_factors_up_to_which_no_direction_overshoots(
    curvatures: tuple[int, ...], step_size: str, steps: int, server: str, expected: float
) -> None:
    """The bound is two over the step size times the largest curvature, or times the average total step."""
    problem = {
        "kind": "quadratic",
        "hessians": [[[str(curvature), "0"], ["0", "1"]] for curvature in curvatures],
        "linear": [["0", "0"] for _ in curvatures],
        "start": ["1", "1"],
    }
    algorithm = {"local_step_size": step_size, "local_steps": steps, "server_step_size": server, "rounds": 2}
    run = parse_run({"problem": problem, "algorithm": algorithm}, FLOAT, Path())
    assert ClosedRounds(run).safe_factor == pytest.approx(expected)
