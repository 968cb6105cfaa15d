"""Two clients that can change places, and what is left of a program where they can.

The exchange of the clients takes every vector of the round to one of the round, and every function value to function
values.  Where it also takes the objective and all constraints to themselves, a solution and its image are equally good,
and so is their mean, as the program is convex: one may ask for solutions that the exchange leaves as they are.  There,
even vectors, which stay, are orthogonal to odd ones, which change their sign, and odd values vanish.  In place of one
matrix of inner products there are two of half the size, and one client's constraints say those of the other, too.

Programs of more than two clients are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import qr
from scipy.sparse import block_diag, csr_array, hstack, kron

from fedtheory.arithmetic import Array
from verify.worst_case.solvers import Program, triangle

_DIGITS = 9
"""To which weights are the same; they are of the order of one."""
_ROUNDING = 10.0**-_DIGITS


@dataclass(frozen=True, eq=False)
class Exchange:
    """What takes the place of each of the n vectors and f values: rows of weights, (n, n) and (f, f)."""

    vectors: Array
    values: Array

    def keeps(self, program: Program) -> bool:
        """Whether the image of a program of one matrix is the program."""
        objective = np.append(program.objective, 0)[None]
        return all(_are_among(rows @ self._map, rows) for rows in (objective, program.equations, program.inequalities))

    def halved(self, program: Program) -> Program:
        """A program of one matrix, for solutions that stay as they are."""
        even, odd = _halves(self.vectors)
        change = _change(_halves(self.values)[0], even, odd)
        equations, inequalities = (_distinct(rows @ change) for rows in (program.equations, program.inequalities))
        objective = np.append(program.objective, 0) @ change
        return Program(objective[:-1], equations, inequalities, (even.shape[1], odd.shape[1]))

    @cached_property
    def _map(self) -> csr_array:
        return _change(self.values, self.vectors)


def involution(ones: Array, others: Array) -> Array | None:
    """The linear map under which rows take the places of others, and back; None where there is none.

    A coordinate that is zero in all rows stays.
    """
    same = np.eye(ones.shape[1])
    alone = same[~np.vstack([ones, others]).any(axis=0)]
    rows, images = np.vstack([ones, others, alone]), np.vstack([others, ones, alone])
    # Weights that are zero but for rounding would be carried along.
    found = np.linalg.lstsq(rows, images)[0].round(_DIGITS)
    agrees = np.allclose(rows @ found, images, atol=_ROUNDING) and np.allclose(found @ found, same, atol=_ROUNDING)
    return found if agrees else None


def _halves(map_: Array) -> tuple[Array, Array]:
    """Coordinates, as rows, in a basis of what an involution leaves as it is, and of what changes its sign."""
    one = np.eye(len(map_))
    even, odd = _spanning((one + map_) / 2), _spanning((one - map_) / 2)
    coordinates = np.linalg.inv(np.vstack([even, odd]))
    return coordinates[:, : len(even)], coordinates[:, len(even) :]


def _spanning(projection: Array) -> Array:
    """Rows of a projection that span all of them; most of their entries are zero."""
    _, order = qr(projection.T, mode="r", pivoting=True)
    return projection[order[: round(np.trace(projection))]]


def _change(values: Array, *blocks: Array) -> csr_array:
    """What rows of weights are multiplied by to be those of other unknowns, from coordinates as rows."""
    products = hstack([_products(block) for block in blocks])
    return csr_array(block_diag([csr_array(values), products, csr_array([[1.0]])]))


def _products(block: Array) -> csr_array:
    """The same for the entries of a matrix of inner products alone."""
    old, new = (_entries(size) for size in block.shape)
    sparse = csr_array(block)
    return csr_array(old.T @ kron(sparse, sparse, format="csr") @ new)


def _entries(size: int) -> csr_array:
    """All entries of a symmetric matrix, row by row, from those that a `Program` goes by."""
    rows, columns, scale = triangle(size)
    places, numbers = np.concatenate([rows * size + columns, columns * size + rows]), np.arange(len(rows))
    # Entries on the diagonal are met twice.
    return csr_array((np.tile(scale / 2, 2), (places, np.tile(numbers, 2))), shape=(size**2, len(rows)))


def _are_among(some: Array, rows: Array) -> bool:
    """Whether each of some rows is one of the rows."""
    return all(np.abs(rows - row).max(axis=1).min() <= _ROUNDING for row in some)


def _distinct(rows: Array) -> Array:
    """Each row once: clients that take each other's place have the same constraints."""
    _, first = np.unique(rows.round(_DIGITS), axis=0, return_index=True)
    return rows[np.sort(first)]
