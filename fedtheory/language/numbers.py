"""Formats numbers for readers: short ones exactly, and all with a few digits."""

from __future__ import annotations

from flint import fmpq

from fedtheory.arithmetic import Number, plain_float

_SHORT = 22
"""Length in characters up to which a fraction is printed exactly."""


def format_decimal(value: Number, digits: int = 4) -> str:
    """Return a few significant digits."""
    return f"{plain_float(value):.{digits}g}"


def format_exactly(value: Number) -> str:
    """Return a rational exactly if it is short, else its number of digits; return an enclosure with its radius."""
    text = str(value)
    if text.startswith("["):
        return text
    if not isinstance(value, fmpq) or len(text) <= _SHORT:
        return text if isinstance(value, fmpq) else format_decimal(value, 6)
    return f"a fraction of {len(text) - 1} digits"
