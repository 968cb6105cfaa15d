"""Reduce a program by the symmetry of two exchangeable clients.

The exchange of the clients maps the vectors and the function values of the round to each other. If it preserves the
objective and all constraints, a solution, its image and their mean have the same value, since the program is convex. So
it suffices to consider invariant solutions. For these, even vectors (which are fixed) are orthogonal to odd ones (which
change sign), and odd values vanish. One Gram matrix splits into two of half the size, and the constraints of one client
imply those of the other.

Programs with more than two clients are not reduced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.sparse import block_diag, csr_array, kron

from fedtheory.arithmetic import Array
from verify.worst_case.solvers import Program, list_triangle_entries

_DIGITS = 9
"""Number of digits to which weights count as equal; they are of order one."""
_ROUNDING = 10.0**-_DIGITS


@dataclass(frozen=True, eq=False)
class Exchange:
    """Change of unknowns for a program with one matrix, into even ones (fixed) and odd ones (which change sign)."""

    change: csr_array
    """Matrix that maps rows of the program to rows of the new unknowns and the constant."""
    odd: Array
    """Mask of the odd unknowns."""
    sizes: tuple[int, int]
    """Numbers of even and of odd vectors."""

    @classmethod
    def from_coordinates(cls, vectors: Array, values: Array) -> Exchange:
        """Return the exchange, an involution, that maps vectors and values to combinations of each other."""
        (vector_parts, even), (value_parts, even_values) = _find_coordinates(vectors), _find_coordinates(values)
        rows, columns, _ = list_triangle_entries(len(vectors))
        odd_values, odd_products = np.arange(len(values)) >= even_values, (rows < even) != (columns < even)
        change = block_diag([csr_array(value_parts), _expand_products(vector_parts), csr_array([[1.0]])])
        odd = np.concatenate([odd_values, odd_products, [False]])
        return cls(csr_array(change), odd, (even, len(vectors) - even))

    def keeps(self, program: Program) -> bool:
        """Return whether a program is equal to its image under the exchange."""
        signs = np.where(self.odd, -1, 1)
        return all(_contains_rows(rows * signs, rows) for rows in self._change(program))

    def halve(self, program: Program) -> Program:
        """Return the program for invariant solutions, with an even and an odd matrix."""
        objective, equations, inequalities = (rows[:, ~self.odd] for rows in self._change(program))
        return Program(objective[0, :-1], _select_distinct(equations), _select_distinct(inequalities), self.sizes)

    def _change(self, program: Program) -> Iterator[Array]:
        objective = np.append(program.objective, 0)[None]
        return (rows @ self.change for rows in (objective, program.equations, program.inequalities))


def find_involution(ones: Array, others: Array) -> Array | None:
    """Return the linear map that exchanges the rows of two arrays; None if there is none.

    A coordinate that is zero in all rows is fixed.
    """
    same = np.eye(ones.shape[1])
    alone = same[~np.vstack([ones, others]).any(axis=0)]
    rows, images = np.vstack([ones, others, alone]), np.vstack([others, ones, alone])
    # Rounding errors in zero weights would spread.
    found = np.linalg.lstsq(rows, images, rcond=None)[0].round(_DIGITS)
    agrees = np.allclose(rows @ found, images, atol=_ROUNDING) and np.allclose(found @ found, same, atol=_ROUNDING)
    return found if agrees else None


def _find_coordinates(map_: Array) -> tuple[Array, int]:
    """Return coordinates, as rows, in a basis of fixed, then sign-changing vectors, and the number of the former."""
    same = np.eye(len(map_))
    even, odd = _select_spanning((same + map_) / 2), _select_spanning((same - map_) / 2)
    return np.linalg.inv(np.vstack([even, odd])), len(even)


def _select_spanning(projection: Array) -> Array:
    """Return rows of a projection that span its image; most of their entries are zero."""
    _, order = qr(projection.T, mode="r", pivoting=True)
    return projection[order[: round(np.trace(projection))]]


def _expand_products(coordinates: Array) -> csr_array:
    """Return the inner products of the vectors in terms of those of a basis."""
    entries, sparse = _map_entries(len(coordinates)), csr_array(coordinates)
    return csr_array(entries.T @ kron(sparse, sparse, format="csr") @ entries)


def _map_entries(size: int) -> csr_array:
    """Return all entries of a symmetric matrix, row by row, in terms of the unknowns of a `Program`."""
    rows, columns, scale = list_triangle_entries(size)
    places, numbers = np.concatenate([rows * size + columns, columns * size + rows]), np.tile(np.arange(len(rows)), 2)
    # Diagonal entries occur twice.
    return csr_array((np.tile(scale / 2, 2), (places, numbers)), shape=(size**2, len(rows)))


def _contains_rows(some: Array, rows: Array) -> bool:
    """Return whether each row of the first array is a row of the second."""
    return all(np.abs(rows - row).max(axis=1).min() <= _ROUNDING for row in some)


def _select_distinct(rows: Array) -> Array:
    """Return the distinct rows; constraints of both clients then coincide."""
    # Negative zeros are removed.
    numbers = {row.tobytes(): number for number, row in enumerate(rows.round(_DIGITS) + 0.0)}
    return rows[list(numbers.values())]
