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
    """A proof that was found, as checked by the kernel."""

    proof: Proof
    """The proof of the claim, with the added assumptions."""
    uses: Sequence[str]
    """Ids of the proved claims, and names of the facts, that the certificate uses."""
    supposed: Sequence[Assumption]
    """Assumptions that were added to the claim, which names the constant of each."""
    work: int


@dataclass(frozen=True)
class NotFound:
    """No certificate was found by the searches; this refutes nothing."""

    reason: str
    nearest: str | None = None
    """The id of the proved claim whose bound is closest to the claim."""
    below: Mapping[sp.Symbol, Expr] | None = None
    """Numbers that satisfy the conditions, for which the claim is below every known bound."""
    work: int = 0
    is_exhausted: bool = False
    """Whether the budget ended before the search did."""
