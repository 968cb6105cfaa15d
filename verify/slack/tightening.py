"""Searches for smaller constants of proved bounds, and keeps them with their certificates."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import sympy as sp

from fedtheory.language.claim import Claim
from fedtheory.proofs.document import Document
from fedtheory.search import Tightened, tighten
from verify.slack.bound_parts import has_parts, select_lowerable_parts
from verify.slack.tightened_constants import bound_with, locate_tightened_file

EFFORT = 3 * 10**7
"""Units of work of each search, which take one to three seconds."""


def find_tightened(claim: Claim, effort: int = EFFORT) -> tuple[Mapping[str, sp.Rational], Document] | None:
    """Search for smaller constants of a bound; return them with their certificate, or None if none is proved."""
    parts = {part.expression.as_coeff_Mul()[1]: part.name for part in select_lowerable_parts(claim)}
    found = tighten(bound_with(claim, {}), effort)
    if not isinstance(found, Tightened) or found.found.proof.document is None:
        return None
    terms = [term for term in found.terms if term.term in parts]
    if all(term.proved == term.stated for term in terms) or len(terms) < len(found.terms):
        return None
    return {parts[term.term]: term.proved for term in terms}, found.found.proof.document


def regenerate_tightened(claim: Claim, on_found: Callable[[str], None]) -> None:
    """Write the smallest constants of a bound that the search proves; remove the file if none is smaller."""
    file = locate_tightened_file(claim)
    if file is None or not has_parts(claim):
        return
    found = find_tightened(claim)
    if found is None:
        file.unlink(missing_ok=True)
        return
    constants, certificate = found
    texts = {name: str(number) for name, number in constants.items()}
    file.write_text(json.dumps({"constants": texts, "certificate": certificate}, indent=1) + "\n")
    on_found(f"{claim.id}: {texts}")
