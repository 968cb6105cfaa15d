"""Rational constants on a terminal: short fractions are printed, long ones with their size."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from fedtheory.cli.simulation_tables import _shorten


@pytest.mark.parametrize("value", ["3/7", "12345678901234567890/3", 5, None])
def test_short_values_are_shown_whole(value: Any) -> None:
    assert _shorten(value) == str(value)


@pytest.mark.parametrize(
    ("fraction", "size"),
    [
        (Fraction(1, 3) + Fraction(1, 10**40), "0.333333"),
        (Fraction(-(10**60) - 1, 7), "-1.42857e+59"),
        (Fraction(10**400 + 1), "1.00000e+400"),
        (Fraction(3, 2 * 10**400 + 1), "1.50000e-400"),
    ],
)
def test_long_fractions_have_a_size(fraction: Fraction, size: str) -> None:
    """The size is correct also beyond the range of floats."""
    text = str(fraction)
    assert _shorten(text) == f"about {size} (a fraction of {len(text)} characters, in --json)"


def test_enclosures_have_their_first_digits() -> None:
    assert _shorten("[1.41421356237 +/- 3.1e-12]") == "1.41421"
