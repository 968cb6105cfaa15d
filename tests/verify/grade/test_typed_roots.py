"""Roots of higher order and negative powers are read as typed; a raised number behind a symbol is its power."""

from __future__ import annotations

import pytest
import sympy as sp

from verify.grade.answer_limits import Unreadable
from verify.grade.answer_text import read_answer

T, N = sp.symbols("T N", positive=True)
QUARTER = (T / N**3) ** sp.Rational(1, 4)
RIGHT = [
    ("∜(T/N³)", QUARTER),
    ("⁴√(T/N³)", QUARTER),
    ("sqrt[4](T/N^3)", QUARTER),
    ("1/∜(N³/T)", QUARTER),
    ("T^¼ N^−¾", QUARTER),
    ("T^.25 N^-.75", QUARTER),
    ("T/(T^.75 N^.75)", QUARTER),
    ("(N³/T)^-(1/4)", QUARTER),
    ("T ∛N", T * N ** sp.Rational(1, 3)),
    ("root[3](T) N", N * T ** sp.Rational(1, 3)),
    ("T²√N", T**2 * sp.sqrt(N)),
    ("(T)²√N", T**2 * sp.sqrt(N)),
    ("4√T", 4 * sp.sqrt(T)),
    (r"\sqrt[4]{T/N^3}", QUARTER),
]


@pytest.mark.parametrize(("text", "value"), RIGHT, ids=[text for text, _ in RIGHT])
def test_roots_and_powers(text: str, value: sp.Expr) -> None:
    assert sp.simplify(read_answer(text, {"T": T, "N": N}) / value) == 1


@pytest.mark.parametrize("text", ["∜(T", "∜", "sqrt[4]", "T^-(1/4"])
def test_a_root_without_its_operand_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        read_answer(text, {"T": T, "N": N})
