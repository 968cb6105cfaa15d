"""Quadratic forms are collected into squares of equal value if this needs fewer terms."""

from __future__ import annotations

import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.kernel.expressions import Average, Inner, Value, inner, norm_sq
from fedtheory.kernel.quadratic_forms import collect_norms

w, x, y, z = sp.symbols("w x y z", real=True)
eta, L = sp.symbols("eta L", positive=True)
F = sp.Symbol("F")


def expanded(form: sp.Expr) -> sp.Expr:
    """Expand inner products as products of numbers, for vectors in one dimension."""
    return sp.expand(form.replace(Inner, lambda one, other: one * other).replace(Average, lambda inside: inside))


def test_one_square() -> None:
    """-eta/L |x - y|^2 is collected from its three products."""
    form = {Inner(x, x): -eta / L, Inner(x, y): 2 * eta / L, Inner(y, y): -eta / L}
    assert collect_norms(form) == -eta / L * norm_sq(x - y)


def test_coefficients_may_be_symbols() -> None:
    """|x - eta y|^2 is collected also inside client averages; other expressions are not changed."""
    form = {
        Average(Inner(x, x)): sp.S.One,
        Average(Inner(x, y)): -2 * eta,
        Average(Inner(y, y)): eta**2,
        Value(F, x): L,
    }
    assert collect_norms(form) == Average(norm_sq(x - eta * y)) + L * Value(F, x)


def test_products_beside_squares() -> None:
    """In co-coercivity, a product with a difference, and a square of another one, are collected."""
    form = {
        Inner(x, z): -eta,
        Inner(y, z): eta,
        Inner(w, w): -eta / (2 * L),
        Inner(w, z): eta / L,
        Inner(z, z): -eta / (2 * L),
    }
    assert collect_norms(form) == eta * inner(y - x, z) - eta / (2 * L) * norm_sq(w - z)
    assert collect_norms({Inner(x, y): L, Inner(x, z): -L}) == L * inner(x, y - z)


def test_forms_without_a_shorter_sum_stay() -> None:
    """A single product, and a form of full rank, are not changed."""
    assert collect_norms({Inner(x, y): L}) == L * Inner(x, y)
    full = {Inner(x, x): sp.S.One, Inner(y, y): L}
    assert collect_norms(full) == Inner(x, x) + L * Inner(y, y)


@given(st.lists(st.integers(-3, 3), min_size=6, max_size=6))
def test_the_value_is_the_same(numbers: list[int]) -> None:
    """The value is kept for every form in three vectors."""
    pairs = [(x, x), (x, y), (x, z), (y, y), (y, z), (z, z)]
    form = {Inner(*pair): sp.Integer(number) for pair, number in zip(pairs, numbers, strict=True) if number}
    plain = sp.Add(*(number * monomial for monomial, number in form.items()))
    assert expanded(collect_norms(form) - plain) == 0
