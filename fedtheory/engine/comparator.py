"""Comparators: points y other than the optimum that bounds refer to, with noise and dissimilarity there.

A bound that holds for every point y is smallest at the y that balances two costs: the suboptimality F(y) - F*, and the
distance of y from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.gradient_forms import GradientForms, values_at
from fedtheory.federation.problem import Problem


@dataclass(frozen=True, eq=False)
class Comparator:
    """A comparator y of a quadratic problem: its suboptimality, its distance from the start, and gradients at y."""

    problem: Problem
    forms: GradientForms
    point: Array
    """y - x*, (d,)."""

    @cached_property
    def suboptimality(self) -> Number:
        """F(y) - F*."""
        return self.point @ self.problem.about_optimum.hessian @ self.point / 2

    @cached_property
    def distance_sq(self) -> Number:
        """|x^0 - y|^2."""
        away = self.problem.centred.start - self.point
        return away @ away

    @cached_property
    def noise_sq(self) -> Number:
        """sum_i p_i E|g_i(y) - grad F_i(y)|^2."""
        return self._average_forms(self.forms.noise)

    @cached_property
    def dissimilarity_sq(self) -> Number:
        """sum_i p_i |grad F_i(y) - grad F(y)|^2."""
        return self._average_forms(self.forms.deviations)

    def noise_sq_with(self, factors: Array) -> Number:
        """sum_i p_i c_i E|g_i(y) - grad F_i(y)|^2 for factors c_i of the clients, (M,)."""
        return values_at(self.forms.noise, self.point) @ (self.problem.weights * factors)

    def dissimilarity_sq_with(self, factors: Array) -> Number:
        """sum_i p_i c_i |grad F_i(y) - grad F(y)|^2 for factors c_i of the clients, (M,)."""
        return values_at(self.forms.deviations, self.point) @ (self.problem.weights * factors)

    def _average_forms(self, forms: Array) -> Number:
        """Return the client average of forms in (1, x), (M, d+1, d+1), at y."""
        return values_at(forms, self.point) @ self.problem.weights


def nearest_good_point(problem: Problem, forms: GradientForms, time: Number) -> Comparator:
    """Return the minimiser of ``F(y) + |x^0 - y|^2 / (2 time)``; time is the sum of the step sizes of a run."""
    matrix = problem.arithmetic.identity(problem.dimension) + time * problem.hessian
    return Comparator(problem, forms, problem.arithmetic.solve_regular(matrix, problem.about_optimum.start))
