"""A federated problem: quadratic objectives of M clients, their weights, a start and a gradient oracle.

``F_i(x) = 1/2 x'H_i x - b_i'x + c_i`` and ``F(x) = sum_i p_i F_i(x)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from fedtheory.arithmetic import (
    FLOAT,
    Arithmetic,
    Array,
    Number,
    arithmetic_of,
    group_alike,
    map_alike,
    product,
    unanswered,
)
from fedtheory.errors import InputError
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles import AdditiveNoise, ExactOracle, Oracle
from fedtheory.shown import Card, Shown, number


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Shown):
    """Convex quadratics of M clients in d dimensions; all arrays share one arithmetic.

    Raises `InputError` when a shape does not fit or a Hessian is not symmetric
    positive semidefinite, and where x* is asked for and F has no minimiser.
    """

    hessians: Array
    """H_i, (M, d, d), symmetric positive semidefinite."""
    linear: Array
    """b_i, (M, d)."""
    constants: Array
    """c_i, (M,)."""
    weights: Array
    """Client importance p_i, (M,), positive, summing to one."""
    start: Array
    """x^0, (d,)."""
    oracle: Oracle = ExactOracle()
    """What a client sees of its gradient."""
    data: ClientData | None = None
    """The data of a least-squares problem."""
    description: str = "quadratics"

    def __post_init__(self) -> None:
        _check(self)

    def summary(self) -> str:
        """What it is, and its size."""
        clients = "1 client" if self.clients == 1 else f"{self.clients} clients"
        return f"{self.description}: {clients} in {self.dimension} dimension{'' if self.dimension == 1 else 's'}"

    def card(self) -> Card:
        """Its size, what clients see of their gradients, and the value at start and optimum."""
        facts = {
            "clients": str(self.clients),
            "dimension": str(self.dimension),
            "arithmetic": self.arithmetic.kind,
            "gradients": type(self.oracle).__name__,
            "weights": f"{number(min(self.weights))} to {number(max(self.weights))}",
        }
        if self.data is not None:
            facts["rows"] = ", ".join(str(len(outputs)) for outputs in self.data.outputs[:20])
        return Card(self.description, r"\min_x \sum_i p_i F_i(x)", facts)

    @property
    def clients(self) -> int:
        """M."""
        return len(self.hessians)

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.start)

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """Floats or rationals, as the arrays are."""
        return arithmetic_of(self.hessians)

    @cached_property
    def hessian(self) -> Array:
        """H = sum_i p_i H_i, (d, d)."""
        return weighted_sum(self.weights, self.hessians)

    @cached_property
    def largest_curvature(self) -> Number:
        """The largest eigenvalue of all H_i."""
        return max(self.arithmetic.largest_eigenvalue(hessian) for hessian in self._distinct_hessians)

    @cached_property
    def smallest_curvature(self) -> Number:
        """The smallest eigenvalue of all H_i."""
        return min(self.arithmetic.smallest_eigenvalue(hessian) for hessian in self._distinct_hessians)

    @cached_property
    def _distinct_hessians(self) -> Array:
        return self.hessians[group_alike(self.hessians)[0]]

    @cached_property
    def mean_linear(self) -> Array:
        """b = sum_i p_i b_i, (d,)."""
        return weighted_sum(self.weights, self.linear)

    @cached_property
    def mean_constant(self) -> Number:
        """c = sum_i p_i c_i."""
        return weighted_sum(self.weights, self.constants)

    @cached_property
    def optimum(self) -> Array:
        """x*, (d,): the minimiser of F nearest to the start."""

        def size() -> Array:
            return weighted_sum(self.weights, abs(self.linear)) + abs(self.hessian) @ abs(self.start)

        pull = self.arithmetic.difference(self.mean_linear, product(self.hessian, self.start), size)
        try:
            return self.start + self.arithmetic.solve(self.hessian, pull)
        except InputError:
            raise InputError("problem.linear", "F has no minimiser: the mean of b_i leaves the range of H") from None

    @cached_property
    def optimal_value(self) -> Number:
        """F(x*)."""
        return self.value(self.optimum)

    def value(self, point: Array) -> Number:
        """F at a point (d,)."""
        return point @ product(self.hessian, point) / 2 - self.mean_linear @ point + self.mean_constant

    def gradients(self, points: Array) -> Array:
        """Gradients of F_i, (..., M, d), at points (..., M, d)."""
        return (self.hessians @ points[..., None])[..., 0] - self.linear

    @cached_property
    def gradient_maps(self) -> Array:
        """grad F_i as maps of (1, x), (M, d, d+1)."""
        return np.concatenate([-self.linear[:, :, None], self.hessians], axis=2)

    def noise_covariances(self, moments: Array) -> Array:
        """Covariances (M, d, d) of the gradients' noise at points with second moments `moments` (M, d+1, d+1)."""
        maps = self.gradient_maps
        return self.oracle.covariances(moments, maps @ moments @ maps.transpose(0, 2, 1))

    @cached_property
    def centred(self) -> Problem:
        """The same problem in coordinates whose zero is the optimum, where F* is well separated from rounding."""
        at = self.optimum
        moved = product(self.hessians, at)
        return replace(
            self,
            linear=self.arithmetic.difference(self.linear, moved, lambda: self._pulls_at(at)),
            constants=self.constants + moved @ at / 2 - self.linear @ at,
            start=self.start - at,
            oracle=self.oracle.translated(at),
            data=None,
        )

    def _pulls_at(self, point: Array) -> Array:
        """Sizes of the numbers that gradients at a point (d,) are made of, (M, d)."""
        sizes: Array = abs(self.linear) + abs(self.hessians) @ abs(point)
        return sizes

    @cached_property
    def client_optima(self) -> Array:
        """A minimiser of each F_i, (M, d), the nearest to x*; `NotApplicable` where one has none."""
        at = self.optimum
        pulls = self.arithmetic.difference(self.linear, product(self.hessians, at), lambda: self._pulls_at(at))
        try:
            moves = map_alike(self.arithmetic.solve, self.hessians, pulls)
        except InputError:
            raise unanswered(self.arithmetic, "a client's objective has no minimiser") from None
        optima: Array = self.optimum + np.stack(moves)
        return optima

    def repeated(self, copies: int) -> Problem:
        """The problem with every client repeated, the shares divided by the number of copies."""
        clients = list(range(self.clients)) * copies
        return replace(
            self,
            hessians=self.hessians[clients],
            linear=self.linear[clients],
            constants=self.constants[clients],
            weights=self.weights[clients] / copies,
            data=None if self.data is None else self.data.of(clients),
            oracle=self.oracle.of(clients),
        )

    def with_full_gradients(self) -> Problem:
        """The same objectives without noise or mini-batches."""
        return self if isinstance(self.oracle, ExactOracle) else replace(self, oracle=ExactOracle())

    def as_floats(self) -> Problem:
        """The same problem in double precision."""
        if self.arithmetic is FLOAT:
            return self
        arrays: dict[str, Any] = {name: FLOAT.array(getattr(self, name)) for name in _ARRAYS}
        data = None if self.data is None else self.data.as_floats()
        return replace(self, **arrays, oracle=self.oracle.as_floats(), data=data)


