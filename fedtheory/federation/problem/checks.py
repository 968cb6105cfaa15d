"""Checks that arrays form a federated problem: shapes, symmetry, weights, variances; errors name the key."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakValueDictionary

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array
from fedtheory.errors import InputError

_SEMIDEFINITE: WeakValueDictionary[int, Array] = WeakValueDictionary()
"""Stacks of matrices that are known to be symmetric and semidefinite, for which problems skip the test."""


def mark_semidefinite(hessians: Array) -> Array:
    """Mark matrices (M, d, d), sums of squares, as symmetric and semidefinite, so that problems skip the test."""
    _SEMIDEFINITE[id(hessians)] = hessians
    return hessians


def is_known_semidefinite(hessians: Array) -> bool:
    """Return whether this array object has been marked by `mark_semidefinite`."""
    return _SEMIDEFINITE.get(id(hessians)) is hessians


def require_shapes(clients: int, dimension: int, arrays: Mapping[str, Array]) -> None:
    """Raise `InputError` if an array has another shape than a problem with `clients` clients and `dimension` needs."""
    expected = {
        "hessians": (clients, dimension, dimension),
        "linear": (clients, dimension),
        "constants": (clients,),
        "weights": (clients,),
    }
    for name, shape in expected.items():
        _require_shape(f"problem.{name}", arrays[name], shape)


def require_symmetric(hessians: Array) -> None:
    """Raise `InputError` for the first of some matrices (M, d, d) that is not symmetric."""
    symmetric = (hessians == hessians.transpose(0, 2, 1)).all(axis=(1, 2))
    for client in np.flatnonzero(~symmetric):
        raise InputError(f"problem.hessians[{client}]", "expected a symmetric matrix")


def require_weights(weights: Array) -> None:
    """Raise `InputError` unless client weights (M,) are positive and sum to one."""
    if any(weight <= 0 for weight in weights):
        raise InputError("problem.weights", "expected positive numbers")
    total = weights.sum()
    if total != 1 and (weights.dtype == object or abs(total - 1) > 1e-9):
        raise InputError("problem.weights", f"expected numbers that sum to 1, got a sum of {total}")


def uniform_weights(arithmetic: Arithmetic, clients: int) -> Array:
    """Return p_i = 1/M, (M,)."""
    weights: Array = arithmetic.array([1] * clients) / arithmetic.number(clients, "clients")
    return weights


def require_variances(variances: Array, clients: int) -> None:
    """Raise `InputError` unless there is a non-negative variance for each client."""
    _require_shape("problem.noise", variances, (clients,))
    if any(variance < 0 for variance in variances):
        raise InputError("problem.noise", "expected variances that are not negative")


def _require_shape(key: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        expected, got = (" x ".join(map(str, sizes)) for sizes in (shape, array.shape))
        raise InputError(key, f"expected shape {expected}, got {got}")
