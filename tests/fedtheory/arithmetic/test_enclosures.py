"""Enclosures: every operation encloses the true number, and no comparison is a guess."""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL, plain_float, round_to_rational, round_up_to_rational
from fedtheory.arithmetic.enclosures import (
    Enclosure,
    convert_to_ball,
    enclose_numbers,
    largest,
    maximum,
    minimum,
    precise_enclosures,
    smallest,
)
from fedtheory.errors import NotApplicable, Unresolved

few = settings(max_examples=60, deadline=None, derandomize=True)
rationals = st.fractions(min_value=-100, max_value=100, max_denominator=60)
radii = st.sampled_from([0.0, 1e-20, 0.25, 3.0])


def exact(value: Fraction) -> fmpq:
    """Convert a fraction to a flint number."""
    return fmpq(value.numerator, value.denominator)


def around(value: Fraction, radius: float) -> Enclosure:
    """Return an enclosure that contains a number, which need not be its midpoint."""
    with precise_enclosures():
        return Enclosure(arb(exact(value)) + arb(radius / 2, radius))


def contains(found: object, value: Fraction) -> bool:
    """Return whether an enclosure contains a number, with enough bits that rounding does not matter."""
    with precise_enclosures(2048):
        return bool((convert_to_ball(found) - exact(value)).contains(0))


@few
@given(rationals, rationals, radii, radii)
def test_operations_enclose(x: Fraction, y: Fraction, wide: float, narrow: float) -> None:
    """Sums, differences, products, quotients and powers of enclosures contain those of the numbers in them."""
    a, b = around(x, wide), around(y, narrow)
    for operation in (operator.add, operator.sub, operator.mul):
        for found in (operation(a, b), operation(a, exact(y)), operation(exact(x), b)):
            assert contains(found, operation(x, y))
    assert contains(a**3, x**3)
    assert contains(a * a, x**2)
    if y != 0:
        assert contains(a / exact(y), x / y)
        assert contains(exact(x) / Enclosure(arb(exact(y))), x / y)


@few
@given(rationals, rationals, radii)
def test_comparisons_are_certain_or_refused(x: Fraction, y: Fraction, radius: float) -> None:
    """If enclosures compare as smaller, larger, equal or unequal, so do the numbers in them."""
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        try:
            said = compare(around(x, radius), exact(y))
        except Unresolved:
            assert abs(float(x - y)) <= 2 * radius + 1e-12
        else:
            assert said == compare(x, y)


def test_a_number_less_itself_is_zero() -> None:
    """Every enclosure is equal to itself, and its square is that of one number."""
    wide = Enclosure(arb(1, 2))
    assert wide - wide == 0
    assert wide == wide  # noqa: PLR0124
    assert not wide < wide  # noqa: PLR0124
    with pytest.raises(Unresolved, match="cannot separate two numbers"):
        _ = Enclosure(arb(1, 2)) == Enclosure(arb(1, 2))


def test_floats_do_not_mix() -> None:
    """Mixing a float with an enclosure is an error."""
    for operation in (operator.add, operator.mul, operator.truediv, operator.lt):
        with pytest.raises(TypeError):
            operation(Enclosure(arb(1)), 0.5)


def test_enclosures_in_arrays() -> None:
    """NumPy's sums, products and functions work on enclosures mixed with rationals."""
    values = enclose_numbers(RATIONAL.array(["1/3", "2/3"]))
    assert convert_to_ball(values.sum()).overlaps(arb(1))
    assert convert_to_ball(values @ RATIONAL.array([3, 6])).overlaps(arb(5))
    assert convert_to_ball(np.log1p(np.expm1(values))[0]).overlaps(arb(fmpq(1, 3)))
    assert enclose_numbers(np.array([0.5])).dtype == float


@few
@given(st.lists(st.tuples(rationals, radii), min_size=1, max_size=5))
def test_extremes_enclose(given_numbers: list[tuple[Fraction, float]]) -> None:
    """The maximum and minimum of overlapping enclosures contain the true ones."""
    numbers = [x for x, _ in given_numbers]
    kept = [around(x, radius) for x, radius in given_numbers]
    assert contains(largest(kept), max(numbers))
    assert contains(smallest(kept), min(numbers))
    mixed = [*kept, fmpq(200)]
    assert largest(mixed) == 200
    assert isinstance(largest(mixed), fmpq)


def test_extremes_of_overlapping_intervals() -> None:
    """For numbers in [0, 2] and [1, 3] the larger is in [1, 3], the smaller in [0, 2]."""
    low, high = np.array([Enclosure(arb(1, 1))]), np.array([Enclosure(arb(2, 1))])
    top, bottom = convert_to_ball(maximum(low, high)[0]), convert_to_ball(minimum(low, high)[0])
    assert top.contains(arb(2, 1))
    assert bottom.contains(arb(1, 1))
    assert not top.contains(arb("0.9"))
    assert maximum(np.array([1.0]), np.array([2.0])).tolist() == [2.0]
    assert largest(np.array([1.0, np.inf])) == np.inf


def test_their_arithmetic() -> None:
    """Data are read as rationals; roots are enclosures of numbers that are certainly non-negative."""
    assert ENCLOSED.number("1/3", "x") == fmpq(1, 3)
    assert ENCLOSED.sqrt(fmpq(9, 4)) == fmpq(3, 2)
    root = ENCLOSED.sqrt(RATIONAL.array([2]))[0]
    assert isinstance(root, Enclosure)
    assert root * root == 2
    assert convert_to_ball(ENCLOSED.sqrt(root)).overlaps(arb(2).root(4))
    with pytest.raises(Unresolved):
        ENCLOSED.sqrt(Enclosure(arb(0, 1)))
    with pytest.raises(NotApplicable, match="negative"):
        ENCLOSED.sqrt(fmpq(-1))
    assert ENCLOSED.text(root).startswith("[1.41421356237309504880168872")
    assert abs(plain_float(root) - 2**0.5) <= 1e-15
    assert FLOAT.number(root, "root") == plain_float(root)


def test_rationals_beside_enclosures() -> None:
    """Short rationals are found above and close to an enclosure; rationals are returned as given."""
    third = fmpq(1, 3)
    assert round_up_to_rational(third) == round_to_rational(third) == third
    with precise_enclosures():
        root = Enclosure(arb(2).sqrt())
    above = round_up_to_rational(root)
    assert root < above < root * fmpq(10_001, 10_000)
    assert abs(round_to_rational(root) - root) < fmpq(1, 10**8)
