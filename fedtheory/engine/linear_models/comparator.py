"""Comparators of runs on linear models, with upper bounds on noise and dissimilarity there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.comparator import Comparator
from fedtheory.federation.linear_models import LinearModelProblem


@dataclass(frozen=True, eq=False)
class ModelComparator(Comparator):
    """A comparator of a linear model.

    The exact comparator is within `distance` of the computed one: the numbers are upper bounds for both.
    """

    problem: LinearModelProblem
    point: Array
    distance: float = 0.0

    @cached_property
    def suboptimality(self) -> float:
        gap = float(self.problem.centred.gaps(self.point[None])[0])
        return max(gap, 0.0) + self.problem.minimum.gap

    @cached_property
    def distance_sq(self) -> float:
        away = self.problem.centred.start - self.point
        return (float(np.linalg.norm(away)) + self.distance) ** 2

    @cached_property
    def client_noise(self) -> Array:
        model, known = self.problem.centred.model, self.problem.known_everywhere
        slopes = model.loss.derivative(model.margins(self.point))
        moments = model.average_rows(slopes**2 * model.lengths_sq)
        means = model.average_rows(slopes[:, None] * model.inputs)
        variances = known.shrinkages * np.maximum(moments - (means * means).sum(axis=1), 0.0)
        moved = np.sqrt(known.mean_square_smoothness) * self.distance
        noise: Array = (np.sqrt(variances) + np.where(known.shrinkages > 0, moved, 0.0)) ** 2
        return noise

    @cached_property
    def client_dissimilarities(self) -> Array:
        clients = self.problem.clients
        each = self.problem.centred.gradients(np.broadcast_to(self.point, (1, clients, len(self.point))))[0]
        distances = np.linalg.norm(each - self.problem.weights @ each, axis=1)
        known = self.problem.known_everywhere
        moved = (known.client_smoothness + known.objective_smoothness) * self.distance
        dissimilarities: Array = (distances + moved) ** 2
        return dissimilarities


def find_comparator_model(problem: LinearModelProblem, time: float, near: Array | None = None) -> ModelComparator:
    """Return the minimiser of ``F(y) + |x^0 - y|^2 / (2 time)``; `near` is an initial guess, relative to x*.

    A bound for every point also holds for the computed point.
    """
    return ModelComparator(problem, problem.about_optimum.find_comparator(time, near))
