"""Numbers for readers: short fractions, sizes of long ones, and enclosures with radius."""

from __future__ import annotations

from flint import arb, fmpq

from fedtheory.language.numbers import format_decimal, format_exactly


def test_each_kind_of_number() -> None:
    """No number is printed with more digits than are correct."""
    assert format_exactly(fmpq(3, 4)) == "3/4"
    assert format_exactly(fmpq(1, 10**30)) == "a fraction of 32 digits"
    assert format_exactly(0.25) == "0.25"
    enclosed = format_exactly(arb(fmpq(1, 4), 1e-6))
    assert enclosed.startswith("[0.25")
    assert "+/-" in enclosed
    assert format_decimal(fmpq(1, 3)) == "0.3333"
