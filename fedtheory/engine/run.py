"""A run: a problem, an algorithm, and everything exact that can be known about the two together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array, Number, largest_eigenvalues
from fedtheory.arithmetic.enclosures import ENCLOSURE_BITS
from fedtheory.engine.comparator import Comparator, nearest_good_point
from fedtheory.engine.gradient_forms import GradientForms, values_at
from fedtheory.engine.memo import Memo
from fedtheory.engine.moments import Trajectory, require_short, trajectory_of
from fedtheory.engine.moments.recursion import Updates
from fedtheory.engine.objectives import Objectives, QuadraticObjectives
from fedtheory.engine.region import AlongRun, Ball, Everywhere, Region, containing_ball
from fedtheory.engine.surrogate import Surrogate
from fedtheory.errors import NotApplicable
from fedtheory.federation import Algorithm, LocalWork
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.quadratic import weighted_sum
from fedtheory.federation.rule import same_for_all
from fedtheory.federation.types import WAY_OUT
from fedtheory.shown import Card, Shown, number

Made = TypeVar("Made")


@dataclass(frozen=True)
class Bound:
    """A constant of an assumption: the smallest value known to hold, and where it holds."""

    value: Any
    """A number, or one for each client, (M,)."""
    region: Region


@dataclass(frozen=True, eq=False, repr=False)
class Run(Shown):
    """One algorithm on one problem; results are computed on first use, in the problem's arithmetic."""

    problem: Problem
    algorithm: Algorithm

    def __post_init__(self) -> None:
        self.algorithm.require_fitting(self.problem)

    def __getstate__(self) -> dict[str, Any]:
        """The data alone: what is known of a run is found again where it is needed."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def summary(self) -> str:
        """The algorithm, its rounds and its problem."""
        text = f"{self.algorithm.name}, {self.algorithm.rounds} rounds, on {self.problem.summary()}"
        return f"{text}, which stand for {self.clients} clients in types" if self.is_in_types else text

    def card(self) -> Card:
        """Return the run's description as a table: problem, algorithm and sizes."""
        work, server, policy = self.algorithm.work, self.algorithm.aggregation, self.algorithm.clock.policy
        facts = {
            "rounds": str(self.algorithm.rounds),
            "local steps": ", ".join(sorted({str(steps) for steps in work.steps})),
            "local step size": ", ".join(sorted({number(size) for size in work.step_sizes})),
            "server step size": number(server.server_step_size),
            "participation": type(policy if policy.is_in_turn else server.participation.of_clients).__name__.lower(),
            "clock": "synchronous" if policy.is_in_turn else type(policy).__name__.lower(),
        }
        return Card(f"{self.algorithm.name} on {self.problem.summary()}", facts=facts)

    @cached_property
    def memo(self) -> Memo:
        """Constants, and expressions in them, that claims about the same run share."""
        return Memo()

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of clients that each of the problem's stands for, (M,): more than one where these are types."""
        return self.algorithm.aggregation.participation.multiplicities(self.problem.clients)

    @cached_property
    def clients(self) -> int:
        """Number of clients, also where the problem's are types."""
        return sum(self.counts)

    @property
    def is_in_types(self) -> bool:
        """Whether one client is followed for several equal ones."""
        return self.clients > self.problem.clients

    @cached_property
    def multiplicities(self) -> Array:
        """The numbers of `counts`, (M,), in the run's arithmetic."""
        return self.arithmetic.array(list(self.counts))

    @cached_property
    def client_weights(self) -> Array:
        """p_i of one client, (M,): where the problem's are types, of one of the equal clients of each."""
        return self.algorithm.aggregation.participation.of_one_client(self.problem.weights)

    @property
    def has_equal_weights(self) -> bool:
        """Whether every client counts alike."""
        return bool((self.client_weights == self.client_weights[0]).all())

    def of_one_client(self, values: Array) -> Array:
        """Sums over the clients of each of the problem's (..., M), which share them evenly, as those of one client."""
        return np.asarray(values / self.multiplicities) if self.is_in_types else values

    def repeat_for_clients(self, values: Array) -> Array:
        """Values of the problem's clients (..., M) as those of single clients."""
        return np.repeat(values, self.counts, axis=-1) if self.is_in_types else values

    def require_single_clients(self, reason: str) -> None:
        """Raise `NotApplicable`, with the reason, where one client is followed for several equal ones."""
        if self.is_in_types:
            raise NotApplicable(f"{reason}, and of the {self.clients} clients one of each type is followed: {WAY_OUT}")

    def written_out(self) -> Run:
        """The run in which every client is followed on its own."""
        if not self.is_in_types:
            return self
        places, algorithm = np.repeat(np.arange(self.problem.clients), self.counts).tolist(), self.algorithm
        work, server = algorithm.work, algorithm.aggregation
        each = replace(
            algorithm,
            work=replace(work, steps=tuple(work.steps[i] for i in places), step_sizes=work.step_sizes[places]),
            clock=replace(algorithm.clock, times=tuple(algorithm.clock.times[i] for i in places)),
            aggregation=replace(server, participation=server.participation.of_clients),
        )
        return replace(self, problem=self.problem.with_clients(places, self.client_weights[places]), algorithm=each)

    def once(self, make: Callable[[Run], Made]) -> Made:
        """Return the value of a function of the run, computed when it is asked for first."""
        return self.memo.once(make, lambda: make(self))

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """Floats or rationals."""
        return self.problem.arithmetic

    def as_floats(self) -> Run:
        """The same run in double precision."""
        return replace(self, problem=self.problem.as_floats(), algorithm=self.algorithm.as_floats())

    is_estimated = False
    """Whether expectations are averages over replicas instead of exact."""
    replicas = 1
    """Number of simulated replicas."""

    @property
    def errors_are(self) -> str:
        """Return how errors are known, in one word."""
        return "estimated" if self.is_estimated else "exact"

    @property
    def groups(self) -> tuple[Run, ...]:
        """The run once for every independent group of its replicas, where expectations are estimates; else none."""
        return ()

    def refined(self, _bits: int) -> Run:
        """The same run for enclosures of so many bits; without enclosures there is nothing to refine."""
        return self

    @property
    def precisions(self) -> tuple[int, ...]:
        """Bits of enclosures with which to look at a run, one after the other as long as nothing is decided."""
        return ENCLOSURE_BITS, 4 * ENCLOSURE_BITS

    def require_vectors(self) -> None:
        """Raise `Unresolved` where the run is too long for the vectors of single steps."""

    def with_rounds(self, rounds: int) -> Run:
        """The run with another number of rounds; what a round does is found once for both."""
        other = self._with_algorithm(replace(self.algorithm, rounds=rounds))
        vars(other)["_updates"] = self._updates
        return other

    def with_many_rounds(self) -> Run:
        """The same run, prepared for following its rounds many times: noise is found as linear maps where that pays."""
        other = self._with_algorithm(self.algorithm)
        if self.algorithm.defined is None:
            vars(other)["_updates"] = Updates(self.problem, self.algorithm, is_for_many=True)
        return other

    def with_work(self, steps: tuple[int, ...], step_size: Number) -> Run:
        """The run with other local steps, all of one size."""
        work = LocalWork(steps, same_for_all(step_size, self.problem.weights))
        return self._with_algorithm(replace(self.algorithm, work=work))

    def with_step_factor(self, factor: Number) -> Run:
        """The run with all local step sizes multiplied by a factor."""
        work = replace(self.algorithm.work, step_sizes=self.algorithm.work.step_sizes * factor)
        return self._with_algorithm(replace(self.algorithm, work=work))

    def with_local_steps_multiplied(self, factor: int) -> Run:
        """The run with so many times as many local steps of every client in each round."""
        work = replace(self.algorithm.work, steps=tuple(factor * count for count in self.algorithm.work.steps))
        return self._with_algorithm(replace(self.algorithm, work=work))

    def _with_algorithm(self, algorithm: Algorithm) -> Self:
        """Another run on the same problem; what is known of its gradients is known already."""
        other = replace(self, algorithm=algorithm)
        vars(other)["gradient_forms"] = self.gradient_forms
        return other

    def with_copies(self, copies: int) -> Run:
        """The run with every client repeated, so that there are more clients of the same kind."""
        work = self.algorithm.work
        self.algorithm.require_synchronous("clients are repeated in rounds that wait for all clients")
        if self.algorithm.aggregation.chosen is not None:
            raise NotApplicable("repeated clients need their client weights as aggregation weights")
        if self.algorithm.defined is not None and self.algorithm.defined.mixing is not None:
            raise NotApplicable("repeated clients need a server, not a communication graph")
        algorithm = replace(
            self.algorithm,
            work=LocalWork(work.steps * copies, np.tile(work.step_sizes, copies)),
            clock=replace(self.algorithm.clock, times=self.algorithm.clock.times * copies),
        )
        return replace(self, problem=self.problem.repeated(copies), algorithm=algorithm)

    @cached_property
    def trajectory(self) -> Trajectory:
        """Exact expectations of the run; `Diverging` if they leave double precision."""
        return self.attempted_trajectory.require_finite()

    @cached_property
    def attempted_trajectory(self) -> Trajectory:
        """The trajectory as far as it goes, with the reason where it diverges."""
        if self.problem.arithmetic.is_rigorous:
            require_short(self.problem, self.algorithm)
        if self.algorithm.defined is not None:
            from fedtheory.engine.joint import JointTrajectory

            return JointTrajectory(self.problem, self.algorithm)
        return trajectory_of(self.problem, self.algorithm, self._updates.recursion)

    @cached_property
    def _updates(self) -> Updates:
        return Updates(self.problem, self.algorithm)

    @cached_property
    def client_objectives(self) -> Objectives:
        """F_i of each client, in coordinates centred at x*."""
        problem = self.problem.centred
        return QuadraticObjectives(problem.hessians, problem.linear, problem.constants)

    @cached_property
    def mean_objective(self) -> Objectives:
        """F, in coordinates centred at x*."""
        problem = self.problem.centred
        return QuadraticObjectives(problem.hessian[None], problem.mean_linear[None], problem.mean_constant)

    def gaps(self, points: Array) -> Array:
        """F(x) - F*, (...), at centred points (..., d)."""
        values: Array = (points * (points @ self.problem.about_optimum.hessian)).sum(axis=-1) / 2
        return values

    @cached_property
    def surrogate(self) -> Surrogate:
        """Return the surrogate problem, which the run minimises where clients report unequally often."""
        return Surrogate(self.problem, self.algorithm)

    @cached_property
    def ball(self) -> Ball:
        """A ball about x* that contains the run; `NotApplicable` where none is known."""
        return containing_ball(self.problem, self.algorithm)

    def require_convex_clients(self) -> None:
        """Raise `NotApplicable` where a client's objective is not convex."""
        if not self.problem.has_convex_clients:
            client = int(self.problem.convex_clients.argmin())
            raise NotApplicable(f"the objective of client {client} is not convex")

    @cached_property
    def smoothness(self) -> Number:
        """L = max_i (largest modulus of an eigenvalue of H_i)."""
        return self.problem.largest_curvature

    @cached_property
    def strong_convexity(self) -> Number:
        """mu = min_i (smallest eigenvalue of H_i); `NotApplicable` where a client is not convex."""
        self.require_convex_clients()
        return self.problem.smallest_curvature

    @cached_property
    def client_smoothness(self) -> Array:
        """Largest modulus of an eigenvalue of each H_i, (M,)."""
        return self.problem.spectral_norms

    @cached_property
    def client_strong_convexity(self) -> Array:
        """Smallest eigenvalue of each H_i, (M,); `NotApplicable` where a client is not convex."""
        self.require_convex_clients()
        return self.problem.smallest_curvatures

    @cached_property
    def client_mean_square_smoothness(self) -> Array:
        """The smallest c_i with ``E|g_i(x) - g_i(y)|^2 <= c_i |x - y|^2``, one draw in both gradients, (M,)."""
        curvatures = self.problem.hessians @ self.problem.hessians + self.noise_forms[:, 1:, 1:]
        return largest_eigenvalues(self.arithmetic, curvatures)

    @cached_property
    def sample_smoothness(self) -> Number:
        """The largest curvature of an objective that is sampled."""
        centred = self.problem.centred
        return centred.oracle.step_bound(centred.hessians, centred.linear).curvature

    @cached_property
    def noise_smoothness(self) -> Number:
        """The smallest l with E|n_i(x) - n_i(y)|^2 <= 2 l (F_i(y) - F_i(x) - <grad F_i(x), y - x>), for all clients."""
        return self.gradient_forms.noise_smoothness

    @cached_property
    def comparator(self) -> Comparator:
        """The minimiser of F(y) + |x^0 - y|^2 / (2 eta tau T), for clients that all take the same steps."""
        work = self.algorithm.work
        if work.common_steps is None or work.common_step_size is None:
            raise NotApplicable("the clients take different local steps: the run has no comparator")
        time = work.common_step_size * work.common_steps * self.algorithm.rounds
        return nearest_good_point(self.problem, self.gradient_forms, time)

    @cached_property
    def at_optimum(self) -> Comparator:
        """The optimum, as a point to compare a run with."""
        return Comparator(self.problem, self.gradient_forms, self.problem.about_optimum.optimum)

    @cached_property
    def objective_smoothness(self) -> Number:
        """Largest modulus of an eigenvalue of the Hessian of F."""
        return self.problem.spectral_norm(self.problem.hessian)

    @cached_property
    def smallest_curvature(self) -> Number:
        """Smallest eigenvalue of the Hessian of F; `Unresolved` where floats lose it."""
        if self.problem.rows is not None:
            return self.problem.rows.smallest_curvature
        return self.arithmetic.smallest_eigenvalue(self.problem.hessian)

    @cached_property
    def initial_distance_sq(self) -> Number:
        """D^2 = |x^0 - x*|^2, x* the minimiser nearest to x^0."""
        return self.problem.about_optimum.start @ self.problem.centred.start

    @cached_property
    def initial_gap(self) -> Number:
        """F(x^0) - F*."""
        start = self.problem.about_optimum.start
        if self.problem.rows is not None:
            return float(np.sum((self.problem.rows.inputs @ start) ** 2))
        return self.gaps(start[None])[0]

    @cached_property
    def gradient_forms(self) -> GradientForms:
        """The clients' gradients, squared, as forms in (1, x), x measured from x*."""
        return GradientForms(self.problem)

    @property
    def noise_forms(self) -> Array:
        """E|g_i(x) - grad F_i(x)|^2 as forms in (1, x), (M, d+1, d+1), x measured from x*."""
        return self.gradient_forms.noise

    @cached_property
    def noise_variance(self) -> Bound:
        """sigma^2 = max_i sup_x E|g_i(x) - grad F_i(x)|^2."""
        return self._largest(self.noise_forms, "mini-batch noise")

    @cached_property
    def second_moment(self) -> Bound:
        """G^2 = max_i sup_x E|g_i(x)|^2."""
        return self._largest(self.gradient_forms.stochastic, "the second moment of the gradients")

    @cached_property
    def visited_second_moment(self) -> Bound:
        """The largest E|g_i(x_i^{n,k})|^2 of the run itself."""
        return Bound(self.trajectory.local_second_moments(self.gradient_forms.stochastic).max(), AlongRun())

    @cached_property
    def lipschitz_sq(self) -> Bound:
        """rho^2 = max_i sup_x |grad F_i(x)|^2: on a convex region F_i is rho-Lipschitz."""
        return self._largest(self.gradient_forms.lengths, "the gradient")

    @cached_property
    def objective_lipschitz_sq(self) -> Bound:
        """rho_F^2 = sup_x |grad F(x)|^2."""
        # grad F(x) = H (x - x*), and the ball is centred at x*.
        return Bound((steepest := self.objective_smoothness * self.ball.radius) * steepest, self.ball)

    @cached_property
    def dissimilarity_sq(self) -> Bound:
        """zeta^2 = (sup_x max_i |grad F_i(x) - grad F(x)|)^2."""
        return self._largest(self.gradient_forms.apart, _DISSIMILARITY)

    @cached_property
    def mean_dissimilarity_sq(self) -> Bound:
        """sup_x sum_i p_i |grad F_i(x) - grad F(x)|^2."""
        found = self._largest(weighted_sum(self.problem.weights, self.gradient_forms.apart)[None], _DISSIMILARITY)
        # Suprema on balls are upper bounds: the rounding of one of them must not lift an average above the largest.
        return Bound(min(found.value, self.dissimilarity_sq.value), found.region)

    @cached_property
    def client_dissimilarities_sq(self) -> Bound:
        """delta_i^2 = sup_x |grad F_i(x) - grad F(x)|^2 of each client, (M,)."""
        return self._suprema(self.gradient_forms.apart, _DISSIMILARITY)

    def gradient_growth_sq(self, factor: Number) -> Bound:
        """The smallest G^2 with ``sum_i p_i |grad F_i(x)|^2 <= G^2 + factor^2 |grad F(x)|^2``."""
        return self._largest(self.gradient_forms.growth(factor), "the mean of the clients' squared gradients")

    def _largest(self, forms: Array, what: str) -> Bound:
        """Supremum of the largest of M quadratic forms in (1, x), (M, d+1, d+1): everywhere, or on the ball."""
        if self.gradient_forms.are_constant(forms):
            return Bound(max(forms[:, 0, 0]), Everywhere())
        ball = self._ball_for(what)
        return Bound(self.gradient_forms.largest_supremum(forms, ball.radius), ball)

    def _suprema(self, forms: Array, what: str) -> Bound:
        """Supremum of each of the forms, (M,)."""
        if self.gradient_forms.are_constant(forms):
            return Bound(forms[:, 0, 0], Everywhere())
        ball = self._ball_for(what)
        return Bound(self.gradient_forms.suprema(forms, ball.radius), ball)

    def _ball_for(self, what: str) -> Ball:
        try:
            return self.ball
        except NotApplicable as reason:
            raise NotApplicable(f"{what} is unbounded on all of space, and {reason}") from None

    def second_moments_at(self, points: Array) -> Array:
        """E|g_i(x)|^2 of each client, (..., M), at centred points (..., d)."""
        return values_at(self.gradient_forms.stochastic, points)

    def virtual_values(self, weights: Array) -> Array:
        """sum_i c_i E F_i(theta^{n,k}) at the virtual iterates of fraboni2022, eq. (7), for weights c (R, M).

        Shape (T, K+1, R).  A weighted sum of quadratics is one quadratic: it costs as much as that of one client.
        """
        problem = self.problem.centred
        forms = self.arithmetic.zeros(len(weights), problem.dimension + 1, problem.dimension + 1)
        for form, own in zip(forms, weights, strict=True):
            form[0, 0] = own @ problem.constants
            form[0, 1:] = -weighted_sum(own, problem.linear)
            form[1:, 1:] = weighted_sum(own, problem.hessians) / 2
        return self._evaluate_at_virtual_iterates(forms)

    @cached_property
    def virtual_gradient_sq(self) -> Array:
        """E|grad F(theta^{n,k})|^2 at the virtual iterates, (T, K+1)."""
        squares: Array = self._evaluate_at_virtual_iterates(self.problem.gradient_form[None])[..., 0]
        return squares

    def _evaluate_at_virtual_iterates(self, forms: Array) -> Array:
        """Expectations of forms (C, d+1, d+1) in (1, theta^{n,k} - x*), (T, K+1, C)."""
        return self.trajectory.evaluate_at_virtual_iterates(forms)


_DISSIMILARITY = "gradient dissimilarity (the Hessians differ)"
