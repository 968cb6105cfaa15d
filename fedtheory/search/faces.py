"""Finds optimal faces of the coefficients that are feasible at each sample.

On a face some coefficients are zero, and some Gram matrices are singular.  Its equations have the same form at all
samples, so that they can be identified as equations between rational functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import Quotient
from fedtheory.kernel.work import spend
from fedtheory.search.blocks import Block, Blocks, list_blocks, list_vectors
from fedtheory.search.conic import is_solved, load_solver
from fedtheory.search.samples import Samples

_PROGRAM = 20_000
"""Units of work of one program."""
_TOLERANCES = (1e-10, 1e-8, 1e-7)
"""Tolerances of programs, tried in turn: with a small one, rounding may make a single feasible point infeasible."""
_SMALL = 1e-6
"""Relative size up to which coefficients and eigenvalues of scaled matrices count as zero."""
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Face:
    """The optimum at every sample: values of the free coefficients, and null spaces of the Gram matrices."""

    free: Matrix
    """Array (samples, free coefficients)."""
    kernels: Sequence[tuple[Block, Sequence[Expr], Matrix]]
    """A singular Gram matrix, its vectors, and its null space in echelon form: (samples, vectors, dimensions)."""


class FeasibleSet:
    """The free coefficients for which Gram matrices are positive semidefinite and all coefficients are non-negative.

    At every sample, the matrices and the coefficients are affine in the free coefficients.
    """

    def __init__(
        self,
        samples: Samples,
        free: Sequence[int],
        parts: Mapping[int, Blocks],
        sums: Sequence[Mapping[int, Quotient]],
    ) -> None:
        """Evaluate the remainder (`parts`) and all coefficients (`sums`), as affine functions of the free ones.

        The key -1 has the constant part of an affine function.
        """
        self.count = samples.at.shape[1]
        self._free = list(free)
        columns = [-1, *free]
        keys = {key: None for part in parts.values() for key in part.matrices}
        self._blocks = [(block, list_vectors(keys, block)) for block in list_blocks(keys)]
        empty = Blocks({}, {})
        known: dict[Expr, Matrix] = {}

        def value(number: Quotient | None) -> Matrix:
            """Return the values of a number at every sample; zeros for None."""
            if number is None or not number:
                return np.zeros(self.count)
            expression = number.expression
            if expression not in known:
                known[expression] = samples.values(expression)
            return known[expression]

        self._matrices = []
        for block, vectors in self._blocks:
            table = np.zeros((self.count, len(columns), len(vectors), len(vectors)))
            for place, column in enumerate(columns):
                entries = parts.get(column, empty).matrices
                for row, one in enumerate(vectors):
                    for other in range(row, len(vectors)):
                        pair = entries.get((block, one, vectors[other])) or entries.get((block, vectors[other], one))
                        table[:, place, row, other] = table[:, place, other, row] = value(pair)
            self._matrices.append(table)
        self._numbers = np.array([[value(each.get(column)) for column in columns] for each in sums])

    def find_face(self, costs: Sequence[float]) -> Face | None:
        """Return the face on which some linear costs of the free coefficients are least.

        Returns None if the program at one of the samples has no solution.
        """
        optima = [self._solve(sample, np.array(costs)) for sample in range(self.count)]
        if any(each is None for each in optima):
            return None
        free = np.array(optima)
        weights = np.concatenate([np.ones((self.count, 1)), free], axis=1)
        kernels = []
        for (block, vectors), table in zip(self._blocks, self._matrices, strict=True):
            at = np.einsum("sc,scij->sij", weights, table)
            scales = np.einsum("sc,scij->sij", np.abs(weights), np.abs(table))
            kernel = _find_kernel(at, scales)
            if kernel is not None:
                kernels.append((block, vectors, kernel))
        return Face(free, kernels)

    def list_zeros(self, face: Face) -> list[int]:
        """Return the places of the coefficients that are zero on a face at every sample."""
        weights = np.concatenate([np.ones((self.count, 1)), face.free], axis=1)
        values = np.einsum("sc,ncs->ns", weights, self._numbers)
        sizes = np.einsum("sc,ncs->ns", np.abs(weights), np.abs(self._numbers))
        largest = np.max(sizes, axis=0)
        return [place for place, each in enumerate(values) if np.all(np.abs(each) <= _SMALL * largest)]

    def _solve(self, sample: int, costs: Matrix) -> Matrix | None:
        """Return the free coefficients of least cost at a sample; None if there are none."""
        clarabel = load_solver()
        from scipy.sparse import csc_matrix

        spend(_PROGRAM)
        columns, rights, cones = [], [], []
        for table in self._matrices:
            parts = _project(table[sample])
            size = parts.shape[1]
            if size:
                triangles = _take_triangles(parts)
                columns.append(-triangles[1:].T)
                rights.append(triangles[0])
                cones.append(clarabel.PSDTriangleConeT(size))
        numbers = self._numbers[:, :, sample]
        scale = np.maximum(np.abs(numbers).max(axis=1, keepdims=True), 1e-300)
        columns.append(-(numbers / scale)[:, 1:])
        rights.append((numbers / scale)[:, 0])
        cones.append(clarabel.NonnegativeConeT(len(numbers)))
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        empty = csc_matrix((len(costs), len(costs)))
        matrix = csc_matrix(np.concatenate(columns))
        for tolerance in _TOLERANCES:
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
            solution = clarabel.DefaultSolver(empty, costs, matrix, np.concatenate(rights), cones, settings).solve()
            if is_solved(solution):
                return np.asarray(solution.x)
        return None


def _project(parts: Matrix) -> Matrix:
    """Return symmetric matrices on the complement of their common null space, with rows scaled to similar size."""
    size = parts.shape[1]
    diagonal = np.sqrt(np.abs(parts).max(axis=0).max(axis=0))
    scaled = parts / np.outer(np.where(diagonal > 0, diagonal, 1.0), np.where(diagonal > 0, diagonal, 1.0))
    _, values, rows = np.linalg.svd(scaled.reshape(-1, size), full_matrices=True)
    rank = int(np.sum(values > 1e-9 * max(1.0, float(values.max(initial=0.0)))))
    basis = rows[:rank]
    found: Matrix = np.einsum("ai,cij,bj->cab", basis, scaled, basis)
    return found


def _take_triangles(parts: Matrix) -> Matrix:
    """Return upper triangles, column by column, with off-diagonal entries times the root of two."""
    size = parts.shape[1]
    entries = [
        parts[:, row, column] * (1.0 if row == column else sqrt(2))
        for column in range(size)
        for row in range(column + 1)
    ]
    return np.array(entries).T


def _find_kernel(at: Matrix, scales: Matrix) -> Matrix | None:
    """Return the null space of a matrix at every sample, in echelon form: (samples, vectors, dimensions).

    Returns None if the matrix is regular at a sample, or the dimensions differ between samples.
    """
    size = at.shape[1]
    diagonal = np.sqrt(np.maximum(np.einsum("sii->si", scales), 1e-300))
    values, vectors = np.linalg.eigh(at / diagonal[:, :, None] / diagonal[:, None, :])
    dimensions = np.sum(values < _SMALL * size, axis=1)
    dimension = int(dimensions[0])
    if dimension == 0 or np.any(dimensions != dimension):
        return None
    kernel = vectors[:, :, :dimension]
    pivots = _choose_pivots(kernel)
    try:
        kernel = kernel / diagonal[:, :, None]
        found: Matrix = kernel @ np.linalg.inv(kernel[:, pivots, :])
    except np.linalg.LinAlgError:
        return None
    return found


def _choose_pivots(kernel: Matrix) -> list[int]:
    """Return rows of a null space that are independent at every sample, largest first for stability."""
    left, pivots = kernel.copy(), list[int]()
    for _ in range(kernel.shape[2]):
        sizes = np.linalg.norm(left, axis=2).min(axis=0)
        pivot = int(np.argmax(sizes))
        pivots.append(pivot)
        direction = left[:, pivot, :] / np.maximum(np.linalg.norm(left[:, pivot, :], axis=1), 1e-300)[:, None]
        left = left - np.einsum("svd,sd,se->sve", left, direction, direction)
    return pivots


def list_costs(count: int) -> Iterator[list[float]]:
    """Yield the costs that minimise each free coefficient, and then those that maximise each."""
    for sign in (1.0, -1.0):
        for place in range(count):
            yield [sign if other == place else 0.0 for other in range(count)]
