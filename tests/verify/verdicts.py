"""Default verdicts, without options."""

from __future__ import annotations

from fedtheory import Claim
from verify.claim_verdict import ClaimVerdict
from verify.verdict import verify

SEARCH = 10
"""Default search budget of `fedtheory verify`."""


def verdict_by_default(claim: Claim, *, longer: int = 1) -> ClaimVerdict:
    """The verdict on one claim user-defined; `longer` multiplies the search."""
    (found,) = verify([claim], search=longer * SEARCH)
    return found


def is_refuted(claim: Claim, *, longer: int = 1) -> bool:
    """Return whether the verdict is "refuted", by a run that applies and violates the claim when checked again."""
    found = verdict_by_default(claim, longer=longer)
    if found.verdict != "refuted":
        return False
    assert found.evidence is not None
    assert found.evidence.applicable
    assert found.evidence.holds is False
    return True
