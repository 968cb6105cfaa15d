"""Runs of three clients, of pairs and of images, for tests of the fixed point of second moments."""

from __future__ import annotations

from tiny_runs import data

from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.run import Run


def _recursion(run: Run) -> Recursion:
    return Recursion(run.problem, run.algorithm)


PLANE_ROWS = [[[1, 0], ["1/2", 1], [-1, 1], [0, "1/3"]], [[1, 1], [0, -1], ["1/2", 0], [1, "1/2"]]]
PLANE_VALUES = [[1, 0, 2, -1], [0, 1, 1, -2]]


def _plane(batch: int | None, rounds: int, steps: int = 2) -> Run:
    drawn = {"batch": batch, "replacement": False, "eta": "1/5", "steps": steps, "rounds": rounds}
    return data(PLANE_ROWS, PLANE_VALUES, [3, -4], **drawn).engine
