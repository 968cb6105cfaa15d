"""Sums of real roots: equality, order of close numbers, and rational values."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import add, mul
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.arithmetic import ENCLOSED, RATIONAL, plain_float
from fedtheory.arithmetic.enclosures import Enclosure, largest, precise_enclosures, replace_by_interval, smallest
from fedtheory.arithmetic.root_sums import RootSum, compute_root
from fedtheory.errors import NotApplicable, Unresolved

ONE, TINY = fmpq(1), fmpq(1, 10**300)


def root(*value: int, degree: int = 2) -> RootSum:
    """Return the root of a fraction."""
    found = compute_root(fmpq(*value), degree)
    assert isinstance(found, RootSum)
    return found


small = st.fractions(Fraction(1, 12), 12, max_denominator=12)
terms = st.tuples(st.integers(-3, 3), small, st.sampled_from([2, 2, 3, 4]))
sums = st.lists(terms, min_size=1, max_size=3)


def exact(parts: list[tuple[int, Fraction, int]]) -> Any:
    """Return a sum of multiples of roots in exact arithmetic."""
    return reduce(add, (c * RATIONAL.root(fmpq(r.numerator, r.denominator), k) for c, r, k in parts))


def symbolic(parts: list[tuple[int, Fraction, int]]) -> sp.Expr:
    """Return the same number in SymPy."""
    return sp.Add(*(c * sp.Rational(r.numerator, r.denominator) ** sp.Rational(1, k) for c, r, k in parts))


@given(sums, sums)
def test_operations_and_order_agree_with_sympy(
    left: list[tuple[int, Fraction, int]], right: list[tuple[int, Fraction, int]]
) -> None:
    """Sums, differences, products and comparisons agree with SymPy to fifty digits."""
    one, other = exact(left), exact(right)
    a, b = symbolic(left).evalf(60), symbolic(right).evalf(60)
    for found, expected in ((one + other, a + b), (one - other, a - b), (one * other, a * b)):
        with precise_enclosures():
            known = arb(getattr(found, "interval", found))
        middle = known.mid().fmpq()
        assert abs(sp.Rational(int(middle.p), int(middle.q)) - expected) < sp.Float("1e-45", 60)
    if abs(a - b) > sp.Float("1e-40", 60):
        assert (one < other) == (a < b)
        assert (one >= other) == (a >= b)
        assert one != other
    else:
        assert one == other
        assert one <= other <= one


@given(sums, sums)
def test_equal_sums_of_roots_are_equal(
    left: list[tuple[int, Fraction, int]], right: list[tuple[int, Fraction, int]]
) -> None:
    """Binomials, quotients and roots of squares cancel."""
    one, other = exact(left), exact(right)
    assert (one + other) * (one - other) == one * one - other * other
    assert (one + other) ** 2 == one**2 + 2 * one * other + other**2


squares = st.lists(st.tuples(st.integers(-3, 3), small, st.just(2)), min_size=1, max_size=3)


@given(squares, squares)
def test_quotients_of_sums_of_square_roots(
    left: list[tuple[int, Fraction, int]], right: list[tuple[int, Fraction, int]]
) -> None:
    """Denominators with several roots are inverted exactly."""
    one, other = exact(left), exact(right)
    if one != 0:
        assert other / one * one == other


def test_known_identities() -> None:
    """Root sums with a rational value become rational, and no others do."""
    assert root(2) + root(8) == 3 * root(2)
    assert root(2) * root(3) == root(6)
    assert (root(2) + root(3)) ** 2 == 5 + 2 * root(6)
    assert 1 / (root(2) + root(3)) == root(3) - root(2)
    assert isinstance(root(2) * root(8), fmpq)
    assert isinstance(root(2) - root(2), fmpq)
    assert root(2, degree=3) * root(4, degree=3) == 2
    assert root(4, degree=4) == root(2)
    assert RATIONAL.sqrt(root(2)) == root(2, degree=4)
    assert RATIONAL.sqrt(9 * root(2) ** 2) == 3 * root(2)
    total = 1 + root(2) + root(3) + root(5)
    assert total * (1 / total) == 1
    assert (1 - root(1, 2)) ** 9 * (1 - root(1, 2)) ** -9 == 1
    assert abs(1 - root(2)) == root(2) - 1 == -(1 - root(2))


def test_close_numbers_are_distinguished() -> None:
    """Numbers that agree to hundreds of digits are distinguished and ordered."""
    near = compute_root(2 - TINY, 2)
    assert near < root(2)
    assert near != root(2)
    assert not root(2) <= near
    assert root(2) + root(3) - compute_root(5 + 2 * root_below(6), 2) > 0
    assert largest([near, root(2), ONE]) is not near
    assert smallest([near, root(2)]) is near


def root_below(value: int) -> fmpq:
    """Return a rational slightly below a root."""
    return fmpq(math.isqrt(value * 10**400), 10**200)


def test_largest_of_equal_roots() -> None:
    """The largest of equal roots is one of them, known exactly."""
    (found,) = {str(largest([root(2), root(8) / 2])), str(smallest([root(2), root(8) / 2]))}
    assert found == "sqrt(2)"


def test_mixed_with_intervals() -> None:
    """Mixed with an enclosure a sum of roots becomes one, and close comparisons are undecided."""
    with precise_enclosures():
        near = arb(2).sqrt()
    for found in (
        near + root(2),
        root(2) + near,
        root(2) * Enclosure(near),
        near / root(2),
        1 / (Enclosure(near) * root(3)),
    ):
        assert isinstance(found, Enclosure)
        assert not isinstance(found, RootSum)
        assert isinstance(replace_by_interval(found), arb)
    with pytest.raises(Unresolved):
        _ = Enclosure(near) <= root(2)
    assert Enclosure(near) < root(3)
    assert ENCLOSED.sqrt(fmpq(2)) == root(2)
    assert plain_float(np.exp(np.array([root(2)], dtype=object))[0]) == pytest.approx(math.exp(math.sqrt(2)))
    assert RATIONAL.exp(root(2)).overlaps(near.exp())
    assert RATIONAL.log(root(2)).overlaps(near.log())


def test_large_sums_become_enclosures() -> None:
    """Squares of long sums, and roots of sums, become enclosures, without long computations."""
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
    total = reduce(add, map(root, primes))
    square = total * total
    assert not isinstance(square, RootSum)
    assert plain_float(square) == pytest.approx(sum(map(math.sqrt, primes)) ** 2)
    assert not isinstance(reduce(mul, (1 + root(prime) for prime in primes)), RootSum)
    assert plain_float(RATIONAL.sqrt(1 + root(2))) == pytest.approx(math.sqrt(1 + math.sqrt(2)))
    assert not isinstance(compute_root(fmpq(2), 1001), RootSum)
    with pytest.raises(NotApplicable, match="negative"):
        RATIONAL.root(fmpq(-2), 2)
    with pytest.raises(ZeroDivisionError):
        _ = root(2) / (root(2) - root(2))


def test_floats_are_refused() -> None:
    """Mixing with floats is an error."""
    with pytest.raises(TypeError):
        _ = root(2) + 0.5
    with pytest.raises(TypeError):
        _ = root(2) < 0.5


def test_order_of_roots() -> None:
    """The root of a larger number is larger."""
    ordered = [root(n, 7) for n in range(1, 7)]
    assert all(low < high for low, high in pairwise(ordered))


def test_sums_of_roots_as_text() -> None:
    """Short sums are printed as roots, as SymPy reads them; long ones as intervals."""
    for number, expected in (
        (root(2), "sqrt(2)"),
        (1 - root(1, 2), "-sqrt(1/2) + 1"),
        (3 * root(2, degree=3) / 2, "3/2*(2)**(1/3)"),
        (-root(5) - root(3), "-sqrt(5) - sqrt(3)"),
    ):
        assert str(number) == expected
        assert float(sp.sympify(expected)) == pytest.approx(plain_float(number))
    assert str(root(10**30 + 1)).startswith("[")
    assert RATIONAL.text(root(2)).startswith("[1.4142135623730950488")
