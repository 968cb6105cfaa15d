"""The search for a proof of a user-defined claim, before runs are searched for a violation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fedtheory.engine.run import Run
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.setting import setting_line
from fedtheory.search import Found, find_proof

EFFORT = 3 * 10**7
"""Units of work, some seconds; `fedtheory prove` may take more."""


@dataclass(frozen=True)
class FoundProof:
    """A certificate that a search found, as plain data: it travels between processes and lasts in files."""

    uses: tuple[str, ...]
    """The proved claims and facts that it rests on."""
    supposed: tuple[str, ...]
    """Names of the assumptions that it needs and the claim does not make."""
    setting: str
    """The argument with which the claim states all its assumptions and these."""


def search_proof(claim: Claim) -> tuple[FoundProof | None, Claim]:
    """Look for a certificate; the returned claim mentions the runs that it does not cover.

    These are the runs on which an assumption fails that the certificate needs and the claim does not make.
    """
    found = find_proof(claim, EFFORT)
    if not isinstance(found, Found):
        return None, claim
    names = tuple(one.name for one in found.supposed)
    proof = FoundProof(tuple(found.uses), names, setting_line(found.proof.claim))
    return proof, _negate_assumptions(claim, found.supposed) if names else claim


def find_premises(claim: Claim) -> tuple[str, ...] | None:
    """The proved claims and facts that a claim follows from as it stands; None where a search finds no certificate."""
    proof, _ = search_proof(claim)
    return None if proof is None or proof.supposed else proof.uses


def _negate_assumptions(claim: Claim, supposed: Sequence[Assumption]) -> Claim:
    def require(run: Run) -> bool:
        return any(assumption.failure(run) is not None for assumption in supposed)

    names = " and ".join(assumption.name for assumption in supposed)
    fails = Assumption(f"not {names}", f"One of these does not hold: {names}.", require)
    return replace(claim, assumptions=(fails, *claim.assumptions))
