"""Check a published proof step by step: proved steps, refuted steps, and the first one that fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import prove
from fedtheory.proofs.published_proofs import list_printed_steps
from verify.counterexamples import find_counterexample, refutes

StepVerdict = Literal["proved", "fails", "not certified"]


@dataclass(frozen=True)
class PrintedStep:
    """One step of the proof as published."""

    claim: Claim
    verdict: StepVerdict

    @property
    def why(self) -> str:
        """Return the reason for the verdict."""
        if self.verdict == "proved":
            return "the kernel accepts its certificate"
        if self.verdict == "fails":
            return self.claim.note
        return f"{self.claim.verdict}: exact runs do not contradict it, and there is no certificate"


def check_published_proof(claim: Claim) -> list[PrintedStep]:
    """Check the steps of the published proof of a claim; the list is empty where the source has no proof.

    A step fails if its stored counterexample violates it in rationals.
    """
    return [PrintedStep(step, _decide_step(step)) for step in map(find, list_printed_steps(claim.id))]


def find_first_failure(steps: list[PrintedStep]) -> PrintedStep | None:
    """Return the first step that fails; None where none fails."""
    return next((step for step in steps if step.verdict == "fails"), None)


def _decide_step(step: Claim) -> StepVerdict:
    if prove(step).verdict == "proved":
        return "proved"
    run = find_counterexample(step)
    return "fails" if run is not None and refutes(step, run) else "not certified"
