"""The published proofs of the sources: the claims that are their steps, in the order of the pages."""

from __future__ import annotations

from fedtheory.language.registry import find_paper


def list_printed_steps(claim_id: str) -> tuple[str, ...]:
    """Return ids of the steps of the published proof of a claim, in order; empty if the source has no proof of it."""
    key, _, name = claim_id.partition(":")
    paper = find_paper(key)
    steps = "" if paper is None else paper.source.printed_proofs.get(name, "")
    return tuple(f"{key}:{step}" for step in steps.split())
