"""A federated problem: quadratic objectives of M clients, their weights, a start and a gradient oracle.

``F_i(x) = 1/2 x'H_i x - b_i'x + c_i`` and ``F(x) = sum_i p_i F_i(x)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from fedtheory.arithmetic import (
    FLOAT,
    Arithmetic,
    Array,
    Number,
    arithmetic_of,
    map_equal_rows,
    product,
    refuse_test,
    sum_with_weights,
)
from fedtheory.errors import InputError, NoMinimiser, NotApplicable, Unresolved
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles import AdditiveNoise, ExactOracle, Oracle
from fedtheory.federation.problem.checks import (
    is_known_semidefinite,
    mark_semidefinite,
    require_shapes,
    require_symmetric,
    require_variances,
    require_weights,
)
from fedtheory.federation.problem.row_span import RowSpan
from fedtheory.federation.problem.rows import (
    WeightedRows,
    compute_client_descents,
    compute_smallest_curvatures,
    evaluate_clients,
    require_digits,
)
from fedtheory.shown import Card, Shown, number


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Shown):
    """Quadratics of M clients in d dimensions, convex or not; all arrays share one arithmetic.

    Raises `InputError` if a shape does not fit or a Hessian is not symmetric.
    If F is unbounded below, quantities relative to x* or F* raise `NoMinimiser`.
    """

    hessians: Array
    """H_i, (M, d, d), symmetric."""
    linear: Array
    """b_i, (M, d)."""
    constants: Array
    """c_i, (M,)."""
    weights: Array
    """Client weight p_i, (M,), positive, summing to one."""
    start: Array
    """x^0, (d,)."""
    oracle: Oracle = ExactOracle()
    """Gradient oracle of each client."""
    data: ClientData | None = None
    """The data of a least-squares problem."""
    description: str = "quadratics"
    span: RowSpan | None = None
    """The span of the rows, if the problem is in coordinates of a subspace."""
    is_quadratic = True
    """Whether Hessians are constant and gradients affine, so that moments close."""
    notes: ClassVar[Sequence[str]] = ()
    """Notes for readers of numbers on the problem."""

    def __post_init__(self) -> None:
        clients, dimension = len(self.hessians), self.start.shape[0]
        require_shapes(clients, dimension, {name: getattr(self, name) for name in _ARRAYS})
        if not is_known_semidefinite(self.hessians):
            require_symmetric(self.hessians)
        require_weights(self.weights)
        if isinstance(self.oracle, AdditiveNoise):
            require_variances(self.oracle.variances, clients)

    def summary(self) -> str:
        """Describe the problem and its size."""
        clients = "1 client" if self.clients == 1 else f"{self.clients} clients"
        return f"{self.description}: {clients} in {self.features} dimension{'' if self.features == 1 else 's'}"

    def card(self) -> Card:
        """Return size, gradient noise, and values at start and optimum."""
        facts = {
            "clients": str(self.clients),
            "dimension": str(self.features),
            "arithmetic": self.arithmetic.kind,
            "gradients": type(self.oracle).__name__,
            "weights": f"{number(min(self.weights))} to {number(max(self.weights))}",
        }
        if self.data is not None:
            facts["rows"] = ", ".join(str(len(outputs)) for outputs in self.data.outputs[:20])
        return Card(self.description, r"\min_x \sum_i p_i F_i(x)", facts)

    @property
    def clients(self) -> int:
        """Number of clients M."""
        return len(self.hessians)

    @property
    def dimension(self) -> int:
        """Number of coordinates d."""
        return len(self.start)

    @property
    def features(self) -> int:
        """Number of features of a model; the dimension is smaller if the rows span a subspace."""
        return self.dimension if self.span is None else len(self.span.start)

    def lift(self, points: Array) -> Array:
        """Return points (..., d) as models, (..., features)."""
        return points if self.span is None else self.span.lift(points)

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the arrays."""
        return arithmetic_of(self.hessians)

    @cached_property
    def hessian(self) -> Array:
        """H = sum_i p_i H_i, (d, d)."""
        found = sum_with_weights(self.weights, self.hessians)
        if self.has_convex_clients:
            return found
        # Curvatures of both signs may cancel up to rounding.
        return self.arithmetic.difference(
            found, found - found, lambda: sum_with_weights(self.weights, abs(self.hessians))
        )

    @cached_property
    def has_convex_clients(self) -> bool:
        """Whether each F_i is convex: no H_i has a negative eigenvalue."""
        if is_known_semidefinite(self.hessians):
            return True
        if not self.convex_clients.all():
            return False
        mark_semidefinite(self.hessians)
        return True

    @cached_property
    def convex_clients(self) -> Array:
        """Whether each F_i is convex, (M,)."""
        return self.arithmetic.are_psd(self.hessians)

    @cached_property
    def largest_curvature(self) -> Number:
        """The largest modulus of an eigenvalue of all H_i."""
        return max(self.spectral_norms)

    @cached_property
    def spectral_norms(self) -> Array:
        """The largest modulus of an eigenvalue of each H_i, (M,)."""
        tops = self.arithmetic.largest_eigenvalues(self.hessians)
        return (
            tops if self.has_convex_clients else np.maximum(tops, -self.arithmetic.smallest_eigenvalues(self.hessians))
        )

    def spectral_norm(self, hessian: Array) -> Number:
        """Return the largest modulus of an eigenvalue of an H_i, or of an average of them."""
        largest = self.arithmetic.largest_eigenvalue(hessian)
        return largest if self.has_convex_clients else max(largest, self.arithmetic.largest_eigenvalue(-hessian))

    @cached_property
    def smallest_curvature(self) -> Number:
        """The smallest eigenvalue of all H_i; raises `Unresolved` if floats cannot resolve it."""
        return min(self.smallest_curvatures)

    @cached_property
    def smallest_curvatures(self) -> Array:
        """The smallest eigenvalue of each H_i, (M,); raises `Unresolved` if floats cannot resolve one."""
        if self.rows is None or self.data is None:
            return self.arithmetic.smallest_eigenvalues(self.hessians)
        return compute_smallest_curvatures(self.data, self.hessians)

    @cached_property
    def mean_linear(self) -> Array:
        """b = sum_i p_i b_i, (d,)."""
        return sum_with_weights(self.weights, self.linear)

    @cached_property
    def mean_constant(self) -> Number:
        """c = sum_i p_i c_i."""
        return sum_with_weights(self.weights, self.constants)

    @cached_property
    def rows(self) -> WeightedRows | None:
        """The rows of least squares in floats, relative to the start; None for other problems."""
        if self.data is None or self.arithmetic is not FLOAT:
            return None
        return WeightedRows.from_data(self.data, self.weights, self.start)

    @cached_property
    def stationary_point(self) -> Array | None:
        """The zero of grad F nearest to the start, (d,); None if grad F has none.

        Raises `Unresolved` if its printed digits would be wrong in floats.
        """
        if self.rows is not None:
            return self.start + self.rows.nearest_minimiser()

        def size() -> Array:
            return sum_with_weights(self.weights, abs(self.linear)) + abs(self.hessian) @ abs(self.start)

        descent = self.arithmetic.difference(self.mean_linear, product(self.hessian, self.start), size)
        try:
            return self.start + self.arithmetic.solve_to_digits(self.hessian, descent)
        except InputError:
            return None

    @property
    def centre(self) -> Array:
        """Return the origin of runs, (d,): the stationary point of F nearest to the start, else the start."""
        return self.start if self.stationary_point is None else self.stationary_point

    @cached_property
    def curvatures(self) -> Array:
        """Eigenvalues of H in floats, (d,)."""
        return np.linalg.eigvalsh(self.hessian) if self.rows is None else self.rows.curvatures

    def require_digits(self, values: Array, form: Array, distances_sq: Array) -> Array:
        """Return the values (N,) of a form in H at models with these squared distances from the centre.

        Raises `Unresolved` if the values lose their digits in floats.
        """
        if self.arithmetic is FLOAT:
            require_digits(values, np.linalg.norm(form) * distances_sq, lambda: self.curvatures)
        return values

    @cached_property
    def optimum(self) -> Array:
        """x*, (d,): the minimiser of F nearest to the start; raises `NoMinimiser` if F is unbounded below."""
        if not self.has_convex_clients and not self.arithmetic.is_psd(self.hessian):
            raise NoMinimiser("F is unbounded below, its Hessian has a negative eigenvalue", "x*")
        if self.stationary_point is not None:
            return self.stationary_point
        reason = "the average of b_i is outside the range of H"
        if self.has_convex_clients:
            raise InputError("problem.linear", f"F has no minimiser: {reason}")
        raise NoMinimiser(f"F is unbounded below, {reason}", "x*")

    @cached_property
    def is_bounded_below(self) -> bool:
        """Whether F has a minimiser."""
        try:
            _ = self.optimum
        except NoMinimiser:
            return False
        return True

    @cached_property
    def optimal_value(self) -> Number:
        """F(x*)."""
        if self.rows is not None and self.data is not None:
            return sum_with_weights(self.weights, evaluate_clients(self.data, self.optimum))
        return self.value(self.optimum)

    def value(self, point: Array) -> Number:
        """Return F at a point (d,)."""
        return point @ product(self.hessian, point) / 2 - self.mean_linear @ point + self.mean_constant

    def gradients(self, points: Array) -> Array:
        """Return gradients of F_i, (..., M, d), at points (..., M, d)."""
        return (self.hessians @ points[..., None])[..., 0] - self.linear

    @cached_property
    def gradient_maps(self) -> Array:
        """Return grad F_i as maps of (1, x), (M, d, d+1)."""
        return np.concatenate([-self.linear[:, :, None], self.hessians], axis=2)

    def noise_covariances(self, moments: Array) -> Array:
        """Return covariances (M, d, d) of the gradients' noise at points of second moments `moments`, (M, d+1, d+1)."""
        maps = self.gradient_maps
        return self.oracle.covariances(moments, maps @ moments @ maps.transpose(0, 2, 1))

    @cached_property
    def gradient_map(self) -> Array:
        """grad F as a map of (1, x), x relative to the centre, (d, d+1)."""
        at_centre = self.mean_linear - self.mean_linear
        if self.stationary_point is None:
            at_centre = product(self.hessian, self.centre) - self.mean_linear
        return np.concatenate([at_centre[:, None], self.hessian], axis=1)

    @cached_property
    def gradient_form(self) -> Array:
        """|grad F(x)|^2 as a form in (1, x), x relative to the centre, (d+1, d+1)."""
        return product(self.gradient_map.T, self.gradient_map)

    @cached_property
    def value_form(self) -> Array:
        """F(x) minus its value at the centre as a form in (1, x), x relative to the centre, (d+1, d+1)."""
        form = self.arithmetic.zeros(self.dimension + 1, self.dimension + 1)
        form[0, 1:] = self.gradient_map[:, 0] / 2
        form[1:, 0] = form[0, 1:]
        form[1:, 1:] = self.hessian / 2
        return form

    @property
    def about_optimum(self) -> Self:
        """The problem in coordinates whose origin is x*; raises `NoMinimiser` if F has no certified minimiser."""
        _ = self.optimum
        return self.centred

    @cached_property
    def centred(self) -> Self:
        """The problem in coordinates whose origin is the centre, which reduces rounding errors of F - F*."""
        at = self.centre
        linear, constants = self._recentre(at)
        oracle = self.oracle.translate(at)
        start = self.arithmetic.difference(self.start, at, lambda: abs(self.start) + abs(at))
        moved = replace(self, linear=linear, constants=constants, start=start, oracle=oracle, data=None)
        if self.stationary_point is not None:
            # The centre is known; computing it again would give rounding errors.
            vars(moved)["stationary_point"] = at - at
        return moved

    def _recentre(self, at: Array) -> tuple[Array, Array]:
        """Return b_i and c_i in coordinates whose zero is a point (d,)."""
        if self.rows is not None and self.data is not None:
            return compute_client_descents(self.data, at), evaluate_clients(self.data, at)
        moved = product(self.hessians, at)
        linear = self.arithmetic.difference(self.linear, moved, lambda: self._bound_gradients(at))
        return linear, self.constants + moved @ at / 2 - self.linear @ at

    def _bound_gradients(self, point: Array) -> Array:
        """Return the sizes of the terms of gradients at a point (d,), (M, d)."""
        sizes: Array = abs(self.linear) + abs(self.hessians) @ abs(point)
        return sizes

    @cached_property
    def client_optima(self) -> Array:
        """A minimiser of each F_i, (M, d), the nearest to x*; raise `NotApplicable` if one has none."""
        if not self.has_convex_clients:
            raise NotApplicable("a client's objective is not convex and has no minimiser")
        at = self.optimum
        descents = self.arithmetic.difference(
            self.linear, product(self.hessians, at), lambda: self._bound_gradients(at)
        )
        try:
            moves = map_equal_rows(self.arithmetic.solve, self.hessians, descents)
        except InputError:
            raise refuse_test(self.arithmetic, "a client's objective has no minimiser") from None
        optima: Array = self.optimum + np.stack(moves)
        return optima

    def repeat(self, copies: int) -> Self:
        """Return the problem with every client repeated, the weights divided by the number of copies."""
        clients = list(range(self.clients)) * copies
        return self.with_clients(clients, self.weights[clients] / copies)

    def with_clients(self, clients: Sequence[int], weights: Array) -> Self:
        """Return the problem of the given clients, in that order and possibly repeated, with other weights."""
        clients = list(clients)
        hessians = self.hessians[clients]
        return replace(
            self,
            hessians=mark_semidefinite(hessians) if is_known_semidefinite(self.hessians) else hessians,
            linear=self.linear[clients],
            constants=self.constants[clients],
            weights=weights,
            data=None if self.data is None else self.data.select_clients(clients),
            oracle=self.oracle.select_clients(clients),
            span=None if self.span is None else self.span.select_clients(clients),
        )

    def with_full_gradients(self) -> Problem:
        """Return the problem without noise or mini-batches."""
        return self if isinstance(self.oracle, ExactOracle) else replace(self, oracle=ExactOracle())

    def as_floats(self) -> Problem:
        """Return the problem in double precision."""
        if self.arithmetic is FLOAT:
            return self
        arrays: dict[str, Any] = {name: FLOAT.array(getattr(self, name)) for name in _ARRAYS}
        data = None if self.data is None else self.data.as_floats()
        return replace(self, **arrays, oracle=self.oracle.as_floats(), data=data)


_ARRAYS = ("hessians", "linear", "constants", "weights", "start")


def require_well_conditioned(problem: Problem, key: str) -> None:
    """Raise `InputError`, naming the key, if floats lose the digits of x*."""
    try:
        _ = problem.stationary_point
    except Unresolved as reason:
        raise InputError(key, str(reason)) from None
