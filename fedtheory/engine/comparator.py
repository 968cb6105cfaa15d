"""Comparators: points y other than the optimum that bounds refer to, with noise and dissimilarity there.

A bound that holds for every point y is smallest at the y that balances two costs: the suboptimality F(y) - F*, and the
distance of y from the start.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.gradient_forms import GradientForms, evaluate_forms
from fedtheory.federation.problem import Problem


class Comparator(ABC):
    """A comparator y: its suboptimality, its distance from the start, and gradients at y."""

    problem: Problem
    point: Array
    """y - x*, (d,)."""

    @property
    @abstractmethod
    def suboptimality(self) -> Number:
        """F(y) - F*."""

    @property
    @abstractmethod
    def distance_sq(self) -> Number:
        """|x^0 - y|^2."""

    @property
    @abstractmethod
    def client_noise(self) -> Array:
        """E|g_i(y) - grad F_i(y)|^2 of each client, (M,)."""

    @property
    @abstractmethod
    def client_dissimilarities(self) -> Array:
        """|grad F_i(y) - grad F(y)|^2 of each client, (M,)."""

    @property
    def noise_sq(self) -> Number:
        """sum_i p_i E|g_i(y) - grad F_i(y)|^2."""
        return self.client_noise @ self.problem.weights

    @property
    def dissimilarity_sq(self) -> Number:
        """sum_i p_i |grad F_i(y) - grad F(y)|^2."""
        return self.client_dissimilarities @ self.problem.weights

    def noise_sq_with(self, factors: Array) -> Number:
        """sum_i p_i c_i E|g_i(y) - grad F_i(y)|^2 for factors c_i of the clients, (M,)."""
        return self.client_noise @ (self.problem.weights * factors)

    def dissimilarity_sq_with(self, factors: Array) -> Number:
        """sum_i p_i c_i |grad F_i(y) - grad F(y)|^2 for factors c_i of the clients, (M,)."""
        return self.client_dissimilarities @ (self.problem.weights * factors)


@dataclass(frozen=True, eq=False)
class QuadraticComparator(Comparator):
    """A comparator of a quadratic problem."""

    problem: Problem
    forms: GradientForms
    point: Array

    @cached_property
    def suboptimality(self) -> Number:
        return self.point @ self.problem.about_optimum.hessian @ self.point / 2

    @cached_property
    def distance_sq(self) -> Number:
        away = self.problem.centred.start - self.point
        return away @ away

    @cached_property
    def client_noise(self) -> Array:
        return evaluate_forms(self.forms.noise, self.point)

    @cached_property
    def client_dissimilarities(self) -> Array:
        return evaluate_forms(self.forms.deviations, self.point)


def find_comparator(problem: Problem, forms: GradientForms, time: Number) -> Comparator:
    """Return the minimiser of ``F(y) + |x^0 - y|^2 / (2 time)``; time is the sum of the step sizes of a run."""
    matrix = problem.arithmetic.identity(problem.dimension) + time * problem.hessian
    return QuadraticComparator(problem, forms, problem.arithmetic.solve_regular(matrix, problem.about_optimum.start))
