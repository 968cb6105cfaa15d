"""The letters of a copy: each student has others."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from fedtheory.kernel.expressions import Expr

Names = Mapping[str, Expr]
"""The letters of a copy, and what each stands for."""


def tex(letter: str) -> str:
    """A letter of a copy in LaTeX."""
    return str(sp.latex(sp.Symbol(letter)))


def written(expression: Expr, names: Names) -> str:
    """An expression in Python's notation, with the letters of a copy."""
    letters = {value: sp.Symbol(name, positive=True) for name, value in names.items()}
    return str(sp.sympify(expression).xreplace(letters))


def how_written(what: str, names: Names) -> str:
    """How a student writes an expression."""
    letters = ", ".join(f"`{name}`" for name in sorted(names))
    return f"A {what} as a string, in Python's notation or in LaTeX, with the letters {letters}."
