"""Closed list of operations in proofs: others are rejected at every place."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Numbers, Rejected, is_positive
from fedtheory.kernel.admitted import require_admitted, require_admitted_condition, require_finite
from fedtheory.kernel.expressions import Average, Gradient, Inner, norm_sq, parts_of

a, b = sp.symbols("a b", positive=True)
n = sp.Symbol("n", integer=True, nonnegative=True)
x, F = sp.symbols("x F", real=True)
ADMITTED: list[Any] = [
    a + b / 2,
    sp.sqrt(a) * norm_sq(x),
    a ** (n + 1),
    Average(b * Inner(x, Gradient(F, x))),
    sp.S.Zero,
]
REFUSED: dict[str, Any] = {
    "a function": sp.cos(a),
    "a maximum": sp.Max(a, b),
    "an absolute value of a vector": norm_sq(sp.Abs(x)),
    "an imaginary vector": norm_sq(sp.I * x),
    "a float": sp.Float("0.5") * a,
    "an irrational number": sp.pi * a,
    "infinity": sp.oo,
    "an exponent that is a sum of letters": a ** (n + b),
    "a third root": a ** sp.Rational(1, 3),
    "an ordering": sp.Le(a, b),
}


@pytest.mark.parametrize("expression", ADMITTED, ids=str)
def test_admitted_expressions(expression: Any) -> None:
    """Symbols, rationals, sums, products, powers, functions of the language, and orderings are admitted."""
    require_admitted(expression)
    require_admitted_condition(sp.Le(expression, 7 + a, evaluate=False))
    require_admitted_condition(sp.Le(expression, b * sp.Min(a, 1 / b), evaluate=False))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_expressions(name: str) -> None:
    """Other expressions are rejected alone, inside of others, and in conditions."""
    for expression in (REFUSED[name], *([] if name == "an ordering" else [1 + b * REFUSED[name]])):
        with pytest.raises(Rejected):
            require_admitted(expression)
        if name not in {"an ordering", "infinity"}:
            with pytest.raises(Rejected):
                require_admitted_condition(sp.Le(a, expression, evaluate=False))


@pytest.mark.parametrize("kinds", [(sp.Pow,), (sp.Symbol, Inner), (Average, Gradient, sp.Rational)], ids=str)
def test_parts_are_those_that_sympy_finds(kinds: tuple[type, ...]) -> None:
    """All parts are found, including the whole expression."""
    for expression in (*ADMITTED, *REFUSED.values()):
        assert parts_of(expression, *kinds) == expression.atoms(*kinds)


@pytest.mark.parametrize("condition", [sp.Ne(a, b), sp.true, a + b, sp.Or(a < b, a > 1)], ids=str)
def test_conditions_that_are_none(condition: Any) -> None:
    """Only orderings and equations are conditions."""
    with pytest.raises(Rejected, match="neither an inequality nor an equation"):
        require_admitted_condition(condition)


def test_cancelled_factors_may_be_zero() -> None:
    """A cancelled factor does not affect signs; whether it may be zero is checked for finiteness."""
    u = sp.Symbol("u", nonnegative=True)
    known = Numbers(symbols=frozenset({u}), maybe_zero=frozenset({u}))
    hidden = sp.sqrt(u) / (sp.sqrt(u) + u)
    assert is_positive(hidden, known)
    with pytest.raises(Rejected, match="may be zero, and something is divided by it"):
        require_finite([hidden], known, [])
    require_finite([1 / (1 + sp.sqrt(u))], known, [])
