"""A point to compare a run with, which need not be the optimum, and what noise and dissimilarity are there.

A bound that holds for every point y promises most at the y that balances two
costs: how much F(y) is above F*, and how far y is from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import RATIONAL, Arithmetic, Array, Number, plain_floats, simplest_near
from fedtheory.engine.gradient_forms import GradientForms, values_at
from fedtheory.errors import NotApplicable
from fedtheory.federation.problem import Problem

_FLOAT_MARGIN = 1e-10
"""Added to what floats find, relatively, so that rounding does not make it too small."""


@dataclass(frozen=True, eq=False)
class Comparator:
    """A point y of a quadratic problem: how good it is, how far from the start, and what gradients are there."""

    problem: Problem
    forms: GradientForms
    point: Array
    """y - x*, (d,)."""

    @cached_property
    def suboptimality(self) -> Number:
        """F(y) - F*."""
        return self.point @ self.problem.hessian @ self.point / 2

    @cached_property
    def distance_sq(self) -> Number:
        """|x^0 - y|^2."""
        away = self.problem.centred.start - self.point
        return away @ away

    @cached_property
    def noise_sq(self) -> Number:
        """sum_i p_i E|g_i(y) - grad F_i(y)|^2."""
        return self._mean(self.forms.noise)

    @cached_property
    def dissimilarity_sq(self) -> Number:
        """sum_i p_i |grad F_i(y) - grad F(y)|^2."""
        return self._mean(self.forms.apart)

    def noise_sq_with(self, factors: Array) -> Number:
        """sum_i p_i c_i E|g_i(y) - grad F_i(y)|^2 for factors c_i of the clients, (M,)."""
        return values_at(self.forms.noise, self.point) @ (self.problem.weights * factors)

    def dissimilarity_sq_with(self, factors: Array) -> Number:
        """sum_i p_i c_i |grad F_i(y) - grad F(y)|^2 for factors c_i of the clients, (M,)."""
        return values_at(self.forms.apart, self.point) @ (self.problem.weights * factors)

    def _mean(self, forms: Array) -> Number:
        """Mean over the clients of forms in (1, x), (M, d+1, d+1), at y."""
        return values_at(forms, self.point) @ self.problem.weights


def nearest_good_point(problem: Problem, forms: GradientForms, time: Number) -> Comparator:
    """The minimiser of ``F(y) + |x^0 - y|^2 / (2 time)``; time is the sum of the step sizes of a run."""
    matrix = problem.arithmetic.identity(problem.dimension) + time * problem.hessian
    return Comparator(problem, forms, problem.arithmetic.solve_regular(matrix, problem.centred.start))


def noise_smoothness(problem: Problem, noise_forms: Array) -> Number:
    """The smallest l with ``E|n_i(x) - n_i(y)|^2 <= 2 l (F_i(y) - F_i(x) - <grad F_i(x), y - x>)`` for every client.

    n_i is the noise of one draw of client i, and the right side its
    ``l (y - x)' H_i (y - x)``.  For batches of B samples of smoothness L_s, drawn
    with replacement, l is at most L_s/B.  Floats are rounded up; rationals are
    at most a millionth larger than the smallest.
    """
    curvatures = noise_forms[:, 1:, 1:]
    if (curvatures == 0).all():
        return problem.arithmetic.number(0, "zero")
    pairs = zip(curvatures, problem.hessians, strict=True)
    return max(least_multiple(noise, hessian, problem.arithmetic) for noise, hessian in pairs)


def least_multiple(form: Array, base: Array, arithmetic: Arithmetic) -> Number:
    """The least c for which ``c base - form`` is positive semidefinite, rounded up; both (d, d) and semidefinite."""
    if (form == 0).all():
        return arithmetic.number(0, "zero")
    found = _largest_ratio(plain_floats(form), plain_floats(base))
    if arithmetic is not RATIONAL:
        return found * (1 + _FLOAT_MARGIN)
    multiple = simplest_near(found, 1e-7)
    for _ in range(_ATTEMPTS):
        if arithmetic.is_psd(multiple * base - form):
            return multiple
        multiple += multiple / 10_000_000
    raise NotApplicable("the noise is not bounded by a multiple of the client's curvature")


_ATTEMPTS = 10


def _largest_ratio(form: Array, base: Array) -> float:
    """The largest ``x'form x / x'base x`` over the range of `base`, in floats."""
    values, vectors = np.linalg.eigh(base)
    kept = values > _RANK * values[-1]
    scaled = vectors[:, kept] / np.sqrt(values[kept])
    return float(np.linalg.eigvalsh(scaled.T @ form @ scaled)[-1])


_RANK = 1e-11
