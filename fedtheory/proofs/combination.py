"""Proofs of claims about a run as sums of proved inequalities and of facts about quantities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.parts import Part
from fedtheory.proofs.roots import Root


@dataclass(frozen=True, kw_only=True)
class Combination:
    """A proof of a claim about a run from others."""

    kind: ClassVar[str] = "combination"
    claim: str
    """Id of the claim."""
    links: Sequence[Sequence[Part]]
    """Parts whose sum is the slack of each relation."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the parts suffice; None for the claim's own."""
    known: Sequence[Derived] = ()
    """Inequalities between numbers that are proved first, and then used to decide signs of coefficients."""
    roots: Sequence[Root] = ()
    """Symbols for the square roots in the claim, for use in coefficients of parts."""
