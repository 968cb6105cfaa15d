"""Attempts to prove a false claim: the claim, the invalid proof, and a run on which the claim fails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from fedtheory import RATIONAL, parse_run
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate, Combination
from verify.check import check

TWO_CLIENTS: dict[str, Any] = {"hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["1"]}


@dataclass(frozen=True)
class Attempt:
    """A false claim, an invalid proof, and a run on which the claim fails."""

    claim: Claim
    certificate: Any
    because: str
    """Reason for which the kernel must reject the proof."""
    problem: Any
    algorithm: Any

    @property
    def fails(self) -> bool:
        """Return whether the claim is false on the run."""
        problem = {"kind": "quadratic", **TWO_CLIENTS, **self.problem}
        algorithm = {"local_step_size": "1/4", "rounds": 2, "local_steps": 2, **self.algorithm}
        return check(self.claim, parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)).holds is False


def attempt(
    kind: Any, parts: dict[str, Any], because: str, problem: Any = (), algorithm: Any = (), **claim: Any
) -> Any:
    """Return an attempt for a claim given by its parts."""
    stated = Claim(id="t:false", **claim)
    return Attempt(stated, kind(claim=stated.id, **parts), because, dict(problem), dict(algorithm))


terms = partial(attempt, Certificate)
sums = partial(attempt, Combination)