_ARRAYS = ("hessians", "linear", "constants", "weights", "start")


def weighted_sum(weights: Array, values: Array) -> Array:
    """``sum_i weights[i] values[i]`` over the first axis, shape of one value."""
    # The product that `tensordot` forms; for few clients its preparations take longer.
    shape = values.shape[1:]
    total: Array = np.dot(weights[None], values.reshape(len(values), math.prod(shape))).reshape(shape)
    return total[()] if total.ndim == 0 else total


def quadratic(
    hessians: Array,
    linear: Array,
    start: Array,
    *,
    constants: Array | None = None,
    weights: Array | None = None,
    noise: Array | None = None,
) -> Problem:
    """A checked problem with exact gradients or isotropic noise.

    Shapes as in `Problem`; `noise` holds the variances, (M,).  Missing
    constants are zero, missing weights uniform.
    """
    arithmetic = arithmetic_of(hessians)
    clients = len(hessians)
    constants = arithmetic.zeros(clients) if constants is None else constants
    weights = uniform_weights(arithmetic, clients) if weights is None else weights
    problem = Problem(hessians, linear, constants, weights, start, _noise_oracle(noise))
    _ = problem.optimum
    return problem


def uniform_weights(arithmetic: Arithmetic, clients: int) -> Array:
    """p_i = 1/M, (M,)."""
    weights: Array = arithmetic.array([1] * clients) / arithmetic.number(clients, "clients")
    return weights


def _noise_oracle(noise: Array | None) -> Oracle:
    if noise is None or not any(value != 0 for value in noise):
        return ExactOracle()
    return AdditiveNoise(noise)


def _check(problem: Problem) -> None:
    """Raise `InputError`, naming the key, where the problem's arrays do not make a convex federated problem."""
    clients, dimension = len(problem.hessians), problem.start.shape[0]
    _expect_shape("problem.hessians", problem.hessians, (clients, dimension, dimension))
    _expect_shape("problem.linear", problem.linear, (clients, dimension))
    _expect_shape("problem.constants", problem.constants, (clients,))
    _expect_shape("problem.weights", problem.weights, (clients,))
    _check_hessians(problem)
    if any(weight <= 0 for weight in problem.weights):
        raise InputError("problem.weights", "expected positive numbers")
    if not _sums_to_one(problem.weights):
        raise InputError("problem.weights", f"expected numbers that sum to 1, got a sum of {problem.weights.sum()}")
    if isinstance(problem.oracle, AdditiveNoise):
        _expect_shape("problem.noise", problem.oracle.variances, (clients,))
        if any(variance < 0 for variance in problem.oracle.variances):
            raise InputError("problem.noise", "expected variances that are not negative")


def _expect_shape(key: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise InputError(key, f"expected shape {_shape(shape)}, got {_shape(array.shape)}")


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


_SEMIDEFINITE: WeakValueDictionary[int, Array] = WeakValueDictionary()
"""Stacks of matrices that are known to be symmetric and semidefinite: problems that share them ask once."""


def semidefinite(hessians: Array) -> Array:
    """Matrices (M, d, d) of sums of squares: problems need not ask whether they are symmetric and semidefinite."""
    _SEMIDEFINITE[id(hessians)] = hessians
    return hessians


def _check_hessians(problem: Problem) -> None:
    hessians = problem.hessians
    if _SEMIDEFINITE.get(id(hessians)) is hessians:
        return
    symmetric = (hessians == hessians.transpose(0, 2, 1)).all(axis=(1, 2))
    for client in np.flatnonzero(~symmetric):
        raise InputError(f"problem.hessians[{client}]", "expected a symmetric matrix")
    for client in np.flatnonzero(~problem.arithmetic.are_psd(hessians)):
        raise InputError(f"problem.hessians[{client}]", "expected no negative eigenvalue (positive semidefinite)")
    semidefinite(hessians)


def _sums_to_one(weights: Array) -> bool:
    total = weights.sum()
    return bool(abs(total - 1) <= 1e-9) if weights.dtype != object else bool(total == 1)
