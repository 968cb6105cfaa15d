"""Identifies expressions from their values at samples: products of a rational and powers of known factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from fedtheory.kernel.expressions import Average, Expr
from fedtheory.kernel.work import spend
from fedtheory.search.samples import Samples

_LARGEST_POWER = 4
"""Limit on the powers of factors, in absolute value."""
_LARGEST_DENOMINATOR = 64
"""Limit on the denominator of the rational."""
_PRECISE = 1e-4
"""Relative error of values from semidefinite programs."""
_NOISE = 1e-4
"""Size up to which entries of null spaces that match no product count as zero."""
_SPARE = 3
"""Number of samples beyond the number of unknown powers."""


class Products:
    """Possible factors of a number, with their values at samples: symbols, sums, and averages over clients."""

    def __init__(self, samples: Samples, units: Sequence[Expr]) -> None:
        means = {mean for unit in units for mean in unit.atoms(Average)}
        factors = dict.fromkeys([*samples.symbols, *sorted(means, key=str), *units])
        values: Mapping[Expr, NDArray[np.float64]] = {factor: samples.values(factor) for factor in factors}
        kept = {factor: each for factor, each in values.items() if np.all(each != 0) and np.all(np.isfinite(each))}
        self._factors = _select_independent(kept)
        self._logarithms = np.array([np.log(np.abs(kept[factor])) for factor in self._factors])
        self._values = kept

    def fit(self, values: NDArray[np.float64]) -> Expr | None:
        """Return the product of a rational and powers of factors with these values; None if there is none.

        Small values that match no product count as zero.
        """
        if np.all(np.abs(values) <= _PRECISE * _PRECISE):
            return sp.S.Zero
        found = self._fit_product(values)
        return sp.S.Zero if found is None and np.all(np.abs(values) <= _NOISE) else found

    def _fit_product(self, values: NDArray[np.float64]) -> Expr | None:
        """Return the product with these values, by least squares for logarithms; None if no product fits."""
        unknown = len(self._factors) + 1
        has_one_sign = np.all(values > 0) or np.all(values < 0)
        if not self._factors or len(values) < unknown + _SPARE or not has_one_sign:
            return _recognise(values)
        spend(100 * unknown * len(values))
        columns = np.vstack([np.ones(len(values)), self._logarithms]).T
        found, *_ = np.linalg.lstsq(columns, np.log(np.abs(values)), rcond=None)
        powers = np.rint(found[1:])
        if np.any(np.abs(powers) > _LARGEST_POWER):
            return None
        rest = values * np.exp(-powers @ self._logarithms)
        signs = np.prod([np.sign(self._values[f]) ** p for f, p in zip(self._factors, powers, strict=True)], axis=0)
        rational = _recognise(rest * signs)
        if rational is None:
            return None
        return sp.Mul(rational, *(f ** int(p) for f, p in zip(self._factors, powers, strict=True)))


def _select_independent(values: Mapping[Expr, NDArray[np.float64]]) -> list[Expr]:
    """Return the factors whose logarithms are linearly independent of the previous ones and of a constant."""
    chosen: list[Expr] = []
    count = len(next(iter(values.values()), np.empty(0)))
    columns = [np.ones(count)]
    for factor, each in values.items():
        more = [*columns, np.log(np.abs(each))]
        if np.linalg.matrix_rank(np.array(more), tol=1e-6 * count) == len(more):
            chosen.append(factor)
            columns = more
    return chosen


def _recognise(values: NDArray[np.float64]) -> sp.Rational | None:
    """Return the simple rational that is close to all values; None if there is none."""
    middle = float(np.median(values))
    if middle == 0 or np.any(np.abs(values - middle) > 10 * _PRECISE * abs(middle)):
        return None
    found = Fraction(middle).limit_denominator(_LARGEST_DENOMINATOR)
    if abs(float(found) - middle) > _PRECISE * abs(middle) * 10:
        return None
    return sp.Rational(found.numerator, found.denominator)


def list_rationals(least: float, most: float, largest: int) -> list[sp.Rational]:
    """Return the two smallest positive rationals of the smallest denominator in an interval, or the only one.

    The ends of the interval may be wrong by rounding.  There is none if the denominator exceeds the largest.
    """
    for denominator in range(1, largest + 1):
        first = max(ceil(least * (1 - _ROUNDING) * denominator), 1)
        found = [each for each in (first, first + 1) if each <= most * (1 + _ROUNDING) * denominator]
        if found:
            return [sp.Rational(each, denominator) for each in found]
    return []


_ROUNDING = 1e-5
"""Relative error of the ends of intervals."""
