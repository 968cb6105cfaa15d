"""Least squares from the rows, in floats: the minimiser by a QR factorisation, with an error bound.

The normal equations square the condition number of the rows: in floats they lose twice as many digits.  Here the rows
of all clients are scaled by ``sqrt(p_i / n_i)``, so that F is the squared norm of ``A w - b``; a ridge adds further
rows.  Columns are scaled to norm one before singular values separate directions without curvature from others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.errors import Unresolved
from fedtheory.federation.client_data import ClientData

_EPSILON = float(np.finfo(float).eps)
_ROUNDINGS = 8.0
"""Backward error of a QR factorisation, per root of the dimension, in units of the machine precision."""
_FLAT = 64.0
"""Singular values of columns of norm one below this multiple of rounding, per dimension, count as zero."""
_DIGITS = 5e-7
"""Largest relative error of a number whose six printed digits are right."""
_LOST = 8.0
"""Rounding error of an eigenvalue or of a form, in units of the machine precision times its largest term."""
_MOST_ENTRIES = 2**20
"""Limit on the entries that are factorised at once."""
WAY_OUT = "standardize = true, or --arithmetic rational"


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """The rows of all clients as one problem ``min |A w - b|^2`` in d dimensions."""

    triangle: Array
    """R of ``(A, b) = Q R``, (r, d+1)."""

    @classmethod
    def from_data(cls, data: ClientData, weights: Array, origin: Array) -> WeightedRows:
        """Factorise rows in coordinates whose zero is `origin` (d,)."""
        step = _choose_block_size(len(origin))
        blocks = (
            np.sqrt(weight / len(y)) * np.column_stack([x[part], y[part] - x[part] @ origin])
            for (x, y), weight in zip(data, weights, strict=True)
            for part in (slice(first, first + step) for first in range(0, len(y), step))
        )
        roots = np.diag(np.sqrt(data.penalties / 2))
        ridge = [np.column_stack([roots, -roots @ origin])] if data.ridge > 0 else []
        return cls(_factorise_blocks(chain(blocks, ridge)))

    @property
    def inputs(self) -> Array:
        """A up to a rotation, (r, d), so that |A w| is unchanged."""
        return self.triangle[:, :-1]

    @cached_property
    def curvatures(self) -> Array:
        """Eigenvalues of the Hessian of F in decreasing order; those within rounding of zero are zero."""
        values = np.linalg.svd(self.inputs, compute_uv=False)
        return np.asarray(
            2 * np.where(values > _FLAT * len(values) * _EPSILON * values.max(initial=0.0), values, 0.0) ** 2
        )

    @property
    def smallest_curvature(self) -> float:
        """Smallest eigenvalue of the Hessian of F; raises `Unresolved` if the rows do not determine its digits."""
        largest, least = (float(self.curvatures[place]) for place in (0, -1))
        if len(self.curvatures) < self.inputs.shape[1]:
            return 0.0
        if least > 0 and 2 * (_ROUNDINGS * _EPSILON / _DIGITS) ** 2 * largest > least:
            raise Unresolved(f"the smallest curvature is lost in rounding: {WAY_OUT}")
        return least

    def nearest_minimiser(self) -> Array:
        """Return the minimiser with the smallest norm, (d,).

        Raises `Unresolved` if rounding may change its printed digits.
        """
        norms = np.linalg.norm(self.inputs, axis=0)
        scales = 1 / np.where(norms > 0, norms, 1.0)
        left, values, right = np.linalg.svd(self.inputs * scales, full_matrices=False)
        steep = values > _FLAT * len(norms) * _EPSILON * values.max(initial=0.0)
        left, values, right = left[:, steep], values[steep], right[steep]
        target = self.triangle[:, -1]
        inner = left.T @ target
        scaled = right.T @ (inner / values)
        self._require_digits(values, right, scales, scaled, float(np.linalg.norm(target - left @ inner)))
        found: Array = scales * scaled
        if not (steep.all() and len(values) == len(norms)):
            # The part in the null space of the rows does not change their values.
            basis = np.linalg.qr((right / scales).T)[0]
            found = basis @ (basis.T @ found)
        return found

    def _require_digits(self, values: Array, right: Array, scales: Array, scaled: Array, residual: float) -> None:
        """Bound the first-order error of a solution; see Golub and Van Loan, Matrix Computations, 5.3.8."""
        if not len(values):
            return
        size, rounding = float(values[0]), _ROUNDINGS * np.sqrt(len(scales)) * _EPSILON
        length = float(np.linalg.norm(self.triangle[:, -1]))
        norm = float(np.linalg.norm(scaled))
        once, twice = (np.linalg.norm(right.T / values**power, axis=1) for power in (1, 2))
        errors = rounding * (once * (size * norm + length) + twice * size * residual)
        moved = float(np.linalg.norm(scales * scaled))
        reference = max(norm, length / size)
        if np.linalg.norm(errors) > _DIGITS * reference or (
            np.linalg.norm(scales * errors) > _DIGITS * max(moved, reference * float(scales.min()))
        ):
            condition = f"condition number {values[0] / values[-1]:.2g} of the columns"
            raise Unresolved(f"too ill-conditioned for floats ({condition}): {WAY_OUT}")


def _choose_block_size(columns: int) -> int:
    """Return the number of rows factorised together: far more than columns, so that each triangle is much smaller."""
    return max(_MOST_ENTRIES // (columns + 1), 4 * (columns + 1))


def _factorise_blocks(blocks: Iterable[Array]) -> Array:
    """Return R of a QR factorisation of stacked blocks (n_i, d+1), with few blocks in memory at a time."""
    held: list[Array] = []
    rows = 0
    for block in blocks:
        if rows > _choose_block_size(block.shape[1] - 1):
            held = [_factorise(held)]
            rows = len(held[0])
        held.append(block)
        rows += len(block)
    return _factorise(held)


def _factorise(blocks: list[Array]) -> Array:
    """Return the upper triangular factor of the QR decomposition of the stacked blocks."""
    return np.asarray(np.linalg.qr(np.concatenate(blocks), mode="r"))


def evaluate_clients(data: ClientData, point: Array) -> Array:
    """Return F_i at a point (d,), (M,), from the residuals, so that no large numbers cancel."""
    squares = np.array([r @ r / len(r) for r in data.translate(point).outputs])
    return np.asarray(squares + data.penalties @ (point * point) / 2)


def compute_client_descents(data: ClientData, point: Array) -> Array:
    """Return -grad F_i at a point (d,), (M, d), from the residuals; values within rounding error are zero."""
    residuals = data.translate(point).outputs
    data_parts = np.stack([2 * r @ x / len(r) for (x, _), r in zip(data, residuals, strict=True)])

    def sizes() -> Array:
        sums = [2 * (abs(y) + abs(x) @ abs(point)) @ abs(x) / len(y) for x, y in data]
        return np.asarray(np.stack(sums) + data.penalties * abs(point))

    return np.asarray(FLOAT.difference(data_parts, np.asarray(data.penalties * point), sizes))


def compute_smallest_curvatures(data: ClientData, hessians: Array) -> Array:
    """Return the smallest eigenvalue of each client's Hessian, (M,); raise `Unresolved` if the rows lose its digits."""
    extremes = [values[[0, -1]] for values in np.linalg.eigvalsh(hessians)]
    ridge = 0.0 if data.free else float(data.ridge)
    # A penalty that differs between coefficients adds one row for each of them.
    more = np.diag(np.sqrt(data.penalties / 2))[:-1] if data.free else np.empty((0, hessians.shape[1]))
    found = [
        _find_smallest_eigenvalue(np.concatenate([x / np.sqrt(len(x)), more]), ridge, *map(float, ends))
        for (x, _), ends in zip(data, extremes, strict=True)
    ]
    return np.array(found)


