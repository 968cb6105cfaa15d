"""The result of a search for a proof: a document that the kernel accepts, or the reason for which there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.assumptions import Assumption
from fedtheory.proofs.proof import Proof


@dataclass(frozen=True)
class Found:
    """A proof that was found, as the kernel checks it."""

    proof: Proof
    """About the claim with the assumptions that had to be supposed."""
    uses: Sequence[str]
    """Ids of the proved claims, and names of the facts, that the certificate rests on."""
    supposed: Sequence[Assumption]
    """Assumptions that the claim does not make; it names the constant of each."""
    work: int


@dataclass(frozen=True)
class NotFound:
    """No certificate of the families that were tried; this refutes nothing."""

    reason: str
    nearest: str | None = None
    """The id of the proved claim whose bound is closest to the claim."""
    below: Mapping[sp.Symbol, Expr] | None = None
    """Numbers that satisfy the conditions, at which the claim is below every known bound."""
    work: int = 0
    is_exhausted: bool = False
    """Whether the budget ended before the families did."""
