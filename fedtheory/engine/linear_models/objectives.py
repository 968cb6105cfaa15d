"""Objectives of linear models as functions that claims evaluate, and the objectives of a run's updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames.path import PathVector, PlainFrame
from fedtheory.engine.objectives import Objectives
from fedtheory.engine.surrogate import Surrogate
from fedtheory.engine.vectors import Vector, VectorSpace
from fedtheory.errors import NoMinimiser, NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.federation.linear_models.minimiser import minimum_of


@dataclass(frozen=True, eq=False)
class ModelObjectives(Objectives):
    """The F_i of each client, in coordinates relative to x*."""

    centred: LinearModelProblem

    def gradients(self, clients: Sequence[int], points: Array) -> Array:
        spread = np.zeros((*points.shape[:-2], self.centred.clients, points.shape[-1]))
        spread[..., list(clients), :] = points
        return np.asarray(self._evaluate_at_each(spread)[..., list(clients), :])

    def gradient(self, _space: VectorSpace, at: Vector) -> Vector:
        return PathVector(self._evaluate_at_each(self._select_points(at)))

    def value(self, space: VectorSpace, at: Vector) -> Array:
        assert isinstance(space, PlainFrame)
        points = self._select_points(at)
        flat = points.reshape(-1, *points.shape[-2:])
        return space.of_outcomes(self.centred.model.client_values(flat).reshape(points.shape[:-1]))

    def scale(self, space: VectorSpace, at: Vector) -> Array:
        # All terms have one sign, so that nothing cancels.
        return abs(self.value(space, at))

    def _evaluate_at_each(self, points: Array) -> Array:
        """Evaluate the gradients at points with further leading axes."""
        flat = points.reshape(-1, *points.shape[-2:])
        return self.centred.gradients(flat).reshape(points.shape)

    def _select_points(self, at: Vector) -> Array:
        """Return the point of each objective, (..., M, d)."""
        values = _read_coordinates(at)
        return np.broadcast_to(values, (*values.shape[:-2], self.centred.clients, values.shape[-1]))


@dataclass(frozen=True, eq=False)
class MeanObjective(Objectives):
    """F in coordinates relative to x*, evaluated at every client's vector."""

    centred: LinearModelProblem

    def gradients(self, clients: Sequence[int], points: Array) -> Array:
        assert len(clients) == points.shape[-2]
        return self._evaluate_at_each(points)

    def gradient(self, _space: VectorSpace, at: Vector) -> Vector:
        return PathVector(self._evaluate_at_each(_read_coordinates(at)))

    def value(self, space: VectorSpace, at: Vector) -> Array:
        assert isinstance(space, PlainFrame)
        points = _read_coordinates(at)
        found = self.centred.values(points.reshape(-1, points.shape[-1]))
        return space.of_outcomes(found.reshape(points.shape[:-1]))

    def scale(self, space: VectorSpace, at: Vector) -> Array:
        return abs(self.value(space, at))

    def _evaluate_at_each(self, points: Array) -> Array:
        """Evaluate the gradients at points with further leading axes."""
        return self.centred.slopes(points.reshape(-1, points.shape[-1])).reshape(points.shape)


def _read_coordinates(at: Vector) -> Array:
    """Return the coordinates of a vector; raise NotApplicable for vectors in expectation."""
    if not isinstance(at, PathVector):
        raise NotApplicable("second moments do not determine values of losses that are not quadratic")
    return at.values


class ModelSurrogate(Surrogate):
    """The objectives of a run's updates, for linear models."""

    def __init__(self, problem: LinearModelProblem, algorithm: Algorithm) -> None:
        super().__init__(problem, algorithm)
        self.problem: LinearModelProblem = problem
        self._centred = problem.centred

    def _minimise(self, weights: Array, near: Array) -> Array:
        """Return the minimiser of the objective with these client weights."""
        if weights[0] > 0 and (weights * self.problem.weights[0] == self.problem.weights * weights[0]).all():
            # For a multiple of F, another minimisation would only reproduce rounding errors.
            return near - near
        try:
            return minimum_of(self._centred.model, weights / weights.sum(), near).point
        except NoMinimiser:
            raise NotApplicable("a weighted sum of the clients' objectives has no minimizer") from None

    def mixed_value(self, weights: Array, point: Array) -> float:
        """Return sum_i weights_i L_i as one objective, at a point (d,)."""
        return float(weights @ self.client_values(point))

    def mixed_slope(self, weights: Array, point: Array) -> Array:
        """Return the gradient of `mixed_value`, (d,)."""
        slope: Array = weights @ self._centred.gradients(self._spread(point[None]))[0]
        return slope

    def client_values(self, points: Array) -> Array:
        """Return L_i, (..., M), at points (..., d)."""
        flat = self._spread(points.reshape(-1, points.shape[-1]))
        values = self._centred.model.client_values(flat)
        return np.asarray(values.reshape(*points.shape[:-1], self._centred.clients))

    def _spread(self, points: Array) -> Array:
        """Repeat each point (K, d) for every client, (K, M, d)."""
        return np.repeat(points[:, None], self._centred.clients, axis=1)

    @cached_property
    def least_client_values(self) -> Array:
        """L_i(theta_i*), (M,)."""
        return np.asarray(self._centred.model.client_values(self._centred.client_optima[None])[0])

    @cached_property
    def comparator(self) -> Array:
        """Raises `NotApplicable`: comparators of updates are computed for quadratics only."""
        raise NotApplicable("comparators of updates are computed for quadratics only")

    @cached_property
    def types(self) -> Array:
        """Index of the first client with the same rows in the same order, for each client, (M,)."""
        model = self.problem.model
        rows = [model.rows_of(client) for client in range(model.clients)]
        keys = [(model.inputs[own].tobytes(), model.offsets[own].tobytes()) for own in rows]
        return np.array([keys.index(key) for key in keys])
