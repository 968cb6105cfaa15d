"""Convert scalar expressions to JavaScript with SymPy, and describe parts that cannot be converted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from fedtheory.kernel import expressions as ex
from fedtheory.kernel.expressions import Expr
from fedtheory.language.quantities.quantity import Quantity, RunQuantity, ScalarQuantity

_PRINTED = (
    sp.Symbol,
    sp.Number,
    sp.NumberSymbol,
    sp.Add,
    sp.Mul,
    sp.Pow,
    sp.Min,
    sp.Max,
    sp.Abs,
    sp.exp,
    sp.log,
    sp.ceiling,
    sp.floor,
)
"""Functions with a counterpart in JavaScript that is exact up to rounding."""

_IN_WORDS: Mapping[type, str] = {
    ex.Average: "a mean over clients",
    ex.ClientSum: "a sum over clients",
    ex.LocalSum: "a sum over local steps",
    ex.PastSum: "a sum over past local steps",
    ex.Selected: "a sum over the selected clients",
    ex.Expectation: "an expectation",
    ex.Inner: "an inner product",
    ex.Gradient: "a gradient",
    ex.Value: "a function value",
}


def describe_obstacle(expression: Expr, notation: Mapping[sp.Symbol, Quantity]) -> str | None:
    """Describe the part of an expression that is no function of numbers; None if there is none.

    A symbol without a quantity is a variable over which the claim quantifies.
    """
    for node in sp.preorder_traversal(expression):
        if type(node) in _IN_WORDS:
            return _IN_WORDS[type(node)]
        if not isinstance(node, _PRINTED):
            return f"the function {node.func.__name__}"
        if not isinstance(notation.get(node), RunQuantity | ScalarQuantity | None):
            return f"{notation[node].name.replace('_', ' ')}, which is no number"
    return None


def name_arguments(symbols: Sequence[sp.Symbol]) -> dict[sp.Symbol, str]:
    """Return a JavaScript name for each symbol; symbols of claims are LaTeX."""
    return {symbol: f"v{number}" for number, symbol in enumerate(symbols)}


def write_javascript(expression: Expr, names: Mapping[sp.Symbol, str]) -> str:
    """Return an arrow function of all symbols, in the order of `names`."""
    renamed = expression.xreplace({symbol: sp.Symbol(name, real=True) for symbol, name in names.items()})
    return f"({', '.join(names.values())}) => {sp.jscode(renamed)}"
