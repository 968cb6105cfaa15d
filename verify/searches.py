"""Search for a proof of a user-defined claim, then for a violation where the proof does not reach."""

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
    """None where a proof that supposes nothing leaves no run to search."""


def search_proof_and_violation(target: Target, seconds: float) -> Searches:
    """Search for a proof, then for a violation with so many seconds of counted work; a recorded proof needs neither."""
    claim = resolve(target)
    if prove(claim).verdict == "proved":
        return Searches()
    proof, rest = search_proof(claim) if claim.rate is None else (None, claim)
    if proof is None:
        return Searches(None, search_quickly(claim, seconds))
    return Searches(proof, search_further(rest, seconds) if proof.supposed else None)
