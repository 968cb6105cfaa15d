"""The Rocq theorem of a claim, and its file, which the page offers for download."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.language.claim import Claim
from fedtheory.language.registry import find_publisher
from verify.rocq.accepted import Checked, load_accepted
from verify.rocq.export import export_id
from verify.rocq.project import render_file


@dataclass(frozen=True)
class TheoremSection:
    """Section on the theorem that Rocq has accepted."""

    accepted: Checked
    file: str
    """File name of the theorem with its proof."""
    content: str
    """Content of the file."""


def make_theorem_section(claim: Claim) -> TheoremSection | None:
    """Return the section of a paper's claim; None if Rocq has not accepted it."""
    accepted = find_accepted(claim)
    if accepted is None:
        return None
    return TheoremSection(accepted, f"{accepted.theorem}.v", render_file(export_id(claim.id)))


def find_accepted(claim: Claim) -> Checked | None:
    """Return the entry of a paper's claim in the list of accepted theorems."""
    return load_accepted().get(claim.id) if find_publisher(claim) is not None else None
