"""Numbers as quotients of polynomials: equality, zeros, and invalid numbers."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.kernel import Numbers, is_nonnegative, is_positive
from fedtheory.kernel.expressions import Average, Gradient, Inner
from fedtheory.kernel.quotients import Rejected, is_zero, linear, quotient, reduce_fraction, vanishes

a, b, c = sp.symbols("a b c", positive=True)
d = sp.Symbol("d", real=True)
r, s = sp.symbols("r s", nonnegative=True)
n = sp.Symbol("n", integer=True, nonnegative=True)
x, F = sp.symbols("x F", real=True)
POINTS = [dict(zip((a, b, c, d), map(sp.Integer, values), strict=True)) for values in ((2, 3, 5, -7), (11, 1, 4, 6))]


@st.composite
def numbers(draw: st.DrawFn, depth: int = 3) -> Any:
    """Generate sums, products and quotients of symbols and rationals."""
    if depth == 0 or draw(st.booleans()):
        rational = st.fractions(-3, 3, max_denominator=4).map(lambda q: sp.Rational(q.numerator, q.denominator))
        return draw(st.sampled_from([a, b, c, d]) | rational)
    one, other = draw(numbers(depth - 1)), draw(numbers(depth - 1))
    return draw(st.sampled_from([one + other, one * other, one - other, one / (other**2 + 1), one**2]))


@pytest.mark.long
@settings(deadline=None)
@given(numbers(), numbers())
def test_a_quotient_has_the_values_of_what_it_was_made_of(one: Any, other: Any) -> None:
    """A quotient has the values of its expression at points, and equal numbers have one form."""
    whole = quotient(one).expression
    for point in POINTS:
        assert whole.xreplace(point) == one.xreplace(point)
    assert is_zero(one - other) is (sp.cancel(one - other) == 0)
    assert quotient(sp.expand(one + other) - other).expression == whole
    assert quotient(one * (other**2 + 1) / (other**2 + 1)).expression == whole


@settings(deadline=None)
@given(numbers())
def test_the_factors_of_a_denominator_multiply_to_it(one: Any) -> None:
    """The factors of a denominator multiply to it, and numerator and denominator have no common factor."""
    found = quotient(one)
    assert is_zero(sp.Mul(*found.factored_denominator()) - found.written(found.denominator))
    assert found.numerator.gcd(found.denominator).is_one()


@settings(deadline=None)
@given(numbers())
def test_proved_signs_hold_at_points(one: Any) -> None:
    """A number with a proved sign has it at all points where it is defined."""
    known = Numbers(symbols=frozenset({a, b, c, d}))
    if is_nonnegative(one, known):
        assert all(one.xreplace(point) >= 0 for point in POINTS)
    if is_positive(one, known):
        assert all(one.xreplace(point) > 0 for point in POINTS)


EQUAL: dict[str, tuple[Any, Any]] = {
    "a root of a letter": (sp.sqrt(a) * sp.sqrt(a) ** 3, a**2),
    "a quotient of roots": ((a - b) / (sp.sqrt(a) - sp.sqrt(b)), sp.sqrt(a) + sp.sqrt(b)),
    "the root of a rational": ((sp.sqrt(2) - 1) * (sp.sqrt(2) + 1), sp.S.One),
    "a symbolic power": ((1 + a) ** (n + 2), (1 + a) ** n * (1 + 2 * a + a**2)),
    "one over a symbolic power": ((1 + a) ** (n + 1) / (1 + a) ** n, 1 + a),
    "a mean": ((Average(a * b) ** 2 - 1) / (Average(a * b) - 1), Average(a * b) + 1),
    "a length": (sp.sqrt(Inner(x, x)) ** 2 * a, a * Inner(x, x)),
}


@pytest.mark.parametrize("name", EQUAL)
def test_symbols_with_rules(name: str) -> None:
    """Roots are symbols with squares, symbolic powers are symbols next to integer powers."""
    left, right = EQUAL[name]
    assert is_zero(left - right)
    assert not is_zero(left - right + 1)
    assert not is_zero(left + right)


ROOTS = {r: a + b, s: 1 / a}
BY_ROOTS: dict[str, tuple[Any, bool]] = {
    "a square": (r**2 - a - b, True),
    "a cube": (r**3 - (a + b) * r, True),
    "the root of a quotient": (s**2 * a - 1, True),
    "both": (r**2 * s**4 - (a + b) / a**2, True),
    "over a denominator": ((r**2 - a) / (r + 1) - b / (1 + r), True),
    "another number": (r**2 - a, False),
    "the root itself": (r - a, False),
    "with a pole": ((r**2 - a - b) / (r**4 - (a + b) ** 2), False),
    "with the pole of another root": ((r**2 - a - b) / (s**2 - 1 / a), False),
}


@pytest.mark.parametrize("name", BY_ROOTS)
def test_squares_of_roots(name: str) -> None:
    """Squares of roots are replaced in numerator and denominator; 0/0 is no zero."""
    number, expected = BY_ROOTS[name]
    assert is_zero(number, ROOTS) is expected
    assert not is_zero(number)


NONE: dict[str, Any] = {
    "an imaginary number": sp.I * a,
    "infinity": sp.oo,
    "nothing": sp.nan,
    "a float": sp.Float("0.5") * a,
    "pi": sp.pi,
    "a logarithm": sp.log(a),
    "a maximum": sp.Max(a, b),
    "cases": sp.Piecewise((a, a > b), (b, True)),
    "the root of a sum": sp.sqrt(a + b),
    "the root of a letter of either sign": sp.sqrt(d),
    "the root of a negative number": sp.sqrt(-2, evaluate=False),
    "a third root": a ** sp.Rational(1, 3),
    "an exponent with two letters": a ** (n + sp.Symbol("m", integer=True)),
    "half a letter": a ** (n / 2),
    "a gradient": Gradient(F, x),
    "one over zero": 1 / sp.Add(a, -a, evaluate=False),
    "one over what vanishes": 1 / ((a + b) ** 2 - a**2 - b**2 - 2 * a * b),
}


@pytest.mark.parametrize("name", NONE)
def test_invalid_numbers_are_refused(name: str) -> None:
    """An invalid number is rejected with one line, alone and inside of others."""
    for number in (NONE[name], 1 + a * NONE[name]):
        with pytest.raises(Rejected) as refused:
            quotient(number)
        assert "\n" not in str(refused.value)


SYMBOLS = sp.symbols("y:12", positive=True)
LARGE: dict[str, Any] = {
    "a power of a sum": sp.Add(*SYMBOLS) ** 12,
    "a product of sums": sp.Mul(*(sp.Add(*((n + m) ** 2 * y for m, y in enumerate(SYMBOLS))) for n in range(1, 30))),
    "an exponent without end": (1 + SYMBOLS[0]) ** 10**30,
    "a power of a letter without end": SYMBOLS[0] ** 10**30,
    "a sum of quotients": sp.Add(*(1 / (n + sp.Add(*(n**m * y for m, y in enumerate(SYMBOLS)))) for n in range(1, 30))),
}


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_numbers_that_are_too_large(name: str) -> None:
    """Too large numbers are rejected before they are expanded."""
    with pytest.raises(Rejected, match="terms when it is multiplied out"):
        quotient(LARGE[name])


@pytest.mark.long
@settings(deadline=None)
@given(numbers(), numbers())
def test_numbers_are_added_and_multiplied(one: Any, other: Any) -> None:
    """Sums and products agree for all sets of symbols."""
    assert (quotient(one) + quotient(other)).expression == quotient(one + other).expression
    assert (quotient(one) * quotient(other)).expression == quotient(one * other).expression
    assert not quotient(one) + quotient(-one)


def test_a_symbol_and_its_root_are_of_one_number() -> None:
    """A symbol is replaced by the square of its root if that occurs."""
    root, symbol, two = quotient(sp.sqrt(a)), quotient(a + b), quotient(sp.sqrt(2))
    assert (symbol + quotient(-1) * root * root).expression == b
    assert (symbol * root).expression == quotient(sp.sqrt(a) ** 3 + b * sp.sqrt(a)).expression
    assert vanishes(two * two + quotient(-2))
    assert not vanishes(two + root)


u, v, w = sp.symbols("u v w", real=True)


def test_linear_expressions_are_split() -> None:
    """A linear expression is split into coefficients, possibly quotients, and the rest."""
    coefficients, rest = linear((2 * u + 3) / (1 + w**2) + w * u - Average(w), [u, v])
    assert is_zero(coefficients[u] - 2 / (1 + w**2) - w)
    assert coefficients[v] == 0
    assert is_zero(rest - 3 / (1 + w**2) + Average(w))


NOT_LINEAR = {
    "a square": u**2,
    "a product": u * v,
    "below": w / u,
    "below, in a sum": w / (1 + u),
    "a power of a root": sp.sqrt(sp.Symbol("u", positive=True)),
    "inside a mean": Average(u * w),
    "in a length": Inner(u * w, w),
}


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_nonlinear_expressions_are_refused(name: str) -> None:
    of = next(iter(sorted(NOT_LINEAR[name].free_symbols & {u, sp.Symbol("u", positive=True)}, key=str)))
    with pytest.raises(Rejected, match="is not linear in"):
        linear(NOT_LINEAR[name], [of, v])


def test_equal_numbers_have_one_notation() -> None:
    """Equal numbers have one form: a polynomial over another, without common factor."""
    assert reduce_fraction((u**2 - v**2) / (u - v)) == u + v
    assert reduce_fraction((u + 1) ** 2 / w) == reduce_fraction(u**2 / w + (2 * u + 1) / w)
