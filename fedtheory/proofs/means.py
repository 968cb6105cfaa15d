"""Certificates of claims about rounds or runs as averages of a claim about each local step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import sympy as sp

from fedtheory.kernel.expressions import Expr

Span = Literal["round", "run"]


@dataclass(frozen=True, kw_only=True)
class MeanCertificate:
    """A claim about rounds or a run as the average, over the local steps, of a proved claim about each of them."""

    kind: ClassVar[str] = "mean"
    claim: str
    """Id of the claim."""
    step: str
    """Id of the claim about each local step."""
    span: Span
    potential: Expr | None = None
    """A potential c(k), a number of the local step for each client or for all: a step replaces c(k) times the average
    squared distance of the clients from their average by c(k+1) times the one after the step; it is zero at the end
    of a round."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the step is proved as well; None for the claim's own."""
