"""Writes a polynomial as a sum of others with positive weights.

A linear program in floats selects the polynomials; their weights are solved again in rationals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from fedtheory.kernel.work import spend

Powers = tuple[int, ...]
"""Powers of the symbols in a monomial."""
Terms = dict[Powers, fmpq]
"""Coefficients of a polynomial by the powers of its monomials."""
_SOLVE = 200
"""Units of work of one entry of a linear program."""


def solve(columns: Sequence[Terms], goal: Terms, costs: Sequence[float]) -> dict[int, fmpq] | None:
    """Return exact positive weights of columns whose sum is the goal, by their places; None if none are found."""
    rows = {key: place for place, key in enumerate(sorted({*goal, *(key for column in columns for key in column)}))}
    entries = [(rows[key], place, weight) for place, column in enumerate(columns) for key, weight in column.items()]
    spend(_SOLVE * len(entries))
    chosen = _find_support(entries, rows, goal, costs)
    return None if chosen is None else _find_weights(chosen, columns, goal, rows)


def _find_support(
    entries: Sequence[tuple[int, int, fmpq]], rows: Mapping[Powers, int], goal: Terms, costs: Sequence[float]
) -> NDArray[np.int64] | None:
    """Return the columns with positive weights in a solution of the linear program; None if there is no solution."""
    from scipy.optimize import linprog

    matrix = np.zeros((len(rows), len(costs)))
    for row, column, weight in entries:
        matrix[row, column] = float(weight.p) / float(weight.q)
    right = np.zeros(len(rows))
    for key, weight in goal.items():
        right[rows[key]] = float(weight.p) / float(weight.q)
    result = linprog(costs, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs-ds")
    return None if result.status != 0 or result.x is None else np.flatnonzero(result.x > 1e-10)


def _find_weights(
    chosen: NDArray[np.int64], columns: Sequence[Terms], goal: Terms, rows: Mapping[Powers, int]
) -> dict[int, fmpq] | None:
    """Return the weights of the chosen columns in rationals.

    Returns None if no weights give the goal, or one is negative.
    """
    width = len(chosen)
    matrix = fmpq_mat(len(rows), width + 1)
    for key, row in rows.items():
        for place, column in enumerate(chosen):
            matrix[row, place] = columns[column].get(key, fmpq(0))
        matrix[row, width] = goal.get(key, fmpq(0))
    reduced, rank = matrix.rref()
    found: dict[int, fmpq] = {}
    for row in range(rank):
        pivot = next(place for place in range(width + 1) if reduced[row, place] != 0)
        weight = reduced[row, width]
        if pivot == width or weight < 0:
            return None
        if weight > 0:
            found[int(chosen[pivot])] = weight
    return found


def find_grading(goal: Terms, factors: Sequence[Terms]) -> Callable[[Powers], bool]:
    """Return a predicate that excludes monomials which cannot occur in a product of factors with the goal's degree.

    A grading gives each symbol a weight, such as a physical dimension.  Under every grading for which the goal and all
    factors are homogeneous, a monomial has to have the degree of the goal.
    """
    differences = [
        [a - b for a, b in zip(powers, first, strict=True)]
        for terms in (goal, *factors)
        for first in [next(iter(terms))]
        for powers in terms
    ]
    weights = [[int(entry) for entry in vector] for vector in _find_kernel(differences)]
    first = next(iter(goal))
    degrees = [sum(w * p for w, p in zip(weight, first, strict=True)) for weight in weights]

    def is_graded(powers: Powers) -> bool:
        """Return whether a monomial has the goal's degree under every grading."""
        return all(
            sum(w * p for w, p in zip(weight, powers, strict=True)) == degree
            for weight, degree in zip(weights, degrees, strict=True)
        )

    return is_graded


def _find_kernel(rows: Sequence[Sequence[int]]) -> Iterator[list[fmpq]]:
    """Yield integer vectors that span the orthogonal complement of some rows."""
    reduced, rank = fmpq_mat(len(rows), len(rows[0]), [entry for row in rows for entry in row]).rref()
    width = len(rows[0])
    pivots = [next(place for place in range(width) if reduced[row, place] != 0) for row in range(rank)]
    for free in (place for place in range(width) if place not in pivots):
        vector = [fmpq(int(place == free)) for place in range(width)]
        for row, pivot in enumerate(pivots):
            vector[pivot] = -reduced[row, free]
        scale = prod(int(entry.q) for entry in vector)
        yield [entry * scale for entry in vector]


def multiply_terms(factors: Sequence[Terms], symbols: int) -> Terms:
    """Return the product of polynomials; `symbols` is the number of symbols."""
    found: Terms = {(0,) * symbols: fmpq(1)}
    for factor in factors:
        terms: Terms = {}
        for powers, weight in found.items():
            for others, other in factor.items():
                key = tuple(map(sum, zip(powers, others, strict=True)))
                terms[key] = terms.get(key, fmpq(0)) + weight * other
        found = {key: weight for key, weight in terms.items() if weight != 0}
    return found


def move_terms(terms: Terms, by: Powers) -> Terms:
    """Return the terms multiplied by a monomial."""
    return {tuple(map(sum, zip(powers, by, strict=True))): weight for powers, weight in terms.items()}
