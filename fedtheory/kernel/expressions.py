"""The formal language of this field's proofs, inside SymPy.

Vectors are formal SymPy expressions of degree one in vector symbols, such as
``x - eta*g``.  Scalars are made from them by `inner`, `norm_sq` and `Value`;
`Average` runs over clients and `Expectation` over all randomness.  The
nodes only name things: `fedtheory.language.evaluation` gives them numbers on a run.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

Expr = Any
"""A SymPy expression (SymPy ships no complete types)."""


class Inner(sp.Function):  # type: ignore[misc]
    """``<u, v>`` of two vectors; ``|u|^2`` where both are the same."""

    nargs = 2

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        left, right = self.args
        if left == right:
            body = rf"\|{printer.doprint(left)}\|^2"
        else:
            body = rf"\langle {printer.doprint(left)},\ {printer.doprint(right)}\rangle"
        return _raised(body, exp)


class Gradient(sp.Function):  # type: ignore[misc]
    """Gradient of an objective at a point: a vector."""

    nargs = 2

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        objective, point = self.args
        return _raised(rf"\nabla {printer.doprint(objective)}({printer.doprint(point)})", exp)


class Value(sp.Function):  # type: ignore[misc]
    """Value of an objective at a point: a scalar."""

    nargs = 2

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        objective, point = self.args
        return _raised(rf"{printer.doprint(objective)}({printer.doprint(point)})", exp)


class Average(sp.Function):  # type: ignore[misc]
    """Mean over clients with the importances p_i, of a scalar or a vector that carries the client index."""

    nargs = 1

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        return _raised(rf"\frac{{1}}{{M}}\sum_{{i=1}}^M {_bracketed(self.args[0], printer)}", exp)


class ClientSum(sp.Function):  # type: ignore[misc]
    """Sum over clients, without weights, of a scalar or a vector that carries the client index."""

    nargs = 1

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        return _raised(rf"\sum_{{i=1}}^M {_bracketed(self.args[0], printer)}", exp)


class Expectation(sp.Function):  # type: ignore[misc]
    """Expectation over all randomness, of a scalar or a vector.

    At local steps its argument is linear in inner products and function
    values; over the outcomes of a round, where it is conditional on the
    round's model, it is anything.
    """

    nargs = 1

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        return _raised(rf"\mathbb E\left[{printer.doprint(self.args[0])}\right]", exp)


class LocalSum(sp.Function):  # type: ignore[misc]
    """Sum over a client's local steps of one round, of a scalar or a vector."""

    nargs = 1

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        return _raised(rf"\sum_{{e=1}}^{{E_k}} {_bracketed(self.args[0], printer)}", exp)


class PastSum(sp.Function):  # type: ignore[misc]
    """Sum over the local steps of a round up to and including the present one, of a scalar or a vector."""

    nargs = 1

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        return _raised(rf"\sum_{{\tau=t_0+1}}^{{t}} {_bracketed(self.args[0], printer)}", exp)


class Selected(sp.Function):  # type: ignore[misc]
    """Sum over clients of a vector, with the random weights of the round's participants."""

    nargs = 1

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        return _raised(rf"\frac{{1}}{{L}}\sum_{{k\in\mathcal L_i}} {_bracketed(self.args[0], printer)}", exp)


def inner(left: Expr, right: Expr) -> Expr:
    """``<left, right>``."""
    return Inner(*sorted((sp.sympify(left), sp.sympify(right)), key=sp.default_sort_key))


def norm_sq(vector: Expr) -> Expr:
    """``|vector|^2``."""
    return Inner(vector, vector)


def is_length(expression: Expr) -> bool:
    """Whether a scalar is the length of a vector, ``sqrt(norm_sq(vector))``."""
    is_root = expression.is_Pow and expression.exp == sp.Rational(1, 2) and isinstance(expression.base, Inner)
    return bool(is_root and expression.base.args[0] == expression.base.args[1])


def _raised(body: str, exponent: str | None) -> str:
    return body if exponent is None else rf"\left({body}\right)^{{{exponent}}}"


def _bracketed(expression: Expr, printer: LatexPrinter) -> str:
    text = printer.doprint(expression)
    return rf"\left({text}\right)" if isinstance(expression, sp.Add) else str(text)
