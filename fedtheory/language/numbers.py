"""Numbers for readers: exact where they are short, and always a few digits."""

from __future__ import annotations

from flint import fmpq

from fedtheory.arithmetic import Number, plain_float

_SHORT = 22
"""Characters up to which a fraction is printed whole."""


def decimal(value: Number, digits: int = 4) -> str:
    """Return a few significant digits."""
    return f"{plain_float(value):.{digits}g}"


def exact(value: Number) -> str:
    """Return a rational as it is when short, else the number of its digits; an enclosure with its radius."""
    text = str(value)
    if text.startswith("["):
        return text
    if not isinstance(value, fmpq) or len(text) <= _SHORT:
        return text if isinstance(value, fmpq) else decimal(value, 6)
    return f"a fraction of {len(text) - 1} digits"
