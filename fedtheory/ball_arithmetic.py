"""The arithmetic of problems whose data are rational and whose values are not."""

from __future__ import annotations

import numpy as np
from flint import arb

from fedtheory.arithmetic import Number, RationalArithmetic
from fedtheory.balls import Ball, ball


class BallArithmetic(RationalArithmetic):
    """Rationals, and balls around what has no rational value; users ask for it as for rationals."""

    kind = "ball"
    numbers = "enclosures"

    def sqrt(self, value: Number) -> Number:
        if isinstance(value, np.ndarray):
            return np.vectorize(self.sqrt, otypes=[object])(value)
        if isinstance(value, Ball):
            return value.sqrt()
        root = super().sqrt(value)
        return ball(root) if isinstance(root, arb) else root


BALL = BallArithmetic()
"""What problems without rational values use where rationals are asked for."""
