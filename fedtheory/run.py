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
from fedtheory.oracles import AdditiveNoise, MiniBatch
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
        oracle = self.problem.centred.oracle
        if isinstance(oracle, MiniBatch):
            return self._minibatch_variance(oracle)
        variances = oracle.variances if isinstance(oracle, AdditiveNoise) else self.arithmetic.zeros(1)
        return Bound(max(variances), Everywhere())

    def _minibatch_variance(self, oracle: MiniBatch) -> Bound:
        forms = _variance_forms(oracle, self.arithmetic)
        if all((form[1:, 1:] == 0).all() for form in forms):
            return Bound(max(form[0, 0] for form in forms), Everywhere())
        try:
            ball = self.ball
        except NotApplicable as reason:
            raise NotApplicable(f"mini-batch noise is unbounded on all of space, and {reason}") from None
        suprema = (supremum_on_ball(f[1:, 1:], f[1:, 0], f[0, 0], ball.radius) for f in forms)
        return Bound(max(suprema), ball)

    @cached_property
    def dissimilarity_sq(self) -> Bound:
        """zeta^2 = (sup_x max_i |grad F_i(x) - grad F(x)|)^2."""
        centred = self.problem.centred
        apart = centred.hessians - self.problem.hessian
        gradients = -centred.linear
        if all(self._is_zero(matrix) for matrix in apart):
            return Bound((gradients * gradients).sum(axis=1).max(), Everywhere())
        try:
            ball = self.ball
        except NotApplicable as reason:
            raise NotApplicable(
                f"gradient dissimilarity is unbounded on all of space (the Hessians differ), and {reason}"
            ) from None
        suprema = (
            supremum_on_ball(a.T @ a, a.T @ g, g @ g, ball.radius) for a, g in zip(apart, gradients, strict=True)
        )
        return Bound(max(suprema), ball)

    def _is_zero(self, matrix: Array) -> bool:
        if self.problem.hessian.dtype == object:
            return bool((matrix == 0).all())
        return bool(np.abs(matrix).max() <= 1e-14 * np.abs(self.problem.hessian).max())

    @cached_property
    def initial_distance_sq(self) -> Number:
        """D^2 = |x^0 - x*|^2, x* the minimiser nearest to x^0."""
        return self.problem.centred.start @ self.problem.centred.start

    @cached_property
    def initial_gap(self) -> Number:
        """F(x^0) - F*."""
        start = self.problem.centred.start
        return start @ self.problem.hessian @ start / 2


def _variance_forms(oracle: MiniBatch, arithmetic: Arithmetic) -> list[Array]:
    """For each client the quadratic form of ``E|g_i(x) - grad F_i(x)|^2`` in (1, x), (d+1, d+1)."""
    forms = []
    for client, (inputs, outputs) in enumerate(oracle.data):
        residuals = np.column_stack([-outputs, inputs])
        lengths = 4 * (inputs * inputs).sum(axis=1)
        gradient = 2 * (inputs.T @ residuals) / len(inputs)
        per_sample = residuals.T @ (lengths[:, None] * residuals) / len(inputs)
        forms.append((per_sample - gradient.T @ gradient) * oracle.shrinkage(client, arithmetic))
    return forms
