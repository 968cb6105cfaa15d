"""Reads numbers from run files, data and the command line."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from fedtheory.errors import InputError

_NUMBER = re.compile(r"\s*[+-]?(\d+(\s*/\s*\d+)?|\d*\.?\d+(e[+-]?\d{1,3})?|\d+\.(e[+-]?\d{1,3})?)\s*", re.IGNORECASE)
_LONGEST_NUMBER = 4000
"""Largest number of characters of a number in a run file."""


def is_number(text: str) -> bool:
    """Return whether a text is one number, such as ``"1/20"``."""
    return _NUMBER.fullmatch(text) is not None


def read_fraction(value: object, key: str) -> Fraction:
    """Return the fraction that a whole number or a text stands for; `key` names it in errors."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer | str | Decimal | Fraction):
        raise _report_no_number(value, key)
    try:
        if isinstance(value, str):
            return _parse_fraction(value)
        return Fraction(int(value)) if isinstance(value, np.integer) else Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise _report_no_number(value, key) from None


@lru_cache(maxsize=1024)
def _parse_fraction(text: str) -> Fraction:
    """Return the fraction of a text, cached: files repeat few numbers for many clients."""
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return Fraction(text)


def _report_no_number(value: object, key: str) -> InputError:
    """Return the error for a value that is not a number."""
    return InputError(key, f'expected a number or a rational string such as "1/20", got {abridge(value)}')


def abridge(value: object) -> str:
    """Return a value as text, shortened for error messages."""
    shown = (
        f"an integer of {value.bit_length()} bits" if isinstance(value, int) and abs(value) > 10**60 else repr(value)
    )
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
