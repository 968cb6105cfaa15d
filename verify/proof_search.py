"""The search for a proof that ends the check of a claim of one's own."""

from __future__ import annotations

from fedtheory.language.claim import Claim
from fedtheory.search import Found, find_proof

EFFORT = 3 * 10**7
"""Units of work, some seconds; `fedtheory prove` may take more."""


def is_provable(claim: Claim) -> bool:
    """Whether a search finds a certificate of the claim as it stands, with no assumption besides its own."""
    return find_premises(claim) is not None


def find_premises(claim: Claim) -> tuple[str, ...] | None:
    """The proved claims and facts that a claim follows from as it stands; None where a search finds no certificate."""
    found = find_proof(claim, EFFORT)
    return tuple(found.uses) if isinstance(found, Found) and not found.supposed else None
