"""Gradients along one coordinate: suprema over the whole line, and minimisers.

Coordinates are independent of each other, so that suprema and minimisers of
separable objectives reduce to those of single coordinates.  Derivatives of Huber's
and Hampel's losses are piecewise linear, and results are computed exactly at their
kinks.  For the other kinds branch and bound in floats bounds a supremum from above;
with rational data it is verified in enclosures, see `fedtheory.federation.losses.sigmoids`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import FLOAT, Arithmetic, Array, Number, arithmetic_of, map_equal_rows
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.losses.loss_terms import Terms
from fedtheory.federation.losses.scalar_losses import LossFamily, SmoothKind
from fedtheory.federation.losses.sigmoids import Sigmoids

_FAR = 40
"""Distance from the outermost centres, in widths, at which derivatives equal their limits in double precision."""
_CLOSE, _CLOSE_CURVATURE = 1e-12, 1e-9
"""Tolerances of upper bounds on suprema, relative to the size of the summands."""
_MOST_INTERVALS = 1 << 18


@dataclass(frozen=True, eq=False)
class FunctionsOfCoordinate:
    """R functions of one coordinate, ``h_r(x) = sum_t B_rt phi'(x - b_t)``."""

    kind: LossFamily
    coefficients: Array
    """B, (R, n)."""
    centres: Array
    """b, (n,), each pair of centre and width once."""
    widths: Array
    """(n,)."""

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the arrays."""
        return arithmetic_of(self.coefficients)

    def supremum(self, shares: Array) -> Number:
        """Return ``sup_x sum_r shares_r h_r(x)^2`` for shares (R,) of any sign.

        For smooth kinds in floats, the result is an upper bound.
        """
        if not self.coefficients.size:
            return self.arithmetic.number(0, "zero")
        if self._sigmoids is not None:
            return self._sigmoids.supremum(shares)
        return self._exact_supremum(shares) if self.kind.is_piecewise else self._enclose_supremum(shares)

    def suprema_sq(self) -> Array:
        """Return ``sup_x h_r(x)^2`` of each function, (R,); equal functions share one computation."""
        one = self.arithmetic.identity(1)[0]
        return self.arithmetic.array(map_equal_rows(lambda row: self._select(row).supremum(one), self.coefficients))

    def _select(self, row: Array) -> FunctionsOfCoordinate:
        """Return the single function with these coefficients, (n,), without the terms whose coefficient is zero."""
        own = row != 0
        return FunctionsOfCoordinate(self.kind, row[None, own], self.centres[own], self.widths[own])

    def find_steepest(self) -> Array:
        """Return ``sup_x |h_r'(x)|``, (R,), for non-negative coefficients.

        For smooth kinds in floats, the result is an upper bound.
        """
        if not self.coefficients.size:
            return self.arithmetic.zeros(len(self.coefficients))
        if self._sigmoids is not None:
            return np.array([self._sigmoids.find_steepest(row) for row in range(len(self.coefficients))], dtype=object)
        if self.kind.is_piecewise:
            return np.asarray(abs(self._curvatures_of_pieces).max(axis=0))
        return np.array([self._enclose_curvature(row) for row in self.coefficients])

    def find_flattest(self) -> Array:
        """Return ``inf_x h_r'(x)``, (R,), of piecewise linear derivatives, which are constant at infinity."""
        nothing = self.arithmetic.zeros(len(self.coefficients))
        return np.minimum(self._curvatures_of_pieces.min(axis=0), nothing) if self.coefficients.size else nothing

    @cached_property
    def _curvatures_of_pieces(self) -> Array:
        """h_r' between neighbouring kinks, (pieces, R)."""
        middles = (self._kinks[1:] + self._kinks[:-1]) / 2
        # In floats, a kink far from zero can coincide with the middle of its interval.
        alone = self.centres[self.centres - self.widths == self.centres + self.widths]
        middles = np.concatenate([middles, alone])
        curvatures = self.kind.curvature(middles[:, None] - self.centres, self.widths)
        return np.asarray(curvatures @ self.coefficients.T)

    @cached_property
    def _sigmoids(self) -> Sigmoids | None:
        """Return the functions for verified enclosures; None if they are piecewise linear or in floats."""
        if not isinstance(self.kind, SmoothKind) or self.arithmetic is FLOAT:
            return None
        offsets, amplitudes, scales = self.kind.tanh_form(self.widths)
        return Sigmoids(self.coefficients @ offsets, self.coefficients * amplitudes, self.centres, scales)

    @cached_property
    def _kinks(self) -> Array:
        reaches = [factor * self.widths for factor in self.kind.kinks]
        places = sorted({place for reach in reaches for place in (*(self.centres - reach), *(self.centres + reach))})
        return self.arithmetic.array(places)

    def _derivatives(self, points: Array) -> Array:
        """Return phi' of each term at points (P,), (P, n)."""
        return self.kind.derivative(points[:, None] - self.centres, self.widths)

    def minimiser(self, near: Number) -> Number:
        """Return the minimiser of the only function's integral, nearest to a point.

        Raises `InputError` if there is none.
        """
        if not self.kind.is_convex:
            return self._global_minimiser(near)
        if self._sigmoids is not None:
            return self._sigmoids.zero()
        return self._find_flat_zero(near) if self.kind.is_piecewise else self._find_single_zero()

    def _global_minimiser(self, near: Number) -> Number:
        """Return the lowest stationary point of a sum of bounded losses with piecewise linear derivatives."""
        kinks = self._kinks
        slopes = (self._derivatives(kinks) @ self.coefficients.T)[:, 0]
        level = kinks[abs(slopes) <= self._bound_rounding(slopes)]
        places = [
            *level,
            *self._iterate_crossings(kinks, slopes),
            *self._iterate_nearest_on_plateaus(kinks, slopes, near),
        ]
        points = self.arithmetic.array(places)
        values = (self.kind.value(points[:, None] - self.centres, self.widths) @ self.coefficients.T)[:, 0]
        least = points[values <= values.min() + self._bound_rounding(values)]
        found: Number = least[abs(least - near).argmin()]
        return found

    def _iterate_crossings(self, kinks: Array, slopes: Array) -> Iterator[Number]:
        """Yield the zeros of the derivative between neighbouring kinks."""
        for left, right, low, high in zip(kinks, kinks[1:], slopes, slopes[1:], strict=False):
            if low < 0 < high:
                yield left - low * (right - left) / (high - low)

    def _iterate_nearest_on_plateaus(self, kinks: Array, slopes: Array, near: Number) -> Iterator[Number]:
        """Yield the point nearest to a given one in each interval between neighbouring kinks with zero derivative."""
        flat = abs(slopes) <= self._bound_rounding(slopes)
        for left, right, *ends in zip(kinks, kinks[1:], flat, flat[1:], strict=False):
            if all(ends):
                yield min(max(near, left), right)

    def _bound_rounding(self, values: Array) -> Number:
        """Return a bound on the rounding errors of the values; 0 for rational numbers."""
        return 0 if values.dtype == object else 1e-14 * abs(values).max()

    def _find_flat_zero(self, near: Number) -> Number:
        """Return the zero nearest to a point of an increasing piecewise linear function, which can be flat."""
        kinks = self._kinks
        values = (self._derivatives(kinks) @ self.coefficients.T)[:, 0]
        rounding = 0 if values.dtype == object else 1e-14 * values.max()
        flat = np.flatnonzero(abs(values) <= rounding)
        if len(flat):
            return min(max(near, kinks[flat[0]]), kinks[flat[-1]])
        above = int((values > 0).argmax())
        left, right, low, high = kinks[above - 1], kinks[above], values[above - 1], values[above]
        return left - low * (right - left) / (high - low)

    def _find_single_zero(self) -> float:
        from scipy.optimize import brentq

        def value(point: float) -> float:
            return float((self._derivatives(np.array([point])) @ self.coefficients.T)[0, 0])

        rounding = 1e-14 * float(np.abs(self.coefficients).sum())
        if value(-np.inf) >= -rounding or value(np.inf) <= rounding:
            raise InputError("", "the objective has no minimiser")
        reach = float(np.abs(self.widths).max())
        left, right = float(self.centres.min()) - reach, float(self.centres.max()) + reach
        while value(left) > 0:
            left, reach = left - reach, 2 * reach
        while value(right) < 0:
            right, reach = right + reach, 2 * reach
        return float(brentq(value, left, right, xtol=1e-300, rtol=1e-15))

    def _exact_supremum(self, shares: Array) -> Number:
        """Return the exact supremum over the line of the sum of squared slopes with these weights."""
        values = self._derivatives(self._kinks) @ self.coefficients.T
        at_kinks, changes = (values * values) @ shares, values[1:] - values[:-1]
        tilts, curvatures = (values[:-1] * changes) @ shares, (changes * changes) @ shares
        # If shares have both signs, a piece can attain its largest value in its interior.
        pieces = zip(at_kinks, tilts, curvatures, strict=False)
        inside = [at - tilt * tilt / curvature for at, tilt, curvature in pieces if curvature < 0 < tilt < -curvature]
        return max([*at_kinks, *inside])

    def _enclose_supremum(self, shares: Array) -> float:
        positive, negative = np.maximum(shares, 0), np.minimum(shares, 0)

        def value(points: Array) -> Array:
            return np.asarray((self._derivatives(points) @ self.coefficients.T) ** 2 @ shares)

        def upper(left: Array, right: Array) -> Array:
            least, most = self._bound_ranges(self._derivatives(left), self._derivatives(right))
            nearest = np.maximum(np.maximum(least, -most), 0)
            plain = np.maximum(abs(least), abs(most)) ** 2 @ positive + nearest**2 @ negative
            # On a short interval the mean value theorem is sharper; at its ends derivatives may be limits.
            ends = [np.clip(end, *self._reach) for end in (left, right)]
            curvatures = self._bound_curvatures(*ends)
            corners = [slope * curvature for slope in (least, most) for curvature in curvatures]
            low, high = 2 * np.minimum.reduce(corners), 2 * np.maximum.reduce(corners)
            steepest = np.maximum(high @ positive + low @ negative, -(low @ positive + high @ negative))
            close = value((ends[0] + ends[1]) / 2) + steepest * (ends[1] - ends[0]) / 2
            return np.asarray(np.where(np.isfinite(left + right), np.minimum(plain, close), plain))

        limits = np.abs(self._derivatives(np.array([-np.inf, np.inf]))).max(axis=0)
        scale = np.abs(shares) @ (np.abs(self.coefficients) @ limits) ** 2
        return self._largest(value, upper, _CLOSE * float(scale))

    def _bound_ranges(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return bounds (P, R) on the combinations of values between `low` and `high` (P, n)."""
        rising, falling = np.maximum(self.coefficients, 0).T, np.minimum(self.coefficients, 0).T
        return low @ rising + high @ falling, high @ rising + low @ falling

    def _bound_curvatures(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Return bounds (P, R) on h_r' over intervals: curvatures decrease on both sides of a centre."""
        high = self._curvatures(np.clip(self.centres, left[:, None], right[:, None]))
        low = np.minimum(self._curvatures(left[:, None]), self._curvatures(right[:, None]))
        return self._bound_ranges(low, high)

    @cached_property
    def _reach(self) -> tuple[float, float]:
        """Points beyond which derivatives equal their limits in double precision."""
        reach = _FAR * float(np.abs(self.widths).max())
        return float(self.centres.min()) - reach, float(self.centres.max()) + reach

    def _curvatures(self, points: Array) -> Array:
        """Return phi'' of each term at its own point, (P, n) or (P, 1)."""
        return self.kind.curvature(points - self.centres, self.widths)

    def _enclose_curvature(self, row: Array) -> float:
        def value(points: Array) -> Array:
            return np.asarray(self._curvatures(points[:, None]) @ row)

        def upper(left: Array, right: Array) -> Array:
            return np.asarray(self._curvatures(np.clip(self.centres, left[:, None], right[:, None])) @ row)

        scale = float(self.kind.curvature(self.centres * 0, self.widths) @ row)
        return self._largest(value, upper, _CLOSE_CURVATURE * scale)

    def _largest(
        self, value: Callable[[Array], Array], upper: Callable[[Array, Array], Array], tolerance: float
    ) -> float:
        """Return the largest value of a function on the line up to a tolerance, by branch and bound on intervals."""
        inner = np.union1d(np.linspace(*self._reach, 64), self.centres)
        edges = np.concatenate([[-np.inf], inner, [np.inf]])
        left, right = edges[:-1], edges[1:]
        best = float(value(edges).max())
        while len(left):
            if len(left) > _MOST_INTERVALS:
                raise NotApplicable("the supremum over all of space could not be bounded")
            undecided = upper(left, right) > best + tolerance
            left, right = left[undecided], right[undecided]
            middle = (left + right) / 2
            best = max(best, float(value(middle).max(initial=best)))
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        return best + tolerance


def restrict_to_coordinate(terms: Terms, coordinate: int, mixing: Array) -> FunctionsOfCoordinate:
    """Return ``h_r = sum_i mixing_ri dF_i/dx_c`` of the clients' gradients, mixing (R, M), for a coordinate."""
    here = terms.along(coordinate)
    columns: dict[tuple[Number, Number], Array] = {}
    for owner, weight, key in zip(here.owners, here.weights, zip(here.centres, here.widths, strict=True), strict=True):
        columns[key] = columns.get(key, 0) + weight * mixing[:, owner]
    if terms.arithmetic is FLOAT and len(here.weights):
        # Equal terms of several clients cancel, up to rounding.
        rounding = 1e-14 * here.weights.max()
        columns = {key: np.where(np.abs(column) > rounding, column, 0.0) for key, column in columns.items()}
    columns = {key: column for key, column in columns.items() if (column != 0).any()}
    places = [terms.arithmetic.array([key[part] for key in columns]) for part in (0, 1)]
    coefficients = np.stack(list(columns.values()), axis=1) if columns else terms.arithmetic.zeros(len(mixing), 0)
    return FunctionsOfCoordinate(terms.kind, coefficients, *places)


def minimiser(terms: Terms, near: Array) -> Array:
    """Return the minimiser, nearest to a point, of the only function's integral; raise `InputError` if none."""
    one = terms.arithmetic.identity(1)
    found = near.copy()
    for coordinate, start in enumerate(near):
        along = restrict_to_coordinate(terms, coordinate, one)
        if along.coefficients.size:
            found[coordinate] = along.minimiser(start)
    return found
