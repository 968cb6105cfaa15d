"""Matrix products and weighted sums; large ones of rationals or intervals use python-flint, whose loops are in C."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from fedtheory.arithmetic.operations import Array

_FEWEST = 8
"""Length of an inner product below which NumPy's object arrays are as fast."""


def product(left: Array, right: Array) -> Array:
    """Return ``left @ right``, as NumPy defines it for vectors, matrices and stacks of them."""
    many = left.dtype == object and left.ndim + right.ndim >= 3 and max(left.shape[-2:]) >= _FEWEST
    types = _list_types(left) | _list_types(right) if many else set()
    if not types or not types <= {fmpq, arb}:
        found: Array = left @ right
        return found
    if right.ndim == 1:
        return product(left, right[:, None])[..., 0]
    if left.ndim == 1:
        return product(left[None], right)[..., 0, :]
    return _multiply_stacks(left, right, arb_mat if arb in types else fmpq_mat)


def sum_with_weights(weights: Array, values: Array) -> Array:
    """Return ``sum_i weights[i] values[i]`` over the first axis, with the shape of one value."""
    # The same product as `tensordot`, whose overhead is larger for few clients.
    shape = values.shape[1:]
    total: Array = np.dot(weights[None], values.reshape(len(values), math.prod(shape))).reshape(shape)
    return total[()] if total.ndim == 0 else total


def _list_types(array: Any) -> set[type]:
    """Return the types of an array's entries; the one type of an array that is not of objects."""
    is_array = isinstance(array, np.ndarray) and array.dtype == object
    return set(map(type, array.flat)) if is_array else {type(array)}


def _multiply_stacks(left: Array, right: Array, kind: type[fmpq_mat] | type[arb_mat]) -> Array:
    """Return the products of matrices (..., m, n) and (..., n, p)."""
    lead = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    pairs = zip(_convert_to_matrices(left, lead, kind).flat, _convert_to_matrices(right, lead, kind).flat, strict=True)
    entries = [entry for one, other in pairs for entry in (one * other).entries()]
    found: Array = np.empty(len(entries), dtype=object)
    found[:] = entries
    return found.reshape(*lead, left.shape[-2], right.shape[-1])


def _convert_to_matrices(stack: Array, lead: tuple[int, ...], kind: type[fmpq_mat] | type[arb_mat]) -> Array:
    """Convert each matrix of a stack to a flint matrix; the result has the leading axes `lead`."""
    rows, columns = stack.shape[-2:]
    single = [kind(rows, columns, one.ravel().tolist()) for one in stack.reshape(-1, rows, columns)]
    matrices: Array = np.empty(len(single), dtype=object)
    matrices[:] = single
    return np.broadcast_to(matrices.reshape(stack.shape[:-2]), lead)


def squared_norms(vectors: Array) -> Array:
    """Return |v|^2, (...), of vectors (..., d)."""
    return np.asarray((vectors * vectors).sum(axis=-1))
