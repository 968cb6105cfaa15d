"""Objectives of linear models as functions that claims evaluate, and the objectives of a run's updates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.point_objectives import PointObjectives
from fedtheory.engine.surrogate import Surrogate
from fedtheory.errors import NoMinimiser, NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.federation.linear_models.minimiser import find_minimiser


def build_client_objectives(centred: LinearModelProblem) -> PointObjectives:
    """Return the F_i of each client, in coordinates relative to x*."""

    def evaluate(points: Array) -> Array:
        return centred.model.client_values(points.reshape(-1, *points.shape[-2:])).reshape(points.shape[:-1])

    def differentiate(points: Array) -> Array:
        return centred.gradients(points.reshape(-1, *points.shape[-2:])).reshape(points.shape)

    def differentiate_some(clients: Sequence[int], points: Array) -> Array:
        spread = np.zeros((*points.shape[:-2], centred.clients, points.shape[-1]))
        spread[..., list(clients), :] = points
        return np.asarray(differentiate(spread)[..., list(clients), :])

    return PointObjectives(evaluate, differentiate, differentiate_some, centred.clients)


def build_mean_objective(centred: LinearModelProblem) -> PointObjectives:
    """Return F in coordinates relative to x*, evaluated at every client's vector."""

    def evaluate(points: Array) -> Array:
        return centred.values(points.reshape(-1, points.shape[-1])).reshape(points.shape[:-1])

    def differentiate(points: Array) -> Array:
        return centred.mean_gradients(points.reshape(-1, points.shape[-1])).reshape(points.shape)

    return PointObjectives(evaluate, differentiate, lambda _, points: differentiate(points), 1)


class ModelSurrogate(Surrogate):
    """The objectives of a run's updates, for linear models."""

    def __init__(self, problem: LinearModelProblem, algorithm: Algorithm) -> None:
        super().__init__(problem, algorithm)
        self.problem: LinearModelProblem = problem
        self._centred = problem.centred

    def _minimise(self, weights: Array, near: Array) -> Array:
        if weights[0] > 0 and (weights * self.problem.weights[0] == self.problem.weights * weights[0]).all():
            # For a multiple of F, another minimisation would only reproduce rounding errors.
            return near - near
        try:
            return find_minimiser(self._centred.model, weights / weights.sum(), near).point
        except NoMinimiser:
            raise NotApplicable("a weighted sum of the clients' objectives has no minimizer") from None

    def mixed_value(self, weights: Array, point: Array) -> float:
        return float(weights @ self.client_values(point))

    def mixed_gradient(self, weights: Array, point: Array) -> Array:
        slope: Array = weights @ self._centred.gradients(self._repeat_for_clients(point[None]))[0]
        return slope

    def client_values(self, points: Array) -> Array:
        flat = self._repeat_for_clients(points.reshape(-1, points.shape[-1]))
        values = self._centred.model.client_values(flat)
        return np.asarray(values.reshape(*points.shape[:-1], self._centred.clients))

    def _repeat_for_clients(self, points: Array) -> Array:
        """Repeat each point (K, d) for every client, (K, M, d)."""
        return np.repeat(points[:, None], self._centred.clients, axis=1)

    @cached_property
    def least_client_values(self) -> Array:
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
