"""Prints expressions for people: in LaTeX, and as a line of text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

import sympy as sp
from sympy.printing.latex import LatexPrinter

from fedtheory.kernel.expressions import Expr, is_length

_EQUAL = r"\frac{1}{M}\sum_{i=1}^M"
_NONE: frozenset[sp.Symbol] = frozenset()
_BASE = re.compile(r"([^\W\d_]*).*\^")
"""Characters before the indices of a name with a superscript, such as xbar_i^+."""
_mean: ContextVar[str] = ContextVar("mean over clients", default=_EQUAL)
_of_types: ContextVar[frozenset[sp.Symbol]] = ContextVar("letters of types", default=_NONE)


@contextmanager
def weigh_clients(importance: str | None, of_types: frozenset[sp.Symbol] = _NONE) -> Iterator[None]:
    """Typeset client averages as sums with this symbol for the weights, within a with statement; None: equal weights.

    `of_types` are symbols with a value for each type of clients: their sums run over types.
    """
    mean = _mean.set(_EQUAL if importance is None else rf"\sum_{{i=1}}^M {importance}")
    types = _of_types.set(of_types)
    try:
        yield
    finally:
        _mean.reset(mean)
        _of_types.reset(types)


class _Printer(LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX printer with positive terms before negative ones, and with norms and the nodes of this language."""

    mean = _EQUAL
    """LaTeX prefix of averages over clients."""
    of_types = _NONE
    """Symbols with a value for each type of clients."""

    def _print_Pow(self, expr: Expr) -> str:
        if is_length(expr):
            return rf"\|{self._print(expr.base.args[0])}\|"
        return str(super()._print_Pow(expr))

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        # Names that already are LaTeX are printed as they are; SymPy would split them at ^ and _.
        if any(mark in expr.name for mark in "\\("):
            return str(expr.name)
        base = _BASE.match(expr.name)
        if base is None:
            return str(super()._print_Symbol(expr, style))
        return f"{super()._print_Symbol(sp.Symbol(base[1]), style)}{expr.name[base.end(1) :]}"

    def _print_Add(self, expr: Expr, order: str | None = None) -> str:
        terms = sorted(
            self._as_ordered_terms(expr, order=order), key=lambda term: bool(term.could_extract_minus_sign())
        )
        printed = [self._print(term) for term in terms]
        return "".join(text if not n or text.lstrip().startswith("-") else f"+{text}" for n, text in enumerate(printed))

    def _print_Inner(self, expr: Expr, exp: str | None = None) -> str:
        left, right = map(self._print, expr.args)
        same = expr.args[0] == expr.args[1]
        return _raise_to(rf"\|{left}\|^2" if same else rf"\langle {left},\ {right}\rangle", exp)

    def _print_Gradient(self, expr: Expr, exp: str | None = None) -> str:
        objective, point = map(self._print, expr.args)
        return _raise_to(rf"\nabla {objective}({point})", exp)

    def _print_SampledGradient(self, expr: Expr, exp: str | None = None) -> str:
        objective, point = map(self._print, expr.args)
        return _raise_to(rf"\nabla {objective}({point},\xi)", exp)

    def _print_Value(self, expr: Expr, exp: str | None = None) -> str:
        objective, point = map(self._print, expr.args)
        return _raise_to(rf"{objective}({point})", exp)

    def _print_Expectation(self, expr: Expr, exp: str | None = None) -> str:
        return _raise_to(rf"\mathbb E\left[{self._print(expr.args[0])}\right]", exp)

    def _sum(self, sign: str, expr: Expr, exp: str | None) -> str:
        body = self._print(expr.args[0])
        return _raise_to(f"{sign} " + (rf"\left({body}\right)" if isinstance(expr.args[0], sp.Add) else body), exp)

    def _print_Average(self, expr: Expr, exp: str | None = None) -> str:
        return self._sum(self.mean, expr, exp)

    def _print_ClientSum(self, expr: Expr, exp: str | None = None) -> str:
        if not expr.free_symbols or not expr.free_symbols <= self.of_types:
            return self._sum(r"\sum_{i=1}^M", expr, exp)
        # The index of the sum must differ from that of the types next to it.
        return re.sub(r"_(j|\{j\})", "_{l}", self._sum(r"\sum_{l=1}^J", expr, exp))

    def _print_LocalSum(self, expr: Expr, exp: str | None = None) -> str:
        return self._sum(r"\sum_{e=1}^{E_k}", expr, exp)

    def _print_PastSum(self, expr: Expr, exp: str | None = None) -> str:
        return self._sum(r"\sum_{\tau=t_0+1}^{t}", expr, exp)

    def _print_Selected(self, expr: Expr, exp: str | None = None) -> str:
        return self._sum(r"\frac{1}{L}\sum_{k\in\mathcal L_i}", expr, exp)


def _raise_to(body: str, exponent: str | None) -> str:
    """Return the LaTeX of a power; the body alone if there is no exponent."""
    return body if exponent is None else rf"\left({body}\right)^{{{exponent}}}"


def latex(expression: Expr) -> str:
    """Return the LaTeX of an expression of this language."""
    return _latex(expression, _mean.get(), _of_types.get())


@lru_cache(maxsize=2**12, typed=True)
def _latex(expression: Expr, mean: str, of_types: frozenset[sp.Symbol]) -> str:
    """Return the LaTeX of an expression; `mean` is the prefix of averages over clients."""
    printer = _Printer({})
    printer.mean, printer.of_types = mean, of_types
    return str(printer.doprint(sp.sympify(expression)))


def format_plain(expression: Expr, names: Mapping[sp.Symbol, str]) -> str:
    """Return an expression as a line of text; symbols whose name is LaTeX are replaced by `names`."""
    called = {s: sp.Symbol(names[s]) for s in expression.free_symbols if s in names and not s.name.isidentifier()}
    return str(sp.sstr(expression.xreplace(called)))
