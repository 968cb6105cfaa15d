"""Results of a search for a proof: a document that the kernel accepts, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.assumptions import Assumption
from fedtheory.proofs.proof import Proof


@dataclass(frozen=True)
class Found:
    """A proof that the search found and the kernel accepted."""

    proof: Proof
    """The proof of the claim under its own and the added assumptions."""
    uses: Sequence[str]
    """Ids of the proved claims and names of the facts that the certificate uses."""
    supposed: Sequence[Assumption]
    """Assumptions that the search added; the claim names the constant of each."""
    work: int
    """Counted work of the search."""


@dataclass(frozen=True)
class NotFound:
    """The result of a search without a proof; it does not refute the claim."""

    reason: str
    nearest: str | None = None
    """The id of the proved claim whose bound is closest to that of the claim."""
    below: Mapping[sp.Symbol, Expr] | None = None
    """Numbers that satisfy the conditions and for which the claimed bound is below every known bound."""
    work: int = 0
    """Counted work of the search."""
    is_exhausted: bool = False
    """Whether the budget ended before the search did."""
