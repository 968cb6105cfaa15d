"""Premises of a claim, defaults included: a paper's claim is about the update rule unless it names an algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fedtheory.engine.run import Run
from fedtheory.language.assumptions import Assumption, OfAlgorithm, update_rule
from fedtheory.language.claim import Claim


def premises(claim: Claim) -> tuple[Assumption, ...]:
    """Return the assumptions of a claim; a paper's claim without an algorithm is about the update rule."""
    names_one = any(isinstance(assumption, OfAlgorithm) for assumption in claim.assumptions)
    return tuple(claim.assumptions) if names_one or not claim.is_published else (update_rule, *claim.assumptions)


@dataclass(frozen=True)
class Exclusion:
    """The reason why a claim does not apply to a run.

    It is an assumption or condition that fails, or an undefined quantity.
    """

    name: str
    """Name of the assumption or of the quantity, or the condition in words."""
    reason: str
    is_assumption: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}" if self.is_assumption else self.reason


def list_failed_premises(claim: Claim, run: Run) -> list[Exclusion]:
    """Return each assumption that fails on a run, with its reason; raise `Unresolved` if floats cannot decide.

    If the run has another algorithm, nothing else is checked.
    """
    return list_failures_among(premises(claim), run)


def list_failures_among(assumptions: Sequence[Assumption], run: Run) -> list[Exclusion]:
    """Return each of these assumptions that fails on a run, with its reason."""
    failures = []
    for assumption in assumptions:
        reason = assumption.failure(run)
        if reason is not None:
            failures.append(Exclusion(assumption.name, reason, is_assumption=True))
            if isinstance(assumption, OfAlgorithm):
                break
    return failures
