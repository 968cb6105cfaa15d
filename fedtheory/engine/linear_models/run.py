"""A run on linear models: certified constants that hold on all of space, and errors along replicas of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn, Self

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.certified_run import certify_run
from fedtheory.engine.constants import Bound
from fedtheory.engine.frames import Frame, iterate_step_frames
from fedtheory.engine.linear_models.comparator import ModelComparator, find_comparator_model
from fedtheory.engine.linear_models.frames import iterate_replica_frames
from fedtheory.engine.linear_models.objectives import ModelSurrogate, build_client_objectives, build_mean_objective
from fedtheory.engine.linear_models.replicas import FEW, MANY, count_replicas
from fedtheory.engine.linear_models.trajectory import Replicas, ReplicaTrajectory
from fedtheory.engine.point_objectives import PointObjectives
from fedtheory.engine.region import AlongRun, Ball, Everywhere
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.definition import Participants
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.federation.linear_models.constants import ModelConstants


@dataclass(frozen=True, eq=False, repr=False)
class LinearModelRun(Run):
    """One algorithm on linear models; quantities that need constant Hessians raise `NotApplicable`."""

    problem: LinearModelProblem
    seed: int = 0
    """Seed of the random draws."""
    most_replicas: int = MANY
    """Largest number of replicas that are simulated."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.algorithm.defined is not None and not self.algorithm.clock.is_synchronous:
            expected = "expected a setting of fedavg where rounds do not wait for their participants"
            raise InputError("algorithm.name", f"{expected}, got {self.algorithm.name!r}")
        self._require_positive_weights()
        if self.algorithm.clock.is_random:
            raise InputError("algorithm.clock.law", "expected fixed update times for losses that are not quadratic")

    def _require_positive_weights(self) -> None:
        """Raise `InputError` if the weights of a round do not determine its participants."""
        chosen, defined = self.algorithm.aggregation.chosen, self.algorithm.defined
        if defined is not None and chosen is not None and min(chosen) == 0 and defined.algorithm.uses(Participants):
            expected = f"expected positive numbers with {self.algorithm.name} on losses that are not quadratic, got 0"
            raise InputError("algorithm.aggregation", expected)

    @cached_property
    def replicas(self) -> int:  # type: ignore[override]
        """Number of simulated replicas; one if nothing is random."""
        return min(count_replicas(self.problem, self.algorithm), self.most_replicas)

    @property
    def is_estimated(self) -> bool:  # type: ignore[override]
        """Whether errors are averages over replicas, not those of the only path."""
        return self.replicas > 1

    @cached_property
    def attempted_trajectory(self) -> ReplicaTrajectory:
        return ReplicaTrajectory(Replicas(self.problem, self.algorithm, self.replicas, self.seed))

    @cached_property
    def trajectory(self) -> ReplicaTrajectory:
        return self.attempted_trajectory.require_finite()

    @cached_property
    def groups(self) -> tuple[LinearModelRun, ...]:
        """The run once for every independent group of its replicas; empty if nothing is random."""
        if not self.is_estimated:
            return ()
        found = []
        for trajectory in self.trajectory.average_by_group():
            group = replace(self)
            vars(group)["trajectory"] = vars(group)["attempted_trajectory"] = trajectory
            found.append(group)
        return tuple(found)

    def with_rounds(self, rounds: int) -> Self:
        """Return the run with another number of rounds."""
        return self._replace_algorithm(replace(self.algorithm, rounds=rounds))

    def with_many_rounds(self) -> Self:
        """Return the run with fewer replicas, for comparing many step sizes with common random numbers."""
        return replace(self, most_replicas=FEW)

    def _replace_algorithm(self, algorithm: object) -> Self:
        return replace(self, algorithm=algorithm)  # type: ignore[arg-type]

    @property
    def _constants(self) -> ModelConstants:
        """Constants of the problem that hold on all of space."""
        return self.problem.known_everywhere

    @cached_property
    def client_objectives(self) -> PointObjectives:
        return build_client_objectives(self.problem.centred)

    @cached_property
    def mean_objective(self) -> PointObjectives:
        return build_mean_objective(self.problem.centred)

    def gaps(self, points: Array) -> Array:
        flat = points.reshape(-1, points.shape[-1])
        return self.problem.centred.gaps(flat).reshape(points.shape[:-1])

    @cached_property
    def surrogate(self) -> ModelSurrogate:
        return ModelSurrogate(self.problem, self.algorithm)

    @cached_property
    def ball(self) -> Ball:
        """Raises `NotApplicable`: the constants of these losses hold on all of space."""
        raise NotApplicable("balls that contain a run are known for quadratics only")

    @cached_property
    def smoothness(self) -> Number:
        """Upper bound on L, the largest curvature of all F_i."""
        return float(self._constants.client_smoothness.max())

    @cached_property
    def strong_convexity(self) -> Number:
        """The smallest ridge of a coefficient: the losses have no curvature at infinity."""
        return self.problem.model.strength

    @cached_property
    def client_smoothness(self) -> Array:
        """Upper bounds on the largest curvature of each F_i, (M,)."""
        return self._constants.client_smoothness

    @cached_property
    def client_strong_convexity(self) -> Array:
        """The ridge of each client, (M,)."""
        return np.full(self.problem.clients, self.problem.model.strength)

    @cached_property
    def client_mean_square_smoothness(self) -> Array:
        """Upper bounds on c_i with ``E|g_i(x) - g_i(y)|^2 <= c_i |x - y|^2``, one draw in both gradients, (M,)."""
        return self._constants.mean_square_smoothness

    @cached_property
    def sample_smoothness(self) -> Number:
        """Upper bound on the largest curvature of the objective of a row, or of a client without mini-batches."""
        return self._constants.row_smoothness if self.problem.is_sampled else self.smoothness

    @cached_property
    def noise_smoothness(self) -> Number:
        """Upper bound on l with E|n_i(x) - n_i(y)|^2 <= 2 l (F_i(y) - F_i(x) - <grad F_i(x), y - x>)."""
        return self._constants.noise_smoothness

    @cached_property
    def objective_smoothness(self) -> Number:
        """Upper bound on the largest curvature of F."""
        return self._constants.objective_smoothness

    @cached_property
    def smallest_curvature(self) -> Number:
        """The smallest ridge of a coefficient: the losses have no curvature at infinity."""
        return self.problem.model.strength

    @cached_property
    def initial_distance_sq(self) -> Number:
        """Upper bound on D^2 = |x^0 - x*|^2, x* the minimiser nearest to x^0."""
        start = self.problem.about_optimum.start
        return (float(np.linalg.norm(start)) + self.problem.minimum.distance) ** 2

    @cached_property
    def initial_gap(self) -> Number:
        """Upper bound on F(x^0) - F*."""
        start_gap = float(self.problem.about_optimum.gaps(self.problem.centred.start[None])[0])
        return max(start_gap, 0.0) + self.problem.minimum.gap

    @cached_property
    def comparator(self) -> ModelComparator:
        return find_comparator_model(self.problem, float(self._total_step_size))

    @cached_property
    def at_optimum(self) -> ModelComparator:
        point = self.problem.about_optimum.optimum
        return ModelComparator(self.problem, point, self.problem.minimum.distance)

    @property
    def noise_forms(self) -> Array:
        """Zeros, (M, d+1, d+1), for full gradients; the noise of mini-batches is no quadratic form."""
        if self.problem.is_sampled:
            raise NotApplicable("the gradients are noisy: clients draw mini-batches")
        size = self.problem.dimension + 1
        return np.broadcast_to(0.0, (self.problem.clients, size, size))

    @cached_property
    def gradient_forms(self) -> NoReturn:
        """Raises `NotApplicable`: gradients of these losses are not affine."""
        raise NotApplicable("suprema and expectations of squared gradients are computed for quadratics only")

    @cached_property
    def noise_variance(self) -> Bound:
        """Upper bound on max_i sup_x E|g_i(x) - grad F_i(x)|^2."""
        return Bound(float(self._constants.noise.max()), Everywhere())

    @cached_property
    def second_moment(self) -> Bound:
        """Upper bound on max_i sup_x E|g_i(x)|^2; `NotApplicable` with a ridge."""
        return Bound(float(self._constants.second_moments.max()), Everywhere())

    @cached_property
    def visited_second_moment(self) -> Bound:
        """The largest E|g_i(x_i^{n,k})|^2 of the run itself; raise `NotApplicable` if it would be an estimate."""
        if self.is_estimated:
            raise NotApplicable("the second moment along the run is an average over replicas, not a bound")
        return Bound(float(self.trajectory.largest_gradient_sq.max()), AlongRun())

    @cached_property
    def lipschitz_sq(self) -> Bound:
        """Upper bound on max_i sup_x |grad F_i(x)|^2; `NotApplicable` with a ridge."""
        return Bound(float(self._constants.gradient_suprema_sq.max()), Everywhere())

    @cached_property
    def objective_lipschitz_sq(self) -> Bound:
        """Upper bound on sup_x |grad F(x)|^2; `NotApplicable` with a ridge."""
        return Bound(self._constants.objective_supremum_sq, Everywhere())

    @cached_property
    def dissimilarity_sq(self) -> Bound:
        """Upper bound on (sup_x max_i |grad F_i(x) - grad F(x)|)^2."""
        return Bound(float(self._constants.dissimilarities_sq.max()), Everywhere())

    @cached_property
    def mean_dissimilarity_sq(self) -> Bound:
        """Upper bound on sup_x sum_i p_i |grad F_i(x) - grad F(x)|^2."""
        return Bound(float(self._constants.dissimilarities_sq @ self.problem.weights), Everywhere())

    @cached_property
    def client_dissimilarities_sq(self) -> Bound:
        """Upper bounds on sup_x |grad F_i(x) - grad F(x)|^2 of each client, (M,)."""
        return Bound(self._constants.dissimilarities_sq, Everywhere())

    def gradient_growth_sq(self, factor: Number) -> Bound:
        """Upper bound on G^2 with ``sum_i p_i |grad F_i(x)|^2 <= G^2 + factor^2 |grad F(x)|^2``.

        The left side is |grad F(x)|^2 plus the average squared dissimilarity at x.
        """
        if factor >= 1:
            return self.mean_dissimilarity_sq
        return Bound(float(self._constants.gradient_suprema_sq @ self.problem.weights), Everywhere())

    def second_moments_at(self, points: Array) -> Array:
        flat = points.reshape(-1, points.shape[-1])
        spread = np.repeat(flat[:, None], self.problem.clients, axis=1)
        squares = (self.problem.centred.gradients(spread) ** 2).sum(axis=-1)
        noise = np.stack([ModelComparator(self.problem, point).client_noise for point in flat])
        return np.asarray(squares + noise).reshape(*points.shape[:-1], self.problem.clients)

    def _evaluate_at_virtual_iterates(self, _forms: Array) -> NoReturn:
        """Raise NotApplicable: the losses are not quadratic."""
        raise NotApplicable("expectations at virtual iterates are computed for quadratics only")


@iterate_step_frames.register
def _(run: LinearModelRun) -> Iterator[Frame]:
    return iterate_replica_frames(run, run.trajectory.chosen_rounds())


@certify_run.register
def _return_unchanged(run: LinearModelRun, _on_progress: Callable[[int, int], None] | None = None) -> LinearModelRun:
    """Return the run unchanged, because its values are not rational."""
    return run
