"""Symbols of a copy: students get different symbols for the same quantities."""

from __future__ import annotations

import re
from collections.abc import Mapping

import sympy as sp

from fedtheory.kernel.expressions import Expr

_NEEDLESS = re.compile(r"(?<![A-Za-z_}\]^])(?<!frac\d)\{(\\[A-Za-z]+)\}(?=([A-Za-z])?)")
Names = Mapping[str, Expr]
"""The symbols of a copy, by the symbols of the claim."""


def tex(symbol: str) -> str:
    """Return a symbol of a copy in LaTeX.

    A command is put into braces, so that a symbol after it is not read as part of it.
    """
    text = str(sp.latex(sp.Symbol(symbol)))
    return f"{{{text}}}" if text.startswith("\\") else text


def remove_needless_braces(text: str) -> str:
    r"""Return a text without the braces of `tex` around a single command, as in ``${\tau}$``.

    A blank separates a command from a following character.
    """
    return _NEEDLESS.sub(lambda found: found[1] + " " * (found[2] is not None), text)


def rename_for_copy(names: Names) -> dict[Expr, Expr]:
    """Return the map from the symbols of the claim to those of a copy."""
    return {value: sp.Symbol(name, positive=True) for name, value in names.items()}


def write_expression(expression: Expr, names: Names) -> str:
    """Return an expression in Python's notation, with the symbols of a copy."""
    return str(sp.sympify(expression).xreplace(rename_for_copy(names)))


def describe_format(what: str, names: Names) -> str:
    """Describe the format of an expression for students."""
    symbols = ", ".join(f"`{name}`" for name in sorted(names))
    return f"A {what} as a string, in Python's notation or in LaTeX, using only the symbols {symbols}."
