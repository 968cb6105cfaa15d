"""A problem in one dimension whose two clients differ in curvature and linear term, as a table of a run file."""

from __future__ import annotations

from typing import Any

LINE: dict[str, Any] = {
    "kind": "quadratic",
    "hessians": [[["1"]], [["3"]]],
    "linear": [["2"], ["-1"]],
    "start": ["2"],
    "noise": "1/2",
    "weights": ["1/2", "1/2"],
}
