"""Names of symbols with a superscript, as typeset."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory.language.typesetting import latex


@pytest.mark.parametrize(
    ("name", "typeset"),
    [
        ("xbar^+", r"\bar{x}^+"),
        ("xbar_i^+", r"\bar{x}_i^+"),
        ("tau^*", r"\tau^*"),
        ("z_i^+", "z_i^+"),
        ("q_i^{(n)}", "q_i^{(n)}"),
        (r"\bar x^{t}", r"\bar x^{t}"),
        ("^a", "^a"),
    ],
)
def test_bars_and_greek_letters_below_a_raised_index(name: str, typeset: str) -> None:
    """A plain name is typeset as without the superscript; LaTeX is kept."""
    assert latex(sp.Symbol(name)) == typeset
