"""The search for a proof that ends the check of a claim of one's own."""

from __future__ import annotations

from fedtheory.language.claim import Claim
from fedtheory.search import Found, find_proof

EFFORT = 3 * 10**7
"""Units of work, some seconds; `fedtheory prove` may take more."""


def is_provable(claim: Claim) -> bool:
    """Whether a search finds a certificate of the claim as it stands, with no assumption besides its own."""
    found = find_proof(claim, EFFORT)
    return isinstance(found, Found) and not found.supposed
