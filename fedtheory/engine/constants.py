"""Constants of assumptions: the smallest values with which the clients of a run satisfy them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from fedtheory.arithmetic import Arithmetic, Array, Number, sum_with_weights
from fedtheory.engine.gradient_forms import GradientForms
from fedtheory.engine.region import Ball, Everywhere, Region, find_containing_ball
from fedtheory.errors import NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem


@dataclass(frozen=True)
class Bound:
    """A constant of an assumption: the smallest value known to hold, and the region on which it holds."""

    value: Any
    """A number, or one for each client, (M,)."""
    region: Region


@dataclass(frozen=True, eq=False, repr=False)
class AssumedConstants:
    """Smoothness, curvature, noise and dissimilarity of a problem, on a region that contains all iterates."""

    problem: Problem
    algorithm: Algorithm

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """Floats or rationals."""
        return self.problem.arithmetic

    @cached_property
    def gradient_forms(self) -> GradientForms:
        """Squared gradients of the clients as forms in (1, x), x relative to x*."""
        return GradientForms(self.problem)

    @property
    def noise_forms(self) -> Array:
        """E|g_i(x) - grad F_i(x)|^2 as forms in (1, x), (M, d+1, d+1), x relative to x*."""
        return self.gradient_forms.noise

    @cached_property
    def ball(self) -> Ball:
        """A ball about x* that contains the run; raise `NotApplicable` if none is known."""
        return find_containing_ball(self.problem, self.algorithm)

    def require_convex_clients(self) -> None:
        """Raise `NotApplicable` if a client's objective is not convex."""
        if not self.problem.has_convex_clients:
            client = int(self.problem.convex_clients.argmin())
            raise NotApplicable(f"the objective of client {client} is not convex")

    @cached_property
    def smoothness(self) -> Number:
        """L = max_i (largest modulus of an eigenvalue of H_i)."""
        return self.problem.largest_curvature

    @cached_property
    def strong_convexity(self) -> Number:
        """mu = min_i (smallest eigenvalue of H_i); raise `NotApplicable` if a client is not convex."""
        self.require_convex_clients()
        return self.problem.smallest_curvature

    @cached_property
    def client_smoothness(self) -> Array:
        """Largest modulus of an eigenvalue of each H_i, (M,)."""
        return self.problem.spectral_norms

    @cached_property
    def client_strong_convexity(self) -> Array:
        """Smallest eigenvalue of each H_i, (M,); raise `NotApplicable` if a client is not convex."""
        self.require_convex_clients()
        return self.problem.smallest_curvatures

    @cached_property
    def client_mean_square_smoothness(self) -> Array:
        """The smallest c_i with ``E|g_i(x) - g_i(y)|^2 <= c_i |x - y|^2``, one draw in both gradients, (M,)."""
        curvatures = self.problem.hessians @ self.problem.hessians + self.noise_forms[:, 1:, 1:]
        return self.arithmetic.largest_eigenvalues(curvatures)

    @cached_property
    def sample_smoothness(self) -> Number:
        """The largest curvature among the objectives of single samples."""
        return _find_sample_smoothness(self.problem)

    @cached_property
    def noise_smoothness(self) -> Number:
        """The smallest l with E|n_i(x) - n_i(y)|^2 <= 2 l (F_i(y) - F_i(x) - <grad F_i(x), y - x>), for all clients."""
        return self.gradient_forms.noise_smoothness

    @cached_property
    def objective_smoothness(self) -> Number:
        """Largest modulus of an eigenvalue of the Hessian of F."""
        return self.problem.spectral_norm(self.problem.hessian)

    @cached_property
    def smallest_curvature(self) -> Number:
        """Smallest eigenvalue of the Hessian of F; raises `Unresolved` if floats cannot resolve it."""
        if self.problem.rows is not None:
            return self.problem.rows.smallest_curvature
        return self.arithmetic.smallest_eigenvalue(self.problem.hessian)

    @cached_property
    def noise_variance(self) -> Bound:
        """sigma^2 = max_i sup_x E|g_i(x) - grad F_i(x)|^2."""
        return self._find_largest(self.noise_forms, "mini-batch noise")

    @cached_property
    def second_moment(self) -> Bound:
        """G^2 = max_i sup_x E|g_i(x)|^2."""
        return self._find_largest(self.gradient_forms.stochastic, "the second moment of the gradients")

    @cached_property
    def lipschitz_sq(self) -> Bound:
        """rho^2 = max_i sup_x |grad F_i(x)|^2: on a convex region F_i is rho-Lipschitz."""
        return self._find_largest(self.gradient_forms.squares, "the gradient")

    @cached_property
    def objective_lipschitz_sq(self) -> Bound:
        """rho_F^2 = sup_x |grad F(x)|^2."""
        # grad F(x) = H (x - x*), and the ball is centred at x*.
        return Bound((steepest := self.objective_smoothness * self.ball.radius) * steepest, self.ball)

    @cached_property
    def dissimilarity_sq(self) -> Bound:
        """zeta^2 = (sup_x max_i |grad F_i(x) - grad F(x)|)^2."""
        return self._find_largest(self.gradient_forms.deviations, _DISSIMILARITY)

    @cached_property
    def mean_dissimilarity_sq(self) -> Bound:
        """sup_x sum_i p_i |grad F_i(x) - grad F(x)|^2."""
        found = self._find_largest(
            sum_with_weights(self.problem.weights, self.gradient_forms.deviations)[None], _DISSIMILARITY
        )
        # Suprema on balls are rounded up: rounding must not lift an average above the largest value.
        return Bound(min(found.value, self.dissimilarity_sq.value), found.region)

    @cached_property
    def client_dissimilarities_sq(self) -> Bound:
        """delta_i^2 = sup_x |grad F_i(x) - grad F(x)|^2 of each client, (M,)."""
        return self._find_suprema(self.gradient_forms.deviations, _DISSIMILARITY)

    def gradient_growth_sq(self, factor: Number) -> Bound:
        """Return the smallest G^2 with ``sum_i p_i |grad F_i(x)|^2 <= G^2 + factor^2 |grad F(x)|^2``."""
        return self._find_largest(self.gradient_forms.growth(factor), "the mean of the clients' squared gradients")

    def _find_largest(self, forms: Array, what: str) -> Bound:
        """Return the supremum of the largest of M quadratic forms in (1, x), (M, d+1, d+1).

        The supremum is over all of space, or over the ball.
        """
        if self.gradient_forms.are_constant(forms):
            return Bound(max(forms[:, 0, 0]), Everywhere())
        ball = self._find_ball(what)
        return Bound(self.gradient_forms.largest_supremum(forms, ball.radius), ball)

    def _find_suprema(self, forms: Array, what: str) -> Bound:
        """Return the supremum of each of the forms, (M,)."""
        if self.gradient_forms.are_constant(forms):
            return Bound(forms[:, 0, 0], Everywhere())
        ball = self._find_ball(what)
        return Bound(self.gradient_forms.suprema(forms, ball.radius), ball)

    def _find_ball(self, what: str) -> Ball:
        """Return the ball that contains all iterates, or explain why the constant is unbounded without one."""
        try:
            return self.ball
        except NotApplicable as reason:
            raise NotApplicable(f"{what} is unbounded on all of space, and {reason}") from None


@lru_cache(maxsize=4)
def _find_sample_smoothness(problem: Problem) -> Number:
    """Return the largest curvature among the objectives of single samples; it does not depend on the algorithm."""
    centred = problem.centred
    return centred.oracle.step_bound(centred.hessians, centred.linear).curvature


_DISSIMILARITY = "gradient dissimilarity (the Hessians differ)"
