"""Runs with data and on a line, with the comparator's values on them."""

from __future__ import annotations

from typing import Any

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run


def line_run(arithmetic: Any = RATIONAL, **changes: Any) -> Run:
    """Return clients in one dimension with different linear terms."""
    problem = {
        "kind": "quadratic",
        "hessians": [[["1"]], [["3"]]],
        "linear": [["2"], ["-1"]],
        "start": ["2"],
        "noise": "1/2",
        "weights": ["1/2", "1/2"],
    }
    algorithm = {"local_step_size": "1/20", "local_steps": 3, "rounds": 2}
    return parse_run(
        {
            "problem": problem | {key: changes.pop(key) for key in problem if key in changes},
            "algorithm": algorithm | changes,
        },
        arithmetic,
    )
