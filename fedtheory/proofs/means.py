"""Means over local steps: certificates of claims about rounds or runs by a claim about each local step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import sympy as sp

from fedtheory.kernel.expressions import Expr

Span = Literal["round", "run"]


@dataclass(frozen=True, kw_only=True)
class MeanCertificate:
    """A claim about rounds or a run that is the mean, over the local steps, of a proved claim about each of them."""

    claim: str
    """Id of the claim."""
    step: str
    """Id of the claim about each local step."""
    span: Span
    potential: Expr | None = None
    """A number c(k) of the local step, of each client or of all, by which a step trades c(k) times how far the clients
    are apart, in mean square, for c(k+1) times how far they are after it; nothing is left of the trade at the end
    of a round."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the step is proved as well; None for the claim's own."""
