"""The arithmetic of problems whose data are rational and whose values are not."""

from __future__ import annotations

import numpy as np
from flint import arb

from fedtheory.arithmetic.enclosures import Enclosure, enclosure
from fedtheory.arithmetic.operations import Number
from fedtheory.arithmetic.rationals import RationalArithmetic


class EnclosureArithmetic(RationalArithmetic):
    """Rationals, and enclosures around what has no rational value; users select it like rationals."""

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
        """A function of a rational, an enclosure, or each entry of an array."""
        if isinstance(value, np.ndarray):
            return np.vectorize(lambda entry: self._enclose(function, entry, *further), otypes=[object])(value)
        if isinstance(value, Enclosure):
            return getattr(value, function)(*further)
        found = getattr(super(), function)(value, *further)
        return enclosure(found) if isinstance(found, arb) else found


ENCLOSED = EnclosureArithmetic()
"""Arithmetic of problems without rational values where rationals are requested."""
