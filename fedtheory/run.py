"""A run: a problem, an algorithm, and everything exact that can be known about the two together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array, Number
from fedtheory.errors import NotApplicable
from fedtheory.federation import Algorithm, LocalWork
from fedtheory.federation.rule import same_for_all
from fedtheory.moments import Trajectory
from fedtheory.problem import Problem
from fedtheory.region import Ball, Everywhere, Region, containing_ball, supremum_on_ball


@dataclass(frozen=True)
class Bound:
    """A constant of an assumption: the smallest value known to hold, and where it holds."""

    value: Number
    region: Region


@dataclass(frozen=True, eq=False)
class Run:
    """One algorithm on one problem; results are computed on first use, in the problem's arithmetic."""

    problem: Problem
    algorithm: Algorithm

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """Floats or rationals."""
        return self.problem.arithmetic

    def as_floats(self) -> Run:
        """The same run in double precision."""
        return Run(self.problem.as_floats(), self.algorithm.as_floats())

    def with_rounds(self, rounds: int) -> Run:
        """The run with another number of rounds."""
        return Run(self.problem, replace(self.algorithm, rounds=rounds))

    def with_work(self, steps: tuple[int, ...], step_size: Number) -> Run:
        """The run with other local steps, all of one size."""
        work = LocalWork(steps, same_for_all(step_size, self.problem.weights))
        return Run(self.problem, replace(self.algorithm, work=work))

    @cached_property
    def trajectory(self) -> Trajectory:
        """Exact expectations of the run; `Diverging` if they leave double precision."""
        return Trajectory(self.problem, self.algorithm).require_finite()

    @cached_property
    def ball(self) -> Ball:
        """A ball about x* that contains the run; `NotApplicable` where none is known."""
        return containing_ball(self.problem, self.algorithm)

    @cached_property
    def smoothness(self) -> Number:
        """L = max_i (largest eigenvalue of H_i)."""
        return max(self.arithmetic.largest_eigenvalue(hessian) for hessian in self._distinct_hessians)

    @cached_property
    def strong_convexity(self) -> Number:
        """mu = min_i (smallest eigenvalue of H_i)."""
        return min(self.arithmetic.smallest_eigenvalue(hessian) for hessian in self._distinct_hessians)

    @property
    def _distinct_hessians(self) -> Array:
        hessians = self.problem.hessians
        return hessians[:1] if (hessians == hessians[0]).all() else hessians

    @cached_property
    def noise_variance(self) -> Bound:
        """sigma^2 = max_i sup_x E|g_i(x) - grad F_i(x)|^2."""
        centred = self.problem.centred
        return self._largest(centred.oracle.variance_forms(centred.linear), "mini-batch noise")

    def _largest(self, forms: Array, what: str) -> Bound:
        """Supremum of the largest of M quadratic forms in (1, x), (M, d+1, d+1): everywhere, or on the ball."""
        # The forms are positive semidefinite: without a quadratic part they are constant.
        if all(self._vanishes(form[1:, 1:]) for form in forms):
            return Bound(max(forms[:, 0, 0]), Everywhere())
        try:
            ball = self.ball
        except NotApplicable as reason:
            raise NotApplicable(f"{what} is unbounded on all of space, and {reason}") from None
        suprema = (supremum_on_ball(f[1:, 1:], f[1:, 0], f[0, 0], ball.radius) for f in forms)
        return Bound(max(suprema), ball)

    @cached_property
    def dissimilarity_sq(self) -> Bound:
        """zeta^2 = (sup_x max_i |grad F_i(x) - grad F(x)|)^2."""
        centred = self.problem.centred
        apart = np.concatenate([-centred.linear[:, :, None], centred.hessians - self.problem.hessian], axis=2)
        forms = apart.transpose(0, 2, 1) @ apart
        return self._largest(forms, "gradient dissimilarity (the Hessians differ)")

    def _vanishes(self, quadratic_part: Array) -> bool:
        """Whether a form in squared curvatures vanishes, up to rounding in floats."""
        if quadratic_part.dtype == object:
            return bool((quadratic_part == 0).all())
        return bool(np.abs(quadratic_part).max() <= (1e-13 * np.abs(self.problem.hessian).max()) ** 2)

    @cached_property
    def initial_distance_sq(self) -> Number:
        """D^2 = |x^0 - x*|^2, x* the minimiser nearest to x^0."""
        return self.problem.centred.start @ self.problem.centred.start

    @cached_property
    def initial_gap(self) -> Number:
        """F(x^0) - F*."""
        start = self.problem.centred.start
        return start @ self.problem.hessian @ start / 2
