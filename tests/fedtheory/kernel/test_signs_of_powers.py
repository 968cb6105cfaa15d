"""Powers with symbolic exponents are non-negative for non-negative bases and integer exponents."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import assume, given
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


mu = sp.Symbol("mu", positive=True)
c = sp.Symbol("c", positive=True)
POWER = (1 - mu) ** n
CONTRACTING = Numbers(
    symbols=frozenset({a, b, c, d, mu, n}), at_least={n: 1}, maybe_zero=frozenset({a, b, d}), integer=frozenset({n})
)


@pytest.mark.parametrize(
    "number",
    [
        1 - POWER,
        1 - mu - POWER,
        1 - POWER**2,
        1 / (1 - POWER),
        b * POWER / (4 - 4 * POWER),
        (1 - mu) ** 2 - (1 - mu) ** (n + 1),
        1 - mu * POWER,
    ],
    ids=str,
)
def test_powers_of_small_bases(number: sp.Expr) -> None:
    """A power is at most its base, and below one if its base is."""
    assert is_nonnegative(number, CONTRACTING, [mu <= 1, a <= 1])


@pytest.mark.parametrize(
    "number",
    [
        POWER - 1 + mu,
        1 - 2 * mu - POWER,
        (1 - mu) ** 2 - POWER,
        1 - mu - (1 - mu) ** (n - 1),
        1 / (1 - (1 - a) ** n),
        1 / POWER,
        1 / (1 - mu) ** (2 * n),
        mu - (1 - mu) ** n,
        1 - (1 - mu) ** c,
        1 - (1 + d) ** n,
    ],
    ids=str,
)
def test_powers_that_may_be_larger(number: sp.Expr) -> None:
    """A power may be any number from zero to its base; smaller exponents, other exponents and other bases differ."""
    assert not is_nonnegative(number, CONTRACTING, [mu <= 1, a <= 1])


@pytest.mark.parametrize("known", [[], [mu <= 2], [mu >= 1]])
def test_the_base_has_to_be_small(known: list[sp.Rel]) -> None:
    """A base below zero has powers of either sign; at mu = 2 the square of the base is one."""
    assert not is_nonnegative(1 - POWER, CONTRACTING, known)
    assert not is_nonnegative(1 / (1 - POWER**2), CONTRACTING, known)


@given(
    weights=st.lists(st.integers(-3, 3), min_size=4, max_size=4),
    divisor=st.lists(st.integers(-2, 2), min_size=2, max_size=2),
    shift=st.integers(-1, 2),
)
def test_no_negative_number_with_powers_is_accepted(weights: list[int], divisor: list[int], shift: int) -> None:
    """Accepted numbers are non-negative at every base from zero to one and every count; a common factor may vanish."""
    above = sp.Add(weights[0], weights[1] * mu, weights[2] * POWER, weights[3] * (1 - mu) ** (n + shift))
    below = 1 + divisor[0] * POWER + divisor[1] * mu
    # SymPy writes zero over anything as zero.
    assume(above != 0)
    if not is_nonnegative(above / below, CONTRACTING, [mu <= 1]):
        return
    for base in (sp.S.Zero, sp.Rational(1, 9), sp.Rational(1, 2), sp.Rational(8, 9), sp.Rational(99, 100)):
        for count in (1, 2, 3, 20):
            top, bottom = (number.subs(n, count).subs(mu, 1 - base) for number in (above, below))
            assert top / bottom >= 0 if bottom else base == top == 0


@pytest.mark.parametrize(
    ("base", "other", "equal"),
    [
        (1 - a / n, (n - a) / n, True),
        (1 - a / (n + b), (n + b - a) / (n + b), True),
        ((n - a) / (n + a), 1 - 2 * a / (n + a), True),
        (1 - a / n, (n - 2 * a) / n, False),
        ((n - a) / (n + a), (a - n) / (n + a), False),
        (1 - a / n, (n - a) / (n + 1), False),
        (1 - a / n, 1 - a, False),
    ],
    ids=str,
)
def test_powers_of_equal_numbers_are_equal(base: sp.Expr, other: sp.Expr, equal: bool) -> None:
    """Two ways to write a base give one power, also within larger exponents; other bases give other powers."""
    for exponent in (n, 2 * n, n + 1):
        assert is_zero(base**exponent - other**exponent) is equal
    assert not is_zero(base**n - base ** (2 * n))


@pytest.mark.parametrize(
    ("factor", "power"),
    [
        (((n - a) / (n + b)) ** 2, ((n - a) / (n + b)) ** (2 * d)),
        (a**2 / n**4, (a / n**2) ** (2 * d)),
        (4 * a**2, (4 * a**2) ** d),
        (a / n, (a / n) ** d),
    ],
    ids=str,
)
def test_powers_of_squares_of_quotients(factor: sp.Expr, power: sp.Expr) -> None:
    """The exponent of a product of powers is the largest common one."""
    assert power_of(factor, d) == power
