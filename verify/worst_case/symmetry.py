"""Two clients that can change places, and the rest of a program where they can.

The exchange of the clients takes every vector of the round to one of the round, and every function value to function
values.  Where it also takes the objective and all constraints to themselves, a solution and its image are equally
good, and so is their mean, as the program is convex: one may ask for solutions that the exchange leaves unchanged.
There, even vectors, which stay, are orthogonal to odd ones, which change their sign, and odd values vanish.  In place
of one matrix of inner products there are two of half the size, and one client's constraints say those of the other,
too.

Programs of more than two clients are left unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.sparse import block_diag, csr_array, kron

from fedtheory.arithmetic import Array
from verify.worst_case.solvers import Program, triangle

_DIGITS = 9
"""To which weights are the same; they are of the order of one."""
_ROUNDING = 10.0**-_DIGITS


@dataclass(frozen=True, eq=False)
class Exchange:
    """Other unknowns for a program of one matrix: even ones, which stay, and odd ones, which change their sign."""

    change: csr_array
    """Matrix that turns rows of the program into those of the new unknowns, and the constant."""
    odd: Array
    """Positions of the odd unknowns."""
    sizes: tuple[int, int]
    """Numbers of even and of odd vectors."""

    @classmethod
    def of(cls, vectors: Array, values: Array) -> Exchange:
        """Return the exchange, an involution, that maps vectors and values to combinations of each other."""
        (vector_parts, even), (value_parts, even_values) = _parts(vectors), _parts(values)
        rows, columns, _ = triangle(len(vectors))
        odd_values, odd_products = np.arange(len(values)) >= even_values, (rows < even) != (columns < even)
        change = block_diag([csr_array(value_parts), _expand_products(vector_parts), csr_array([[1.0]])])
        odd = np.concatenate([odd_values, odd_products, [False]])
        return cls(csr_array(change), odd, (even, len(vectors) - even))

    def keeps(self, program: Program) -> bool:
        """Return whether the image of a program is the program."""
        signs = np.where(self.odd, -1, 1)
        return all(_contains_rows(rows * signs, rows) for rows in self._change(program))

    def halved(self, program: Program) -> Program:
        """A program for the solutions that stay unchanged, with the first half of the matrix and the second."""
        objective, equations, inequalities = (rows[:, ~self.odd] for rows in self._change(program))
        return Program(objective[0, :-1], _distinct(equations), _distinct(inequalities), self.sizes)

    def _change(self, program: Program) -> Iterator[Array]:
        objective = np.append(program.objective, 0)[None]
        return (rows @ self.change for rows in (objective, program.equations, program.inequalities))


def involution(ones: Array, others: Array) -> Array | None:
    """The linear map under which rows take the places of others, and back; None where there is none.

    A coordinate that is zero in all rows stays.
    """
    same = np.eye(ones.shape[1])
    alone = same[~np.vstack([ones, others]).any(axis=0)]
    rows, images = np.vstack([ones, others, alone]), np.vstack([others, ones, alone])
    # Weights that are zero but for rounding would be carried along.
    found = np.linalg.lstsq(rows, images, rcond=None)[0].round(_DIGITS)
    agrees = np.allclose(rows @ found, images, atol=_ROUNDING) and np.allclose(found @ found, same, atol=_ROUNDING)
    return found if agrees else None


def _parts(map_: Array) -> tuple[Array, int]:
    """Coordinates, as rows, in a basis of an involution's fixed vectors, followed by its sign-changing ones.

    And how many there are of the former.
    """
    same = np.eye(len(map_))
    even, odd = _spanning((same + map_) / 2), _spanning((same - map_) / 2)
    return np.linalg.inv(np.vstack([even, odd])), len(even)


def _spanning(projection: Array) -> Array:
    """Rows of a projection that span all of them; most of their entries are zero."""
    _, order = qr(projection.T, mode="r", pivoting=True)
    return projection[order[: round(np.trace(projection))]]


def _expand_products(coordinates: Array) -> csr_array:
    """The inner products of the vectors in those of a basis."""
    entries, sparse = _entries(len(coordinates)), csr_array(coordinates)
    return csr_array(entries.T @ kron(sparse, sparse, format="csr") @ entries)


def _entries(size: int) -> csr_array:
    """All entries of a symmetric matrix, row by row, in those that a `Program` goes by."""
    rows, columns, scale = triangle(size)
    places, numbers = np.concatenate([rows * size + columns, columns * size + rows]), np.tile(np.arange(len(rows)), 2)
    # What is on the diagonal is met twice.
    return csr_array((np.tile(scale / 2, 2), (places, numbers)), shape=(size**2, len(rows)))


def _contains_rows(some: Array, rows: Array) -> bool:
    """Return whether each of some rows is one of the rows."""
    return all(np.abs(rows - row).max(axis=1).min() <= _ROUNDING for row in some)


def _distinct(rows: Array) -> Array:
    """Each row once: what is required of either client is then the same."""
    # Zeros have signs.
    numbers = {row.tobytes(): number for number, row in enumerate(rows.round(_DIGITS) + 0.0)}
    return rows[list(numbers.values())]
