"""Runs of two strongly convex clients for bounds on the last model, and a test that these bounds are proved."""

from __future__ import annotations

from typing import Any

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.proofs import certificate_of, check_certificate


def a_run(arithmetic: Any = RATIONAL, **changes: Any) -> Run:
    """Return two clients in one dimension with slightly different linear terms."""
    problem: dict[str, Any] = {
        "kind": "quadratic",
        "hessians": [[["1"]], [["6/5"]]],
        "linear": [["1/10"], ["-1/10"]],
        "start": ["2"],
        "noise": "1/2",
    }
    algorithm = {"local_step_size": "1/200", "local_steps": 2, "rounds": 2}
    problem |= {key: changes.pop(key) for key in (*problem, "weights") if key in changes}
    return parse_run({"problem": problem, "algorithm": algorithm | changes}, arithmetic)


DRAWN = {"kind": "uniform", "clients": 1}
RUNS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "one step in all": {"local_steps": 1, "rounds": 1},
    "one client": {"hessians": [[["2"]]], "linear": [["1"]]},
    "unequal shares": {"weights": ["1/4", "3/4"]},
    "one of two is drawn": {"participation": DRAWN},
    "two draws": {"participation": {"kind": "multinomial", "clients": 2}, "weights": ["1/4", "3/4"]},
    "from the optimum": {"linear": [["11/5"], ["11/5"]], "start": ["2"]},
}
"""Changes of the run within the conditions of the bounds."""


def is_proved(claim: Claim) -> bool:
    """Return whether the recorded certificate proves a claim, including all of its steps."""
    return check_certificate(claim, certificate_of(claim.id)).verdict == "proved"  # type: ignore[arg-type]
