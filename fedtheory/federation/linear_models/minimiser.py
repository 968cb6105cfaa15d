"""Minimisers of linear models by Newton's method, with a certified bound on the distance from the minimiser.

Let F be m-strongly convex on a ball of radius rho about a point w with ``|grad F(w)| < m rho / 2``.  Then F is larger
on the sphere than at w: a minimiser x* is inside, ``|w - x*| <= |grad F(w)| / m``, and ``F(w) - F*`` is at most
``|grad F(w)|^2 / (2m)``.  With a ridge on all coefficients m is the ridge, on all of space; without it, m is the
smallest eigenvalue of a lower bound on all Hessians in the ball.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import NoMinimiser
from fedtheory.federation.linear_models.model import LinearModel

_EPSILON = float(np.finfo(float).eps)
_STEPS, _HALVINGS = 200, 40
_FLAT = 64 * _EPSILON
"""Singular values of the rows below this, relative to the largest and per dimension, count as zero."""
_RADII = tuple(4.0**-power for power in range(12))
"""Radii of balls, in units of the width divided by the longest row, on which curvatures are bounded below."""
_ARMIJO = 1e-4


@dataclass(frozen=True, eq=False)
class Minimum:
    """A point near the minimiser, with bounds on its distance and its suboptimality."""

    point: Array
    """(d,)."""
    value: float
    """The objective at the point, at least its minimum."""
    distance: float
    """Upper bound on the distance from the minimiser."""
    gap: float
    """Upper bound on the value above the minimum."""


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """Models ``w = base + basis z``: the minimiser nearest to the base lies in the span of the rows."""

    model: LinearModel
    row_weights: Array
    base: Array
    basis: Array | None
    """(d, r), orthonormal columns; None for all directions."""
    inputs: Array
    """Rows in these coordinates, (n, r)."""
    offsets: Array
    penalties: Array
    """The penalties in these coordinates, (r,)."""

    @classmethod
    def from_model(cls, model: LinearModel, row_weights: Array, start: Array) -> _Coordinates:
        base = np.where(model.penalties > 0, model.origin, start)
        basis = _find_span(model)
        inputs = model.inputs if basis is None else model.inputs @ basis
        # In a basis all coordinates have one penalty, except the last one if it is a separate intercept.
        is_last = np.arange(inputs.shape[1]) == inputs.shape[1] - 1
        penalties = np.where(is_last, model.penalties[-1], model.penalties[0]) if basis is not None else model.penalties
        return cls(model, row_weights, base, basis, inputs, model.offsets - model.inputs @ base, penalties)

    def lift(self, z: Array) -> Array:
        """Return the model with coordinates z."""
        return np.asarray(self.base + (z if self.basis is None else self.basis @ z))

    def project(self, point: Array) -> Array:
        """Return coordinates of the model nearest to a point."""
        away = point - self.base
        return away if self.basis is None else np.asarray(self.basis.T @ away)

    def margins(self, z: Array) -> Array:
        """Return x_j'w - b_j, (n,)."""
        return np.asarray(self.inputs @ z - self.offsets)

    def value(self, z: Array) -> float:
        return float(self.model.loss.value(self.margins(z)) @ self.row_weights + self.penalties @ (z * z) / 2)

    def gradient(self, z: Array) -> Array:
        """Return the gradient of the objective, (r,)."""
        slopes = self.model.loss.derivative(self.margins(z)) * self.row_weights
        return np.asarray(slopes @ self.inputs + self.penalties * z)

    def hessian(self, curvatures: Array) -> Array:
        """Return the Hessian of the objective for the curvatures phi'' of the rows, (r, r)."""
        hessian: Array = (self.inputs * (curvatures * self.row_weights)[:, None]).T @ self.inputs
        hessian[np.diag_indices_from(hessian)] += self.penalties
        return hessian

    def gradient_bound(self, z: Array) -> float:
        """Return an upper bound on the norm of the gradient, including rounding errors."""
        loss, count, size = self.model.loss, len(self.offsets), len(z)
        lengths = np.sqrt((self.inputs * self.inputs).sum(axis=1))
        margins = self.margins(z)
        of_margins = (size + 4) * _EPSILON * (lengths * float(np.linalg.norm(z)) + np.abs(self.offsets))
        of_slopes = loss.largest_curvature * of_margins + 8 * _EPSILON * max(map(abs, loss.slopes))
        of_sums = (count + 4) * _EPSILON * np.abs(loss.derivative(margins))
        rounding = float((self.row_weights * lengths) @ (of_slopes + of_sums))
        ridge = 4 * _EPSILON * self.model.ridge * float(np.linalg.norm(z))
        return float(np.linalg.norm(self.gradient(z))) * (1 + (size + 4) * _EPSILON) + rounding + ridge


def _find_span(model: LinearModel) -> Array | None:
    """Return an orthonormal basis (d, r) of the span of the rows.

    Returns None if this is the whole space, or if a ridge makes a basis unnecessary.
    """
    count, size = model.inputs.shape
    if model.ridge > 0 and size <= count:
        return None
    if not model.is_intercept_apart:
        rows = _find_directions(model.inputs)
        return None if len(rows) == size else np.ascontiguousarray(rows.T)
    rows = _find_directions(model.inputs[:, :-1])
    basis = np.zeros((size, len(rows) + 1))
    basis[:-1, :-1], basis[-1, -1] = rows.T, 1.0
    return basis


