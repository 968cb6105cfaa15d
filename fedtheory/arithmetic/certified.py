"""Floats with certified error bounds."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic.midpoint_radius import MidpointRadius
from fedtheory.arithmetic.operations import Array
from fedtheory.arithmetic.rationals import RationalArithmetic


class CertifiedArithmetic(RationalArithmetic):
    """Arithmetic with rational input data: arrays of results are midpoints and radii, single numbers stay rational.

    Used for expectations of runs whose rationals would be too long.  Whether a matrix is semidefinite or a system has a
    solution is decided in rationals.
    """

    kind = "enclosure"
    numbers = "enclosures"
    bits = 53
    """Bits of the midpoints."""

    def array(self, values: object) -> Array:
        return MidpointRadius.enclose(values)  # type: ignore[return-value]

    def zeros(self, *shape: int) -> Array:
        return MidpointRadius(np.zeros(shape), np.zeros(shape))  # type: ignore[return-value]

    def identity(self, size: int) -> Array:
        return MidpointRadius(np.eye(size), np.zeros((size, size)))  # type: ignore[return-value]


CERTIFIED = CertifiedArithmetic()
"""Arithmetic for the expectations of runs that are too long for rationals."""
