"""Runs on sums of scalar losses: constants that hold on all of space, and expectations over all outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.arithmetic.enclosures import largest, maximum
from fedtheory.engine.certified_run import certify_run
from fedtheory.engine.comparator import Comparator
from fedtheory.engine.constants import Bound
from fedtheory.engine.frames import Frame, iterate_step_frames
from fedtheory.engine.losses.frames import iterate_outcome_frames
from fedtheory.engine.losses.surrogate import LossSurrogate
from fedtheory.engine.losses.trajectory import LossTrajectory, mean
from fedtheory.engine.point_objectives import PointObjectives
from fedtheory.engine.region import AlongRun, Ball, Everywhere
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.losses.line import restrict_to_coordinate
from fedtheory.federation.losses.problem import LossProblem


@dataclass(frozen=True, eq=False, repr=False)
class LossRun(Run):
    """One algorithm on sums of scalar losses; quantities that need constant Hessians raise `NotApplicable`."""

    problem: LossProblem

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.algorithm.defined is not None:
            expected = "expected a setting of fedavg for losses that are not quadratic"
            raise InputError("algorithm.name", f"{expected}, got {self.algorithm.name!r}")

    def refine(self, bits: int) -> LossRun:
        """Return the run for enclosures of `bits` bits, cached with its results."""
        return self.memo.compute_once(("refined", bits), lambda: LossRun(self.problem.without_cache(), self.algorithm))

    @property
    def precisions(self) -> tuple[int, ...]:
        """Return precisions in bits: each local step ``x - eta g(x)`` with eta <= 3/L at most quadruples a radius."""
        lost = 2 * self.algorithm.rounds * max(self.algorithm.work.steps)
        return tuple(bits + lost for bits in super().precisions)

    @cached_property
    def trajectory(self) -> LossTrajectory:
        """Exact expectations of the run; raises `NotApplicable` if it has too many outcomes to enumerate."""
        return LossTrajectory(self.problem, self.algorithm)

    @property
    def attempted_trajectory(self) -> LossTrajectory:
        """The trajectory: gradients are bounded, so that no run leaves double precision."""
        return self.trajectory

    @cached_property
    def client_objectives(self) -> PointObjectives:
        terms = self.problem.centred.terms
        return PointObjectives(
            terms.values,
            terms.gradients,
            lambda some, at: terms.select_clients(some).gradients(at),
            self.problem.clients,
        )

    @cached_property
    def mean_objective(self) -> PointObjectives:
        centred, terms = self.problem.centred, self.problem.centred.mean_terms
        return PointObjectives(
            lambda at: terms.values(at[..., None, :])[..., 0],
            centred.mean_gradients,
            lambda _, at: centred.mean_gradients(at),
            1,
        )

    def gaps(self, points: Array) -> Array:
        return self.problem.centred.gaps(points)

    @cached_property
    def surrogate(self) -> LossSurrogate:
        return LossSurrogate(self.problem, self.algorithm)

    @cached_property
    def ball(self) -> Ball:
        """Raises `NotApplicable`: the constants of these losses hold on all of space."""
        raise NotApplicable("balls that contain a run are known for quadratics only")

    @cached_property
    def smoothness(self) -> Number:
        """L = max_i of the largest second derivative of F_i, in modulus."""
        return largest(self.client_smoothness)

    @cached_property
    def strong_convexity(self) -> Number:
        """Zero: such an objective has no curvature at infinity, so that it is not strongly convex on all of space.

        Raises `NotApplicable` if the losses are not convex.
        """
        self.require_convex_clients()
        return self.arithmetic.number(0, "zero")

    @cached_property
    def client_smoothness(self) -> Array:
        """The largest second derivative of each F_i in modulus, (M,)."""
        return self._bound_derivatives(self.arithmetic.identity(self.problem.clients))

    @cached_property
    def client_strong_convexity(self) -> Array:
        """Zeros, (M,); raise `NotApplicable` if the losses are not convex."""
        self.require_convex_clients()
        return self.arithmetic.zeros(self.problem.clients)

    @cached_property
    def client_mean_square_smoothness(self) -> Array:
        """The squares of the largest second derivatives, (M,): one noise sample is the same at every point."""
        return self.client_smoothness**2

    @cached_property
    def sample_smoothness(self) -> Number:
        """L: there are no single samples with a larger curvature."""
        return self.smoothness

    @cached_property
    def noise_smoothness(self) -> Number:
        """Zero: one noise sample is the same at every point."""
        return self.arithmetic.number(0, "zero")

    @cached_property
    def comparator(self) -> Comparator:
        """Raises `NotApplicable`: comparators are computed for quadratics."""
        raise NotApplicable("comparators are computed for quadratics only")

    @cached_property
    def at_optimum(self) -> Comparator:
        """Raises `NotApplicable`: noise and dissimilarity at a point are computed for quadratics."""
        raise NotApplicable("noise and dissimilarity at a point are computed for quadratics only")

    @cached_property
    def objective_smoothness(self) -> Number:
        """The largest second derivative of F in modulus."""
        return self._bound_derivatives(self.problem.weights[None])[0]

    @cached_property
    def smallest_curvature(self) -> Number:
        """The smallest second derivative of F: zero for convex losses, whose curvature vanishes at infinity."""
        nothing = self.arithmetic.number(0, "zero")
        if self.problem.has_convex_clients:
            return nothing
        along = (
            restrict_to_coordinate(self.problem.terms, c, self.problem.weights[None])
            for c in range(self.problem.dimension)
        )
        return min(nothing, *(each.find_flattest()[0] for each in along))

    @cached_property
    def noise_variance(self) -> Bound:
        """sigma^2 = max_i E|g_i(x) - grad F_i(x)|^2."""
        return Bound(largest(self._variances), Everywhere())

    @cached_property
    def second_moment(self) -> Bound:
        return Bound(largest(self._gradient_suprema + self._variances), Everywhere())

    @cached_property
    def visited_second_moment(self) -> Bound:
        return Bound(largest(self.trajectory.largest_gradient_sq + self._variances), AlongRun())

    @cached_property
    def lipschitz_sq(self) -> Bound:
        """rho^2 = max_i sup_x |grad F_i(x)|^2."""
        return Bound(largest(self._gradient_suprema), Everywhere())

    @cached_property
    def objective_lipschitz_sq(self) -> Bound:
        return Bound(self._find_suprema_of_mixtures(self.problem.weights[None])[0], Everywhere())

    @cached_property
    def dissimilarity_sq(self) -> Bound:
        return Bound(largest(self.client_dissimilarities_sq.value), Everywhere())

    @cached_property
    def mean_dissimilarity_sq(self) -> Bound:
        return Bound(self._find_supremum_of_squares(self._difference_matrix, self.problem.weights), Everywhere())

    @cached_property
    def client_dissimilarities_sq(self) -> Bound:
        return Bound(self._find_suprema_of_mixtures(self._difference_matrix), Everywhere())

    def gradient_growth_sq(self, factor: Number) -> Bound:
        weights = self.problem.weights
        mixing = np.concatenate([self.arithmetic.identity(self.problem.clients), weights[None]])
        shares = np.append(weights, -factor * factor)
        return Bound(self._find_supremum_of_squares(mixing, shares), Everywhere())

    def second_moments_at(self, points: Array) -> Array:
        shape = (*points.shape[:-1], self.problem.clients, self.problem.dimension)
        gradients = self.problem.centred.gradients(np.broadcast_to(points[..., None, :], shape))
        moments: Array = (gradients * gradients).sum(axis=-1) + self._variances
        return moments

    def virtual_values(self, weights: Array) -> Array:
        values: Array = self._virtual_client_values @ weights.T
        return values

    @cached_property
    def _virtual_client_values(self) -> Array:
        """E F_i(theta^{n,k}) at the virtual iterates of fraboni2022, eq. (7), (T, K+1, M)."""
        virtual = self.trajectory.virtual_iterates
        return np.stack([[mean(self.surrogate.client_values(points)) for points in each] for each in virtual])

    @cached_property
    def virtual_gradient_sq(self) -> Array:
        virtual, slopes = self.trajectory.virtual_iterates, self.problem.centred.mean_gradients
        return np.stack([[mean((slopes(points) ** 2).sum(axis=-1)) for points in each] for each in virtual])

    @cached_property
    def _variances(self) -> Array:
        """E|g_i(x) - grad F_i(x)|^2, the same at every x, (M,)."""
        variances: Array = self.noise_forms[:, 0, 0]
        return variances

    @cached_property
    def _gradient_suprema(self) -> Array:
        """sup_x |grad F_i(x)|^2, (M,)."""
        return self._find_suprema_of_mixtures(self.arithmetic.identity(self.problem.clients))

    @property
    def _difference_matrix(self) -> Array:
        """The matrix (M, M) of the linear combinations grad F_i - grad F of the clients' gradients."""
        deviations: Array = self.arithmetic.identity(self.problem.clients) - self.problem.weights
        return deviations

    def _bound_derivatives(self, mixing: Array) -> Array:
        """Return the largest derivatives in modulus, (R,), of combinations, `mixing` (R, M), of clients' gradients."""
        along = [
            restrict_to_coordinate(self.problem.terms, c, mixing).find_steepest() for c in range(self.problem.dimension)
        ]
        return np.asarray(reduce(maximum, along))

    def _find_suprema_of_mixtures(self, mixing: Array) -> Array:
        """Return sup_x |sum_i mixing_ri grad F_i(x)|^2, (R,), for mixing (R, M)."""
        along = [
            restrict_to_coordinate(self.problem.terms, c, mixing).suprema_sq() for c in range(self.problem.dimension)
        ]
        return np.asarray(reduce(add, along))

    def _find_supremum_of_squares(self, mixing: Array, shares: Array) -> Number:
        """Return sup_x sum_r shares_r |sum_i mixing_ri grad F_i(x)|^2, coordinate by coordinate."""
        along = [
            restrict_to_coordinate(self.problem.terms, c, mixing).supremum(shares)
            for c in range(self.problem.dimension)
        ]
        return self.arithmetic.array(along).sum()


@iterate_step_frames.register
def _(run: LossRun) -> Iterator[Frame]:
    return iterate_outcome_frames(run, run.trajectory.rounds_of_outcomes)


@certify_run.register
def _return_unchanged(run: LossRun, _on_progress: Callable[[int, int], None] | None = None) -> LossRun:
    """Return the run unchanged: its expectations are enclosed already, or rational."""
    return run
