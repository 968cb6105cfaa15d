"""Conditions that order two numbers."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr


def slack(condition: Expr) -> Expr:
    """How far a condition is from failing, negative where it fails; for <, <=, > and >= only."""
    smaller, larger = ends(condition)
    return larger - smaller


def is_ordering(condition: Expr) -> bool:
    """Whether a condition is one of <, <=, > and >=."""
    return isinstance(condition, sp.Le | sp.Lt | sp.Ge | sp.Gt)


def ends(condition: Expr) -> tuple[Expr, Expr]:
    """The side that is smaller, and the other one."""
    ascending = isinstance(condition, sp.Le | sp.Lt)
    return (condition.lhs, condition.rhs) if ascending else (condition.rhs, condition.lhs)
