"""The letters of a copy: each student has others."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from fedtheory.kernel.expressions import Expr

Names = Mapping[str, Expr]
"""The letters of a copy, and what each stands for."""


def tex(letter: str) -> str:
    """A letter of a copy in LaTeX; a command stands in braces, as a letter that follows would be read as part of it."""
    text = str(sp.latex(sp.Symbol(letter)))
    return f"{{{text}}}" if text.startswith("\\") else text


def letters_of_copy(names: Names) -> dict[Expr, Expr]:
    """The symbols of a copy for those of the claim."""
    return {value: sp.Symbol(name, positive=True) for name, value in names.items()}


def written(expression: Expr, names: Names) -> str:
    """An expression in Python's notation, with the letters of a copy."""
    return str(sp.sympify(expression).xreplace(letters_of_copy(names)))


def how_written(what: str, names: Names) -> str:
    """Describe the format of an expression for students."""
    letters = ", ".join(f"`{name}`" for name in sorted(names))
    return f"A {what} as a string, in Python's notation or in LaTeX, using only the symbols {letters}."
