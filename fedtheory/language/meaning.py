"""Checks that expressions have a value at the place of their claim."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expectation, Expr, Gradient, Inner, LocalSum, PastSum, Selected, Value


def require_meaning(expression: Expr, place: str) -> None:
    """Raise `ValueError` if an expression has no value at the place of its claim.

    On a whole run there are no vectors.  In expectation, every inner product and
    function value is inside an `Expectation` whose argument is linear in them:
    second moments do not determine higher ones.  On a path or at points nothing is
    random.  Over the outcomes of a round everything has a value.
    """
    if place == "round":
        return
    if expression.atoms(LocalSum, PastSum):
        raise ValueError(f"sums over local steps need place='round' ({expression})")
    if place == "step":
        _require_known_expectations(expression)
    elif expression.atoms(Expectation):
        raise ValueError(f"nothing is random at place={place!r}, so an Expectation has no meaning there ({expression})")
    elif place == "run" and expression.atoms(Inner, Value, Gradient, Selected):
        raise ValueError(
            f"vectors have values at local steps only: set place to 'step', 'path', 'round' or 'points' ({expression})"
        )


def _require_known_expectations(expression: Expr) -> None:
    """Raise an error if a claim needs single outcomes at local steps, where only second moments are known."""
    for expectation in expression.atoms(Expectation):
        if _compute_degree(expectation.args[0]) > 1:
            raise ValueError(f"only expectations linear in inner products and values are known, not {expectation}")
    outside = expression.replace(Expectation, lambda _argument: sp.S.One)
    if outside.atoms(Inner, Value):
        raise ValueError(f"at place='step' inner products and values stand inside an Expectation: {expression}")


def _compute_degree(node: Expr) -> float:
    """Return the degree of a scalar expression in inner products and function values; infinite if no polynomial."""
    if isinstance(node, Inner | Value):
        return 1
    if isinstance(node, sp.Mul):
        return sum(_compute_degree(argument) for argument in node.args)
    if isinstance(node, sp.Pow):
        inside = _compute_degree(node.base)
        whole = node.exp.is_Integer and node.exp >= 0
        return inside * int(node.exp) if whole else (float("inf") if inside else 0)
    inside = max((_compute_degree(argument) for argument in node.args), default=0)
    return float("inf") if inside and isinstance(node, _NOT_POLYNOMIAL) else inside


_NOT_POLYNOMIAL = (sp.Max, sp.Min, sp.Abs, sp.floor, sp.ceiling, sp.Piecewise, sp.exp, sp.log)
