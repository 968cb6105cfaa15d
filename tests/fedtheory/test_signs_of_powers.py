"""Powers with a symbol as exponent: not negative where the base is not and the exponent is a whole number."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory.kernel import Numbers, is_nonnegative

a, b = sp.symbols("a b", nonnegative=True)
d = sp.Symbol("d", real=True)
n = sp.Symbol("n", positive=True)
NUMBERS = Numbers(
    symbols=frozenset({a, b, d, n}), at_least={n: 1}, maybe_zero=frozenset({a, b, d}), integer=frozenset({n})
)
AT_MOST_ONE = [sp.Le(a, 1)]


@pytest.mark.parametrize("number", [(1 - a) ** n, b * (1 - a) ** n, (1 - a / 2) ** n, 0**n + a**n], ids=str)
def test_powers_that_are_not_negative(number: sp.Expr) -> None:
    """The base lies between zero and one by a condition."""
    assert is_nonnegative(number, NUMBERS, AT_MOST_ONE)


@pytest.mark.parametrize(
    "number",
    [(1 - 2 * a) ** n, (a - 1) ** n, d**n, (-a) ** n, (1 - a) ** -n, (1 - a) ** b, -((1 - a) ** n), (1 - a) ** n - 1],
    ids=str,
)
def test_powers_of_which_nothing_is_known(number: sp.Expr) -> None:
    """The base may be negative, the exponent may be no whole number, or the base may vanish below the line."""
    assert not is_nonnegative(number, NUMBERS, AT_MOST_ONE)


def test_the_condition_is_needed() -> None:
    """Without it the base may be negative, and an odd power as well."""
    assert not is_nonnegative((1 - a) ** n, NUMBERS)
