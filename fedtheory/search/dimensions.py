"""Computes physical dimensions, so that the search tries only coefficients with the units that a statement requires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from fedtheory.kernel.expressions import Average, Expr, Gradient, Value, is_length
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.quantity import Quantity
from fedtheory.search.blocks import DEVIATIONS, NOISE, SHARED, Block, Blocks

Dimension = tuple[int, int]
"""Powers of the unit of points and of the unit of objective values."""
_LENGTH, _VALUE, _GRADIENT, _NONE = (1, 0), (0, 1), (-1, 1), (0, 0)
_OF: Mapping[Quantity, Dimension] = {
    **dict.fromkeys((q.local_step_size, q.client_step_size, q.effective_step_size), (2, -1)),
    **dict.fromkeys((q.smoothness, q.objective_smoothness, q.client_smoothness, q.sample_smoothness), (-2, 1)),
    **dict.fromkeys((q.strong_convexity, q.smallest_curvature, q.client_strong_convexity), (-2, 1)),
    **dict.fromkeys((q.noise_deviation, q.gradient_dissimilarity, q.mean_dissimilarity, q.second_moment), _GRADIENT),
    q.optimum_gradient: _GRADIENT,
    **dict.fromkeys((q.clients, q.participants, q.local_steps, q.rounds, q.iterations, q.server_step_size), _NONE),
    **dict.fromkeys((q.momentum, q.communication_probability, q.mixing_contraction), _NONE),
    q.initial_distance: _LENGTH,
    q.initial_gap: _VALUE,
}


class Dimensions:
    """The dimensions of the symbols of a claim."""

    def __init__(self, claim: Claim) -> None:
        known = {**claim.where, **claim.notation}
        self._symbols = {symbol: _OF[quantity] for symbol, quantity in known.items() if quantity in _OF}

    def find(self, number: Expr) -> Dimension | None:
        """Return the dimension of a rational function.

        Returns None if its terms differ in dimension, or a symbol has an unknown one.
        """
        if number.is_Rational:
            return _NONE
        if number.is_Symbol:
            return self._symbols.get(number)
        if number.is_Pow and number.exp.is_Integer:
            base = self.find(number.base)
            return None if base is None else _raise(base, int(number.exp))
        parts = [self.find(part) for part in number.args]
        if number.is_Mul:
            return None if None in parts else _multiply_dimensions([part for part in parts if part is not None])
        return parts[0] if number.is_Add and len(set(parts)) == 1 else None

    def fit(self, symbols: Sequence[sp.Symbol], powers: Any, expected: Dimension | None) -> Any:
        """Return which products of powers have the expected dimension, as a column of booleans.

        Each row of `powers` has the powers of the symbols in one product.  All are true if a dimension is unknown.
        """
        if expected is None or any(symbol not in self._symbols for symbol in symbols):
            return np.ones((len(powers), 1), dtype=bool)
        found = powers @ np.array([self._symbols[symbol] for symbol in symbols]).reshape(-1, 2)
        return (found == np.array(expected)).all(axis=1)[:, np.newaxis]

    def _find_row_dimension(self, row: Expr) -> Dimension | None:
        """Return the dimension of a monomial of a linear part; None if it is unknown."""
        inside = row.args[0] if isinstance(row, Average) else row
        if is_length(inside):
            return _find_vector_dimension(inside.base.args[0])
        if isinstance(inside, Value):
            return _VALUE
        return self.find(row) if row.is_polynomial(*row.free_symbols) else None

    def find_dimension(self, blocks: Blocks) -> Dimension | None:
        """Return the dimension of a scalar; None if its terms differ in dimension."""
        entries = [(self._find_row_dimension(row), number) for row, number in blocks.rows.items()]
        entries += [(_find_entry_dimension(*key), number) for key, number in blocks.matrices.items()]
        found = set()
        for dimension, number in entries:
            own = self.find(sp.factor(number.expression))
            found.add(None if own is None or dimension is None else _multiply_dimensions([own, dimension]))
        return found.pop() if len(found) == 1 else None


def _find_entry_dimension(block: Block, one: Expr, other: Expr) -> Dimension | None:
    """Return the dimension of a product of two vectors of a Gram matrix; None if it is unknown."""
    if block == NOISE:
        return _raise(_GRADIENT, 2)
    if block not in (SHARED, DEVIATIONS):
        return None
    return _multiply_dimensions([_find_vector_dimension(one), _find_vector_dimension(other)])


def _find_vector_dimension(vector: Expr) -> Dimension:
    """Return the dimension of a gradient or of a point."""
    inside = vector.args[0] if isinstance(vector, Average) else vector
    return _GRADIENT if inside.has(Gradient) else _LENGTH


def _raise(dimension: Dimension, power: int) -> Dimension:
    """Return the dimension of a power."""
    return dimension[0] * power, dimension[1] * power


def _multiply_dimensions(dimensions: list[Dimension]) -> Dimension:
    """Return the dimension of a product."""
    return sum(one[0] for one in dimensions), sum(one[1] for one in dimensions)


def divide_dimensions(one: Dimension | None, other: Dimension | None) -> Dimension | None:
    """Return the quotient of two dimensions; None if either is unknown."""
    return None if one is None or other is None else (one[0] - other[0], one[1] - other[1])
