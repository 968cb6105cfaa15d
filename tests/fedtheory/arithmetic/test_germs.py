"""Rational functions of an infinitesimal: an ordered field, and their behaviour near zero."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedtheory.arithmetic.germs import INFINITESIMAL, Germ

h = INFINITESIMAL
SMALL = fmpq(1, 10**9)
GERMS = [
    h,
    -h,
    1 + h,
    2 - 3 * h,
    h**2,
    1 / h,
    (1 + h) / (2 - h),
    fmpq(1, 3) * h - h**3,
    h * 0,
    0 * h + fmpq(5, 7),
    -(h**-2),
]


def at(germ: Any, value: fmpq) -> fmpq:
    """Return the value of a rational function at a number."""
    return germ.numerator(value) / germ.denominator(value) if isinstance(germ, Germ) else germ


@pytest.mark.parametrize(("one", "other"), list(itertools.product(GERMS, repeat=2)))
def test_operations_are_those_of_the_values(one: Germ, other: Germ) -> None:
    """Sums, products, quotients, powers and comparisons agree with those at a small number."""
    left, right = at(one, SMALL), at(other, SMALL)
    assert at(one + other, SMALL) == left + right
    assert at(one - other, SMALL) == left - right
    assert at(one * other, SMALL) == left * right
    assert (one < other) == (left < right)
    assert (one <= other) == (left <= right)
    assert (one == other) == (left == right)
    assert at(abs(one), SMALL) == abs(left)
    assert at(one**3, SMALL) == left**3
    if other:
        assert at(one / other, SMALL) == left / right
        assert one / other * other == one


@pytest.mark.parametrize("number", [3, fmpq(2, 3), -1])
@pytest.mark.parametrize("germ", GERMS)
def test_numbers_on_either_side(germ: Germ, number: Any) -> None:
    value = at(germ, SMALL)
    assert at(number + germ, SMALL) == number + value
    assert at(number - germ, SMALL) == number - value
    assert at(number * germ, SMALL) == number * value
    assert (number < germ) == (number < value)
    if germ:
        assert at(number / germ, SMALL) == number / value


def test_a_germ_is_asymptotic_to_its_lowest_power() -> None:
    """A germ is asymptotic to its lowest power with the coefficient there."""
    germ = (3 * h**2 + h**5) / (2 - h)
    assert (germ.power, germ.leading) == (2, fmpq(3, 2))
    assert (1 / germ).power == -2
    assert h.is_monomial
    assert not germ.is_monomial
    with pytest.raises(ValueError, match="zero function"):
        _ = (h - h).power
    with pytest.raises(ZeroDivisionError):
        _ = 1 / (h - h)


def test_an_infinitesimal_is_below_all_positive_numbers() -> None:
    assert 0 < h < fmpq(1, 10**1000)
    assert 1 / h > 10**1000
    assert max([h, h**2, 2 * h]) == 2 * h


def test_germs_in_arrays() -> None:
    """NumPy multiplies and compares germs like other exact numbers."""
    matrix = np.array([[fmpq(1), h], [h, fmpq(2)]], dtype=object)
    assert (matrix @ matrix)[0, 0] == 1 + h**2
    assert (matrix @ matrix)[0, 1] == 3 * h
    assert (np.abs(-matrix) == matrix).all()
    with pytest.raises(TypeError):
        float(h)