def _find_smallest_eigenvalue(rows: Array, ridge: float, least: float, largest: float) -> float:
    """Return the smallest eigenvalue of ``2 A'A + ridge``; `least` and `largest` are the extreme ones in floats."""
    if least > _LOST * _EPSILON / _DIGITS * largest:
        return least
    values = np.linalg.svd(rows, compute_uv=False)
    if len(rows) < rows.shape[1] or values[-1] <= _FLAT * len(values) * _EPSILON * values[0]:
        return ridge
    if _ROUNDINGS * _EPSILON * values[0] > _DIGITS * values[-1]:
        raise Unresolved(f"the smallest curvature is lost in rounding: {WAY_OUT}")
    return float(2 * values[-1] ** 2 + ridge)


def require_digits(values: Array, sizes: Array, curvatures: Callable[[], Array]) -> None:
    """Raise `Unresolved` if forms of a Hessian have values (N,) that are small relative to the terms that cancel.

    Sums of squares cancel only if the eigenvalues (d,) of the Hessian, `curvatures`, differ by orders of magnitude.
    """
    lost = _LOST * _EPSILON * sizes > _DIGITS * np.abs(values)
    if lost.any() and _has_faint_directions(curvatures()):
        raise Unresolved(
            f"from round {int(lost.argmax())} on, rounding of floats exceeds the error, "
            f"as the columns have very different scales: {WAY_OUT}"
        )


def _has_faint_directions(curvatures: Array) -> bool:
    """Return whether some eigenvalues (d,) of a Hessian are small but non-zero, so that forms in it lose digits."""
    largest = curvatures.max(initial=0.0)
    flat = _FLAT * len(curvatures) * _EPSILON * largest
    return bool((curvatures[curvatures > flat] < len(curvatures) * _LOST * _EPSILON / _DIGITS * largest).any())
