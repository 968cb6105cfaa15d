"""Certificates of bounds on the drift, by a recursion over the local steps.

Let D_k be a distance between clients after k local steps of a round, by one of
the measures; D_0 = 0.  A certificate has the parts of

    D_{k+1} <= factor(k) D_k + offset(k),      factor(k) bound(k) + offset(k) <= bound(k+1),

so that D_k <= bound(k) for k = 0 .. tau.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Term
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.distances import Measure


@dataclass(frozen=True, kw_only=True)
class Recursion:
    """A proof of a claim about the drift."""

    kind: ClassVar[str] = "recursion"
    claim: str
    """Id of the claim."""
    measure: Measure
    factor: Expr
    offset: Expr
    terms: Sequence[Term]
    """Terms whose sum is the slack of one step."""
    bound: Expr
    """The bound on D_k, for every k."""
    first: Sequence[Term] | None = None
    """Terms whose sum is the slack of ``D_1 <= bound(1)`` where all clients have the server's model, if the step is
    used from k = 1 on only; None if it is used from k = 0 on."""
    total: Expr | None = None
    """For averages over the local steps: the sum of bound(0) .. bound(k-1)."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the terms suffice; None for the claim's own."""
