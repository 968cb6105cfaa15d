"""Claims that are known ones in other symbols, or under stronger conditions: the recorded certificate is theirs too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fedtheory.kernel.work import spend
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate
from fedtheory.proofs.document import document_of
from fedtheory.proofs.recorded import certificate_of
from fedtheory.search.outcome import Found
from fedtheory.search.premises import KnownClaim


def reuse_certificate(claim: Claim, known: KnownClaim) -> Found | None:
    """The proof of a claim by the certificate of a known one, if the kernel accepts it.

    A document names quantities and no symbols, so it needs no renaming.  It serves claims that no sum of premises
    shows, such as those with a maximum in them.
    """
    recorded = find(known.claim.id)
    certificate = certificate_of(recorded.id)
    if certificate is None:
        return None
    supposing = replace(claim, assumptions=(*claim.assumptions, *known.missing)) if known.missing else claim
    document = _renamed(document_of(recorded, certificate), recorded.id, claim.id)
    proof = check_certificate(supposing, document)
    spend(sum(proof.work.values()))
    return Found(proof, [recorded.id], known.missing, 0) if proof.verdict == "proved" else None


def _renamed(entry: Any, name: str, other: str) -> Any:
    """A document that concerns another claim."""
    if isinstance(entry, Mapping):
        return {
            key: other if key == "claim" and value == name else _renamed(value, name, other)
            for key, value in entry.items()
        }
    return [_renamed(one, name, other) for one in entry] if isinstance(entry, list) else entry
