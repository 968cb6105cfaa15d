"""The theorem of a claim that another judge has accepted, and its file, which the page offers for download."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.language.claim import Claim
from fedtheory.language.registry import published_by
from verify.rocq.accepted import Checked, checked
from verify.rocq.export import export_id
from verify.rocq.project import text_of


@dataclass(frozen=True)
class TheoremSection:
    """Section on the theorem that Rocq has accepted."""

    accepted: Checked
    file: str
    """The theorem with its proof as a file of the site."""
    content: str
    """Content of the file."""


def theorem_section(claim: Claim) -> TheoremSection | None:
    """The section of a paper's claim; None where the claim is not on the list of those that Rocq has accepted."""
    accepted = accepted_of(claim)
    if accepted is None:
        return None
    return TheoremSection(accepted, f"{accepted.theorem}.v", text_of(export_id(claim.id)))


def accepted_of(claim: Claim) -> Checked | None:
    """The entry of a paper's claim on the list."""
    return checked().get(claim.id) if published_by(claim) is not None else None
