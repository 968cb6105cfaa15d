"""The conclusion of a term: the comparison of an expression with zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fedtheory.kernel.expressions import Expr

Comparison = Literal["==", ">=", ">"]
"""Comparison of a proved expression with zero."""


@dataclass(frozen=True)
class Proved:
    """An expression compared with zero, in the context of the term that proves it."""

    expression: Expr
    comparison: Comparison = ">="

    @property
    def is_equation(self) -> bool:
        """Whether the expression is zero."""
        return self.comparison == "=="
