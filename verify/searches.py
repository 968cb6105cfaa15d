"""Search for a proof of a user-defined claim, then for a violation on the runs that the proof does not cover."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.language.targets import Target, resolve
from fedtheory.proofs import prove
from verify.falsify import QuickSearch, search_further, search_quickly
from verify.proof_search import FoundProof, search_proof


@dataclass(frozen=True)
class Searches:
    """Results of the two searches."""

    proof: FoundProof | None = None
    violation: QuickSearch | None = None
    """Result of the second search; None where an unconditional proof leaves no run to search."""


def search_proof_and_violation(target: Target, seconds: float) -> Searches:
    """Search for a proof, then for a violation within `seconds` of counted work; a stored proof makes both
    unnecessary.
    """
    claim = resolve(target)
    if prove(claim).verdict == "proved":
        return Searches()
    proof, rest = search_proof(claim) if claim.rate is None else (None, claim)
    if proof is None:
        return Searches(None, search_quickly(claim, seconds))
    return Searches(proof, search_further(rest, seconds) if proof.supposed else None)
