"""The numbers of a proof: which letters are numbers, and where they lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from fedtheory.expressions import Expr


class Rejected(Exception):
    """An expression outside the kernel's language, or a reason outside the theory."""


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Numbers that all clients share; their signs are what SymPy is told of them."""

    letters: frozenset[sp.Symbol] = frozenset()
    at_least: Mapping[sp.Symbol, int] = field(default_factory=dict)
    """Of these, the ones with a lower bound: there is at least one client."""
    may_vanish: frozenset[sp.Symbol] = frozenset()
    """Of these, the ones that may be zero, whatever SymPy is told: they cannot be divided by."""

    def plain(self, number: Expr) -> Expr:
        """A number that is the same for all clients, so that it may leave a mean over them."""
        number = sp.sympify(number)
        unknown = number.free_symbols - self.letters
        if unknown:
            raise Rejected(f"{', '.join(sorted(map(str, unknown)))} is no number that all clients share")
        if number.atoms(sp.Float) or number.has(sp.oo, -sp.oo, sp.zoo, sp.nan):
            raise Rejected(f"{number} is not exact, or not finite")
        return number
