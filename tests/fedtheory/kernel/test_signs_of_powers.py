"""Powers with symbolic exponents are non-negative for non-negative bases and integer exponents."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.kernel import Numbers, Rejected, is_nonnegative
from fedtheory.kernel.admitted import require_admitted
from fedtheory.kernel.quotients import is_zero
from fedtheory.proofs.numbers import power_of

a, b = sp.symbols("a b", nonnegative=True)
d = sp.Symbol("d", real=True)
n = sp.Symbol("n", positive=True)
NUMBERS = Numbers(
    symbols=frozenset({a, b, d, n}), at_least={n: 1}, maybe_zero=frozenset({a, b, d}), integer=frozenset({n})
)
AT_MOST_ONE = [sp.Le(a, 1)]


@pytest.mark.parametrize("number", [(1 - a) ** n, b * (1 - a) ** n, (1 - a / 2) ** n, 0**n + a**n], ids=str)
def test_powers_that_are_not_negative(number: sp.Expr) -> None:
    """A power is non-negative if a condition puts the base between zero and one."""
    assert is_nonnegative(number, NUMBERS, AT_MOST_ONE)


@pytest.mark.parametrize(
    "number",
    [(1 - 2 * a) ** n, (a - 1) ** n, d**n, (-a) ** n, (1 - a) ** -n, (1 - a) ** b, -((1 - a) ** n), (1 - a) ** n - 1],
    ids=str,
)
def test_powers_of_which_nothing_is_known(number: sp.Expr) -> None:
    """The sign is unknown if the base may be negative, the exponent is no integer, or a denominator may vanish."""
    assert not is_nonnegative(number, NUMBERS, AT_MOST_ONE)


def test_the_condition_is_needed() -> None:
    """Without the condition the base may be negative, and so may an odd power."""
    assert not is_nonnegative((1 - a) ** n, NUMBERS)


def test_even_powers_of_any_number() -> None:
    """A square is non-negative, but not its product with the base."""
    assert is_nonnegative((1 - 2 * a) ** (2 * n), NUMBERS)
    assert is_nonnegative(d ** (2 * n), NUMBERS)
    assert not is_nonnegative(d ** (2 * n + 1), NUMBERS)
    assert not is_nonnegative(d ** (3 * n), NUMBERS)


@pytest.mark.parametrize("exponent", [n, 2 * n, 3 * n + 1, n - 1])
def test_exponents_of_the_language(exponent: sp.Expr) -> None:
    require_admitted((1 - a) ** exponent)


@pytest.mark.parametrize("exponent", [-n, n / 2, a * n, n**2, 2 * n + a, sp.Rational(1, 2) + n, -2 * n + 1])
def test_other_exponents(exponent: sp.Expr) -> None:
    """Negative and fractional multiples, products and sums of symbols as exponents are rejected."""
    with pytest.raises(Rejected, match="exponent"):
        require_admitted((1 - a) ** exponent)


@given(base=st.fractions(-3, 3, max_denominator=5), twice=st.integers(1, 3), count=st.integers(1, 5))
def test_powers_of_powers(base: Fraction, twice: int, count: int) -> None:
    """(u^m)^n is u^(m n) for whole n, of whatever sign u is."""
    u = sp.Symbol("u", real=True)
    at = {u: sp.Rational(base), n: sp.Integer(count)}
    assert power_of(u**twice, n).xreplace(at) == sp.Rational(base ** (twice * count))
    assert power_of(u + 1, n) == (u + 1) ** n
    assert power_of(1 / u, n) == u**-n
    assert power_of(sp.sqrt(a), n) == sp.sqrt(a) ** n
    assert is_zero(power_of(u**2, n) - (u**n) ** 2)
    assert not is_zero(power_of(u**2, n) - u**n)
