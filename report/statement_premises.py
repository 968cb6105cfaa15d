"""Premises of a statement: claims that its certificate uses, and steps of its published proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims
from fedtheory.proofs.certificates_of_papers import document_for
from fedtheory.proofs.published_proofs import list_printed_steps


def list_premises(claim: Claim) -> list[str]:
    """Return the distinct ids of the claims that a claim rests on."""
    found = [*list_used_claims(claim), *list_printed_steps(claim.id)]
    return [premise for premise in dict.fromkeys(found) if premise != claim.id]


def list_used_claims(claim: Claim) -> list[str]:
    """Return the distinct ids of the claims that its certificate uses."""
    document = document_for(claim)
    named = iter(()) if document is None else _list_texts(document)
    known = all_claims()
    return [text for text in dict.fromkeys(named) if text in known and text != claim.id]


def list_dependencies(claims: Sequence[Claim]) -> list[tuple[str, str]]:
    """Return pairs of a premise and a claim that rests on it, both from the given claims."""
    ids = {claim.id for claim in claims}
    return [(premise, claim.id) for claim in claims for premise in list_premises(claim) if premise in ids]


def _list_texts(document: Any) -> Iterator[str]:
    """Yield all strings in a JSON document."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, list | dict):
        for part in document.values() if isinstance(document, dict) else document:
            yield from _list_texts(part)
