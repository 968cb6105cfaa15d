"""A federated problem of linear models: M clients with their rows, one smooth convex loss, an optional ridge."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, Arithmetic, Array
from fedtheory.errors import NoMinimiser, NotApplicable
from fedtheory.federation.linear_models.batches import RowBatches
from fedtheory.federation.linear_models.constants import ModelConstants
from fedtheory.federation.linear_models.minimiser import Minimum, find_minimiser
from fedtheory.federation.linear_models.model import LinearModel
from fedtheory.federation.linear_models.notes import list_notes_on_rows, note_on_loss, note_on_minimum
from fedtheory.federation.oracles import ExactOracle, Oracle
from fedtheory.federation.problem.nonquadratic import NonquadraticProblem


class LinearModelProblem(NonquadraticProblem):
    """``F_i(w) = (1/n_i) sum_j phi(x_ij'w - b_ij) + ridge/2 |w|^2`` of M clients in d dimensions, in floats.

    Attributes that only quadratics have raise `NotApplicable`.
    """

    model: LinearModel
    classes: tuple[str, str] | None
    """The names of the classes -1 and 1; None for a regression."""

    def __init__(
        self,
        model: LinearModel,
        weights: Array,
        start: Array,
        oracle: Oracle,
        *,
        description: str,
        classes: tuple[str, str] | None = None,
    ) -> None:
        # Attributes of quadratic problems are not set.
        self.__dict__.update(model=model, weights=weights, start=start, oracle=oracle, data=None)
        self.__dict__.update(description=description, classes=classes)

    def __getstate__(self) -> dict[str, Any]:
        """Return the data alone: cached values are computed again where they are needed."""
        return {name: self.__dict__[name] for name in _DATA}

    @property
    def clients(self) -> int:
        """M."""
        return self.model.clients

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of floats: exponentials of margins have no rational values."""
        return FLOAT

    @property
    def has_convex_clients(self) -> bool:
        """Whether every F_i is convex: always, because every loss and a ridge are."""
        return True

    @property
    def is_sampled(self) -> bool:
        """Whether clients draw mini-batches."""
        return not isinstance(self.oracle, ExactOracle)

    @cached_property
    def row_weights(self) -> Array:
        """The weight of every row in F, (n,)."""
        return self.model.row_weights(self.weights)

    @cached_property
    def known_everywhere(self) -> ModelConstants:
        """Constants that hold on all of space."""
        return ModelConstants(self.model, self.weights, self.oracle)

    @cached_property
    def minimum(self) -> Minimum:
        """The minimiser nearest to the start with its certificate; raises `NoMinimiser` if none is certified."""
        return find_minimiser(self.model, self.weights, self.start)

    @property
    def optimum(self) -> Array:
        """x*, (d,), up to the distance in the certificate."""
        return self.minimum.point

    @property
    def optimal_value(self) -> float:
        """F*, up to the suboptimality in the certificate."""
        return self.minimum.value

    @cached_property
    def stationary_point(self) -> Array | None:
        """x*, (d,); None if no minimiser is certified."""
        try:
            return self.optimum
        except NoMinimiser:
            return None

    def value(self, point: Array) -> float:
        """Return F at a point (d,)."""
        return float(self.values(point[None])[0])

    def values(self, points: Array) -> Array:
        """Return F, (K,), at points (K, d)."""
        return self.model.values(self.row_weights, points)

    def mean_gradients(self, points: Array) -> Array:
        """Return grad F, (K, d), at points (K, d)."""
        return self.model.mixed_gradients(self.row_weights, points)

    def gradients(self, points: Array) -> Array:
        """Return gradients of F_i, (K, M, d), at points (K, M, d)."""
        return self.model.client_gradients(points)

    def gaps(self, points: Array) -> Array:
        """Return F(x) - F*, (K,), at points (K, d)."""
        return self.gaps_of_values(points, self.values(points))

    def gaps_of_values(self, points: Array, values: Array) -> Array:
        """Return F(x) - F*, (K,), at points (K, d) where F has the given values, (K,)."""
        gaps: Array = values - self.optimal_value
        cancelled = np.abs(gaps) < _CANCELLED * np.abs(values)
        if cancelled.any():
            gaps[cancelled] = self._gaps_near_optimum(points[cancelled])
        return gaps

    def _gaps_near_optimum(self, points: Array) -> Array:
        """Return F(x) - F*, (K,), at points (K, d) whose values agree with F* in nearly all digits.

        The gap is the integral of ``<grad F(x* + t v) - grad F(x*), v>`` over t in [0, 1], v = x - x*, by
        Gauss-Legendre quadrature: a sum of terms that are not negative, so that no digits cancel.
        """
        away = points - self.optimum
        nodes, shares = np.polynomial.legendre.leggauss(5)
        at_optimum = self.mean_gradients(self.optimum[None])
        gaps = np.zeros(len(points))
        for node, share in zip((nodes + 1) / 2, shares / 2, strict=True):
            gaps += share * ((self.mean_gradients(self.optimum + node * away) - at_optimum) * away).sum(axis=1)
        return np.maximum(gaps, 0.0)

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """Notes on the loss, the classes, the accuracy of x* and F*, the rows and the client weights."""
        known = [] if self.stationary_point is None else [note_on_minimum(self.model, self.minimum)]
        rows = list_notes_on_rows(self.model, self.oracle, self.weights)
        return [note_on_loss(self.model, self.classes), *known, *rows]

    @cached_property
    def centred(self) -> LinearModelProblem:
        """Return the problem in coordinates whose origin is x*, or the start if no minimiser is certified."""
        at = self.centre
        moved = self._with(model=self.model.translate(at), start=self.start - at)
        if self.stationary_point is not None:
            vars(moved)["minimum"] = replace(self.minimum, point=at - at)
        return moved

    @cached_property
    def client_optima(self) -> Array:
        """A minimiser of each F_i, (M, d), the nearest to x*; raise `NotApplicable` if one has none."""
        try:
            return np.stack(
                [
                    find_minimiser(self.model.select_clients([client]), np.ones(1), self.optimum).point
                    for client in range(self.clients)
                ]
            )
        except NoMinimiser:
            raise NotApplicable("a client's objective has no minimiser") from None

    def find_comparator(self, time: float, near: Array | None = None) -> Array:
        """Return the minimiser of ``F(y) + |x^0 - y|^2 / (2 time)``, (d,)."""
        penalties, model = self.model.penalties, self.model
        joint = penalties + 1 / time
        moved = replace(model, penalties=joint, origin=(penalties * model.origin + self.start / time) / joint)
        return find_minimiser(moved, self.weights, self.start, near).point

    def repeat(self, copies: int) -> LinearModelProblem:
        """Return the problem with every client repeated, the weights divided by the number of copies."""
        clients = list(range(self.clients)) * copies
        model, oracle = self.model.select_clients(clients), self.oracle.select_clients(clients)
        return self._with(model=model, weights=self.weights[clients] / copies, oracle=oracle)

    def perturb(self, curvature: float, length: float) -> LinearModelProblem:
        """Return a slightly perturbed problem: results that change much with it are dominated by rounding errors."""
        model = replace(
            self.model,
            inputs=self.model.inputs * curvature**0.5,
            offsets=self.model.offsets * length,
            penalties=self.model.penalties * curvature,
        )
        return self._with(model=model, start=self.start * length)

    def with_full_gradients(self) -> LinearModelProblem:
        """Return the problem without mini-batches."""
        return self._with(oracle=ExactOracle())

    def with_batches(self, batch: int, replacement: bool) -> LinearModelProblem:
        """Return the problem with mini-batches of `batch` rows."""
        return self._with(oracle=RowBatches(batch, replacement, self.model.counts))

    def as_floats(self) -> LinearModelProblem:
        """Return the problem itself, because its numbers are floats."""
        return self

    def _with(self, **changes: Any) -> LinearModelProblem:
        """Return a copy of the problem with some fields changed."""
        return LinearModelProblem(**{**self.__getstate__(), **changes})


_DATA = ("model", "weights", "start", "oracle", "description", "classes")
_CANCELLED = 1e-10
"""Gaps below this fraction of F have lost most of their digits in a difference of values."""
