"""The arithmetic of problems whose data are rational and whose values are not."""

from __future__ import annotations

import numpy as np
from flint import arb

from fedtheory.arithmetic.enclosures import Enclosure, enclosure
from fedtheory.arithmetic.operations import Number
from fedtheory.arithmetic.rationals import RationalArithmetic


class EnclosureArithmetic(RationalArithmetic):
    """Rationals, and enclosures around what has no rational value; users ask for it as for rationals."""

    kind = "enclosure"
    numbers = "enclosures"

    def sqrt(self, value: Number) -> Number:
        if isinstance(value, np.ndarray):
            return np.vectorize(self.sqrt, otypes=[object])(value)
        if isinstance(value, Enclosure):
            return value.sqrt()
        root = super().sqrt(value)
        return enclosure(root) if isinstance(root, arb) else root


ENCLOSED = EnclosureArithmetic()
"""What problems without rational values use where rationals are asked for."""
