"""The formal language of this field's proofs, inside SymPy.

Vectors are formal SymPy expressions of degree one in vector symbols, such as
``x - eta*g``.  Scalars are made from them by `inner`, `norm_sq` and `Value`;
`Average` runs over clients and `Expectation` over all randomness.  The
nodes only name things: `fedtheory.evaluation` gives them numbers on a run.
"""

from __future__ import annotations

from collections.abc import Mapping
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


class _Printer(LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX, with positive terms before negative ones, as mathematicians write differences, and lengths."""

    def _print_Pow(self, expr: Expr) -> str:
        if is_length(expr):
            return rf"\|{self._print(expr.base.args[0])}\|"
        return str(super()._print_Pow(expr))

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        # Names that already are LaTeX stay as they are; SymPy would take them apart at ^ and _.
        return expr.name if any(mark in expr.name for mark in "\\^(") else str(super()._print_Symbol(expr, style))

    def _print_Add(self, expr: Expr, order: str | None = None) -> str:
        terms = sorted(
            self._as_ordered_terms(expr, order=order), key=lambda term: bool(term.could_extract_minus_sign())
        )
        printed = [self._print(term) for term in terms]
        return "".join(text if not n or text.lstrip().startswith("-") else f"+{text}" for n, text in enumerate(printed))


def latex(expression: Expr) -> str:
    """LaTeX of an expression of this language."""
    return str(_Printer({}).doprint(sp.sympify(expression)))


def plain(expression: Expr, names: Mapping[sp.Symbol, str]) -> str:
    """An expression as a line of text; symbols whose name is LaTeX are called by `names` instead."""
    called = {s: sp.Symbol(names[s]) for s in expression.free_symbols if s in names and not s.name.isidentifier()}
    return str(sp.sstr(expression.xreplace(called)))


def require_meaning(expression: Expr, place: str) -> None:
    """Raise `ValueError` where an expression means nothing at the place of its claim.

    On a whole run there are no vectors.  In expectation, every inner product and
    function value stands inside an `Expectation` whose argument is linear in them:
    second moments say nothing of higher ones.  On a path or at points nothing is
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
    """At local steps second moments are known, and nothing of a single outcome."""
    for expectation in expression.atoms(Expectation):
        if _degree(expectation.args[0]) > 1:
            raise ValueError(f"only expectations linear in inner products and values are known, not {expectation}")
    outside = expression.replace(Expectation, lambda _argument: sp.S.One)
    if outside.atoms(Inner, Value):
        raise ValueError(f"at place='step' inner products and values stand inside an Expectation: {expression}")


def _degree(node: Expr) -> float:
    """Degree of a scalar expression in inner products and function values; infinite where it is no polynomial."""
    if isinstance(node, Inner | Value):
        return 1
    if isinstance(node, sp.Mul):
        return sum(_degree(argument) for argument in node.args)
    if isinstance(node, sp.Pow):
        inside = _degree(node.base)
        whole = node.exp.is_Integer and node.exp >= 0
        return inside * int(node.exp) if whole else (float("inf") if inside else 0)
    return max((_degree(argument) for argument in node.args), default=0)


def _raised(body: str, exponent: str | None) -> str:
    return body if exponent is None else rf"\left({body}\right)^{{{exponent}}}"


def _bracketed(expression: Expr, printer: LatexPrinter) -> str:
    text = printer.doprint(expression)
    return rf"\left({text}\right)" if isinstance(expression, sp.Add) else str(text)
