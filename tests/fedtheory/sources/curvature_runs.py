"""Exact runs of clients in one dimension, shared by tests of unequal curvatures."""

from __future__ import annotations

from typing import Any

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run


def line_run(curvatures: list[str], pulls: list[str], step: str, arithmetic: Any = RATIONAL, **changes: Any) -> Run:
    """Return clients in one dimension, by default without noise and from zero."""
    problem = {
        "kind": "quadratic",
        "hessians": [[[one]] for one in curvatures],
        "linear": [[one] for one in pulls],
        "start": [changes.pop("start", "0")],
        "noise": changes.pop("noise", "0"),
        "weights": changes.pop("weights", [f"1/{len(curvatures)}"] * len(curvatures)),
    }
    algorithm = {"local_step_size": step, "local_steps": 8, "rounds": 3}
    return parse_run({"problem": problem, "algorithm": algorithm | changes}, arithmetic)
