"""The problems of tiny runs: unequal clients, with small fractions that can be enumerated."""

from __future__ import annotations

from typing import Any

LINE: dict[str, Any] = {"hessians": [[["2"]], [["1/2"]]], "linear": [["1"], ["-3"]], "start": ["3/2"]}
THREE: dict[str, Any] = {
    "hessians": [[["2"]], [["1/2"]], [["1"]]],
    "linear": [["1"], ["-3"], ["2"]],
    "start": ["3/2"],
    "importance": ["1/2", "1/3", "1/6"],
    "eta": ["1/4", "1/3", "1/5"],
}
PLANE: dict[str, Any] = {
    "hessians": [[["2", "1/2"], ["1/2", "1"]], [["1", "-1"], ["-1", "3"]]],
    "linear": [["1", "0"], ["-1", "2"]],
    "start": ["3", "-2"],
}

ROWS: tuple[Any, Any] = ([[["1/2"], [1], [-1]], [[1], ["1/3"], [2]]], [[1, 0, 2], [0, 1, -2]])
"""Inputs and outputs of two clients with three rows each."""
WIDE: tuple[Any, Any] = ([[["1/2", 1], [1, 0], [-1, 2]], [[1, 1], ["1/3", 0], [0, 2]]], [[1, 0, 2], [0, 1, 1]])
"""The same with two inputs."""