def _find_directions(inputs: Array) -> Array:
    """Return orthonormal rows (r, d) with the same span as the given ones (n, d)."""
    count, size = inputs.shape
    square = inputs if count <= size else np.linalg.qr(inputs, mode="r")
    _, values, rows = np.linalg.svd(square, full_matrices=False)
    return np.asarray(rows[values > _FLAT * size * values.max(initial=0.0)])


def find_minimiser(model: LinearModel, weights: Array, start: Array, near: Array | None = None) -> Minimum:
    """Return the minimiser of ``sum_i weights_i F_i``, weights that sum to one, nearest to a start (d,).

    `near` is an initial guess.  Raises `NoMinimiser` if no minimiser could be certified.
    """
    coordinates = _Coordinates.from_model(model, model.row_weights(weights), start)
    guess = np.zeros(coordinates.inputs.shape[1]) if near is None else coordinates.project(near)
    found = _run_newton(coordinates, guess)
    strength = _find_least_curvature(coordinates, found)
    bound = coordinates.gradient_bound(found)
    value = coordinates.value(found)
    return Minimum(coordinates.lift(found), value, bound / strength, bound * bound / (2 * strength))


def _run_newton(at: _Coordinates, z: Array) -> Array:
    """Run Newton's method with step halving; if a step fails, use the largest curvatures instead."""
    loss = at.model.loss
    value, gradient = at.value(z), at.gradient(z)
    largest = at.hessian(np.full(len(at.offsets), loss.largest_curvature))
    for _ in range(_STEPS):
        if not gradient.any():
            break
        curvatures = np.asarray(loss.curvature(at.margins(z)), dtype=float)
        moved = _descend(at, z, value, gradient, _solve(at.hessian(curvatures), gradient))
        moved = moved or _descend(at, z, value, gradient, _solve(largest, gradient))
        if moved is None:
            break
        z, value, gradient = moved
    return z


def _solve(hessian: Array, gradient: Array) -> Array:
    """Return the Newton step, minus the inverse Hessian times the gradient, columns scaled to a diagonal of ones."""
    diagonal = np.sqrt(np.diag(hessian))
    scales = 1 / np.where(diagonal > 0, diagonal, 1.0)
    scaled = hessian * np.outer(scales, scales)
    try:
        step = np.linalg.solve(scaled, -scales * gradient)
    except np.linalg.LinAlgError:
        step = np.linalg.lstsq(scaled, -scales * gradient, rcond=None)[0]
    return np.asarray(scales * step)


def _descend(
    at: _Coordinates, z: Array, value: float, gradient: Array, step: Array
) -> tuple[Array, float, Array] | None:
    """Return a better point along a step, with value and gradient there; None if rounding prevents progress.

    Values are compared; near the minimum, where rounding hides their change, norms of gradients are compared.
    """
    slope = float(gradient @ step)
    if not (np.isfinite(step).all() and slope < 0):
        return None
    size = 1.0
    for _ in range(_HALVINGS):
        there = z + size * step
        lower = at.value(there)
        is_flat = abs(size * slope) <= 64 * _EPSILON * max(abs(value), 1e-300)
        if is_flat:
            found = at.gradient(there)
            return (there, lower, found) if found @ found < 0.25 * (gradient @ gradient) else None
        if lower <= value + _ARMIJO * size * slope:
            return there, lower, at.gradient(there)
        size /= 2
    return None


def _find_least_curvature(at: _Coordinates, z: Array) -> float:
    """Return a lower bound on the curvature of the objective on a ball about a point that contains its minimiser."""
    if at.model.strength > 0:
        return at.model.strength
    bound, lengths = at.gradient_bound(z), np.sqrt((at.inputs * at.inputs).sum(axis=1))
    margins, longest = np.abs(at.margins(z)), float(lengths.max(initial=0.0))
    if longest == 0:
        return 1.0
    for part in _RADII:
        radius = part * abs(at.model.loss.width) / longest
        curvatures = np.asarray(at.model.loss.curvature(margins + lengths * radius), dtype=float)
        strength = _bound_smallest_eigenvalue(at.hessian(curvatures), len(at.offsets))
        if bound < strength * radius / 2:
            return strength
    raise NoMinimiser(_explain_no_minimiser(at, z), "x*")


def _bound_smallest_eigenvalue(matrix: Array, rows: int) -> float:
    """Return a lower bound on the smallest eigenvalue of a matrix that is a sum over `rows` rows."""
    if not len(matrix):
        return 1.0
    values = np.linalg.eigvalsh(matrix)
    return float(values[0] - (rows + 8 * len(values)) * _EPSILON * values[-1])


def _explain_no_minimiser(at: _Coordinates, z: Array) -> str:
    """Explain why no minimiser is certified, with advice."""
    way_out = 'add a ridge, such as ridge = "1/100"'
    is_classes = at.model.loss.slopes[1] <= 0
    rounding = (len(z) + 4) * _EPSILON * np.sqrt((at.inputs * at.inputs).sum(axis=1)) * float(np.linalg.norm(z))
    if is_classes and (at.margins(z) > rounding).all():
        return f"F has no minimiser, because a hyperplane separates the two classes: {way_out}"
    return f"no minimiser of F could be certified, because F is flat or falls for ever in some direction: {way_out}"
