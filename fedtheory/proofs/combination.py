"""Claims about a run that follow from others: sums of proved inequalities and of facts about quantities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.parts import Part
from fedtheory.proofs.roots import Root


@dataclass(frozen=True, kw_only=True)
class Combination:
    """Why a claim about a run follows from others."""

    claim: str
    """Id of the claim."""
    links: Sequence[Sequence[Part]]
    """Parts that add up to the slack of each relation."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the parts suffice; None for the claim's own."""
    known: Sequence[Derived] = ()
    """Proved inequalities between numbers, under which the signs of coefficients are decided."""
    roots: Sequence[Root] = ()
    """Symbols for the square roots in the claim, for the coefficients of parts."""
