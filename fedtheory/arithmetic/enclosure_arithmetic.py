"""Arithmetic of problems with rational data and irrational values."""

from __future__ import annotations

import numpy as np
from flint import arb

from fedtheory.arithmetic.enclosures import Enclosure, enclose
from fedtheory.arithmetic.operations import Number
from fedtheory.arithmetic.rationals import RationalArithmetic


class EnclosureArithmetic(RationalArithmetic):
    """Rationals, with enclosures for irrational values; users select it as "rational"."""

    kind = "enclosure"
    numbers = "enclosures"

    def sqrt(self, value: Number) -> Number:
        return self._enclose("sqrt", value)

    def root(self, value: Number, degree: int) -> Number:
        return self._enclose("root", value, degree)

    def exp(self, value: Number) -> Number:
        return self._enclose("exp", value)

    def log(self, value: Number) -> Number:
        return self._enclose("log", value)

    def _enclose(self, function: str, value: Number, *further: int) -> Number:
        """Return a function of a rational, an enclosure, or each entry of an array."""
        if isinstance(value, np.ndarray):
            return np.vectorize(lambda entry: self._enclose(function, entry, *further), otypes=[object])(value)
        if isinstance(value, Enclosure):
            return getattr(value, function)(*further)
        found = getattr(super(), function)(value, *further)
        return enclose(found) if isinstance(found, arb) else found


ENCLOSED = EnclosureArithmetic()
"""Arithmetic that replaces rationals for problems with irrational values."""
