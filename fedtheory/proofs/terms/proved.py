"""Conclusion of a term: the order of an expression and zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fedtheory.kernel.expressions import Expr

Comparison = Literal["==", ">=", ">"]
"""The order of a proved expression and zero."""


@dataclass(frozen=True)
class Proved:
    """An expression with its order to zero, in the context of the term that proves it."""

    expression: Expr
    comparison: Comparison = ">="

    @property
    def is_equation(self) -> bool:
        """Whether the expression is zero."""
        return self.comparison == "=="
