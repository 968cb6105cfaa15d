"""Writes expressions in the notation of papers, for messages; no verdict depends on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice

import sympy as sp

from fedtheory.kernel.expressions import (
    Average,
    ClientSum,
    Expectation,
    Expr,
    Gradient,
    Inner,
    LocalSum,
    PastSum,
    Selected,
    Value,
    subexpressions,
)

MOST_SHOWN = 2000
"""Largest number of symbols of a formula that is printed in a message."""

_HEADS: Mapping[type, Callable[..., str]] = {
    Inner: lambda one, other: f"|{one}|^2" if one == other else f"<{one}, {other}>",
    Gradient: lambda objective, at: f"grad {objective}({at})",
    Value: lambda objective, at: f"{objective}({at})",
    Average: lambda inside: f"mean[{inside}]",
    Expectation: lambda inside: f"E[{inside}]",
    ClientSum: lambda inside: f"sum_i[{inside}]",
    LocalSum: lambda inside: f"sum over local steps[{inside}]",
    PastSum: lambda inside: f"sum over past local steps[{inside}]",
    Selected: lambda inside: f"sum over participants[{inside}]",
}
"""Notation of inner products, values, means and sums, from their arguments."""


def write_heads(formula: Expr) -> Expr:
    """Return a formula whose inner products, gradients, values and means are symbols named as papers write them."""
    names = {dummy: sp.Symbol(dummy.name) for dummy in formula.atoms(sp.Dummy) if dummy.name.isidentifier()}
    plain = formula.xreplace(names)
    return plain.replace(lambda part: type(part) in _HEADS, lambda part: sp.Symbol(_HEADS[type(part)](*part.args)))


def shorten(part: object) -> str:
    """Return an expression as text for a message; very long formulas are replaced by a description of their size."""
    is_formula = isinstance(part, sp.Expr)
    if is_formula and len([*islice(subexpressions(part), MOST_SHOWN)]) == MOST_SHOWN:
        return f"a formula of {MOST_SHOWN} symbols and more"
    try:
        return str(write_heads(part) if is_formula else part)
    except ValueError:
        # Python does not print integers of more than some thousand digits.
        return "a formula of enormous numbers"
