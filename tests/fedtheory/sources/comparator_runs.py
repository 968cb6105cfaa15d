"""Runs with data and on a line, with the comparator's values on them."""

from __future__ import annotations

from typing import Any

from line_problem import LINE

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run


def line_run(arithmetic: Any = RATIONAL, **changes: Any) -> Run:
    """Return clients in one dimension with different linear terms."""
    algorithm = {"local_step_size": "1/20", "local_steps": 3, "rounds": 2}
    return parse_run(
        {
            "problem": LINE | {key: changes.pop(key) for key in LINE if key in changes},
            "algorithm": algorithm | changes,
        },
        arithmetic,
    )
