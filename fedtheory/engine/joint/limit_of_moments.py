"""Limits of the joint moments of all vectors, for algorithms whose clients keep vectors.

A round acts linearly on the vector v of all moments, one of which is always 1: v becomes P v.  Conserved quantities,
such as the sum of control variates, make 1 an eigenvalue of P.  Let the columns of V and of U span
the solutions of ``P V = V`` and ``U' P = U'``; if all other eigenvalues are inside the unit circle, P^n tends to

    Q = V (U'V)^-1 U',

and the moments tend to Q v^0 from every start v^0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from flint import fmpq_mat, fmpq_poly

from fedtheory.arithmetic import RATIONAL, Array, arithmetic_of, refuse_test
from fedtheory.arithmetic.symmetric_pairs import count_pairs, fill_symmetric, select_pairs
from fedtheory.engine.joint.moments import Joint
from fedtheory.engine.moments.stationary import compute_spectral_radius, powers_vanish
from fedtheory.errors import NotApplicable, Unresolved

_SLOWEST = 1e-10
"""Contraction per round that rounding error may hide."""
_ZERO, _CLEAR = 1e-13, 1e-9
"""Relative singular values: below the first they count as zero, above the second as non-zero."""


def find_limit(start: Joint, after: Callable[[Joint], Joint]) -> Joint:
    """Return the limit of moments over the rounds from the run's own start; raise `NotApplicable` if there is none."""
    arithmetic = arithmetic_of(start.shared)
    sizes = _Numbers(start)
    first = sizes.list_entries(start)
    step = (
        _solve_exactly(sizes, after)
        if arithmetic is RATIONAL
        else np.stack(list(_iterate_columns(sizes, after)), axis=1)
    )
    keeps = _project_on_fixed(step)
    left = step - keeps
    if not (powers_vanish(left) if arithmetic is RATIONAL else compute_spectral_radius(left) < 1 - _SLOWEST):
        raise refuse_test(arithmetic, "the second moments do not converge: use a smaller step size")
    return sizes.joint(keeps @ first)


def _iterate_columns(sizes: _Numbers, after: Callable[[Joint], Joint]) -> Iterator[Array]:
    """Yield the columns of P; constants such as noise multiply the moment that is always 1."""
    identity = arithmetic_of(sizes.like.shared).identity(sizes.count)
    fresh = sizes.list_entries(after(sizes.joint(identity[0] - identity[0])))
    for number, one in enumerate(identity):
        image = sizes.list_entries(after(sizes.joint(one)))
        yield image if number == 0 else image - fresh


def _solve_exactly(sizes: _Numbers, after: Callable[[Joint], Joint]) -> Array:
    """Return P exactly: a round is applied to polynomials in which x^k stands for moment k."""
    powers: Array = np.empty(sizes.count, dtype=object)
    powers[:] = [fmpq_poly([0] * number + [1]) for number in range(sizes.count)]
    forms = sizes.list_entries(after(sizes.joint(powers)))
    step = RATIONAL.zeros(sizes.count, sizes.count)
    for row, form in zip(step, forms, strict=True):
        coefficients = (form + fmpq_poly()).coeffs()
        row[: len(coefficients)] = coefficients
    return step


def _project_on_fixed(step: Array) -> Array:
    """Return Q, the limit of P^n, (n, n); raise `NotApplicable` if some moments are unbounded."""
    moved = step - arithmetic_of(step).identity(len(step))
    right, left = (
        (_find_null_space(moved), _find_null_space(moved.T))
        if step.dtype == object
        else _find_null_spaces_in_floats(moved)
    )
    meeting = left.T @ right
    try:
        solved = [arithmetic_of(step).solve_regular(meeting, column) for column in left]
    except (ZeroDivisionError, np.linalg.LinAlgError):
        raise NotApplicable("the second moments grow without bound") from None
    found: Array = right @ np.stack(solved, axis=1)
    return found


def _find_null_space(matrix: Array) -> Array:
    """Return a basis of the null space of a matrix, as columns, (n, m)."""
    reduced, rank = fmpq_mat(matrix.tolist()).rref()
    rows, size = reduced.tolist()[:rank], len(matrix)
    pivots = [next(column for column, entry in enumerate(row) if entry != 0) for row in rows]
    free = [column for column in range(size) if column not in pivots]
    found = RATIONAL.identity(size)[:, free]
    for pivot, row in zip(pivots, rows, strict=True):
        found[pivot] = [-row[column] for column in free]
    return found


def _find_null_spaces_in_floats(matrix: Array) -> tuple[Array, Array]:
    """Return bases of the null spaces of a matrix and of its transpose, as columns, in floats."""
    rows, values, columns = np.linalg.svd(matrix)
    relative = values / max(values[0], 1e-300)
    if ((relative > _ZERO) & (relative < _CLEAR)).any():
        raise Unresolved(
            "floats cannot distinguish constant moments from slowly decaying ones: use --arithmetic rational"
        )
    kept = relative <= _ZERO
    return columns[kept].T, rows[:, kept]


class _Numbers:
    """Conversion between moments and vectors of their independent entries."""

    def __init__(self, like: Joint) -> None:
        self.like = like

    @property
    def count(self) -> int:
        """The number n of independent entries."""
        return len(self.list_entries(self.like))

    def list_entries(self, joint: Joint) -> Array:
        """Return the entries, (n,); the first is E 1."""
        kinds, size = joint.cross.shape[:2]
        pair = select_pairs(joint.pair.reshape(kinds * size, kinds * size))
        return np.concatenate(
            [select_pairs(joint.shared), joint.cross.ravel(), pair, select_pairs(joint.excess).ravel()]
        )

    def joint(self, numbers: Array) -> Joint:
        """Return the moments with entries (n,)."""
        like = self.like
        kinds, size = like.cross.shape[:2]
        lengths = [count_pairs(len(like.shared)), like.cross.size, count_pairs(kinds * size)]
        shared, cross, pair, own = np.split(numbers, np.cumsum(lengths))
        return Joint(
            fill_symmetric(shared, len(like.shared)),
            cross.reshape(like.cross.shape),
            fill_symmetric(pair, kinds * size).reshape(like.pair.shape),
            fill_symmetric(own.reshape(kinds, -1), size),
        )
