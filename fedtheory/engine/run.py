"""A run: a problem and an algorithm, with all their exact constants, expectations and bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, Number, map_equal_rows, sum_with_weights
from fedtheory.arithmetic.enclosures import ENCLOSURE_BITS
from fedtheory.engine.comparator import Comparator, QuadraticComparator, find_comparator
from fedtheory.engine.constants import AssumedConstants, Bound
from fedtheory.engine.expectations import Expectations
from fedtheory.engine.gradient_forms import evaluate_forms
from fedtheory.engine.memo import Memo
from fedtheory.engine.moments import build_trajectory, require_short
from fedtheory.engine.moments.updates import Updates
from fedtheory.engine.objectives import Objectives, QuadraticObjectives
from fedtheory.engine.region import AlongRun
from fedtheory.engine.surrogate import Surrogate
from fedtheory.errors import NotApplicable
from fedtheory.federation import Algorithm, LocalWork
from fedtheory.federation.client_types import WAY_OUT
from fedtheory.federation.update_rule import repeat_for_clients
from fedtheory.shown import Card, Shown, number

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False, repr=False)
class Run(AssumedConstants, Shown):
    """One algorithm on one problem; results are computed at first use, in the problem's arithmetic."""

    def __post_init__(self) -> None:
        self.algorithm.require_fitting(self.problem)

    def __getstate__(self) -> dict[str, Any]:
        """Return the data alone: cached results are computed again where they are needed."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def summary(self) -> str:
        """Return the algorithm, its rounds and its problem."""
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
        """Cache of constants, and of expressions in them, for all claims about this run."""
        return Memo()

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of clients that each client of the problem stands for, (M,): more than one for client types."""
        return self.algorithm.aggregation.participation.multiplicities(self.problem.clients)

    @cached_property
    def clients(self) -> int:
        """Number of clients, counting every client of a type."""
        return sum(self.counts)

    @property
    def is_in_types(self) -> bool:
        """Whether one client is simulated for several equal ones."""
        return self.clients > self.problem.clients

    @cached_property
    def multiplicities(self) -> Array:
        """The numbers of `counts`, (M,), in the run's arithmetic."""
        return self.arithmetic.array(list(self.counts))

    @cached_property
    def client_weights(self) -> Array:
        """p_i of one client, (M,): for client types, that of one of the equal clients."""
        return self.algorithm.aggregation.participation.select_single_weights(self.problem.weights)

    @property
    def has_equal_weights(self) -> bool:
        """Whether all clients have equal weight."""
        return bool((self.client_weights == self.client_weights[0]).all())

    def average_over_types(self, values: Array) -> Array:
        """Divide sums over the clients of each type, (..., M), by the number of these clients."""
        return np.asarray(values / self.multiplicities) if self.is_in_types else values

    def repeat_for_clients(self, values: Array) -> Array:
        """Repeat values of the problem's clients (..., M) for every single client."""
        return np.repeat(values, self.counts, axis=-1) if self.is_in_types else values

    def require_single_clients(self, reason: str) -> None:
        """Raise `NotApplicable`, with the reason, if one client is simulated for several equal ones."""
        if self.is_in_types:
            raise NotApplicable(f"{reason}, and of the {self.clients} clients one of each type is followed: {WAY_OUT}")

    def follow_all_clients(self) -> Run:
        """Return the run in which every client is simulated."""
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

    def compute_once(self, make: Callable[[Run], Made]) -> Made:
        """Return the value of a function of the run, computed at first use."""
        return self.memo.compute_once(make, lambda: make(self))

    def clear_measurements(self) -> Self:
        """Return the run with the same simulation and problem, and no quantity measured yet."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, memo=Memo())
        return other

    def as_floats(self) -> Run:
        """Return the run in double precision."""
        if self.arithmetic is FLOAT:
            return self
        return replace(self, problem=self.problem.as_floats(), algorithm=self.algorithm.as_floats())

    is_estimated = False
    """Whether expectations are averages over replicas instead of exact."""
    replicas = 1
    """Number of simulated replicas."""

    @property
    def errors_are(self) -> str:
        """Return in one word how errors are known."""
        return "estimated" if self.is_estimated else "exact"

    @property
    def groups(self) -> tuple[Run, ...]:
        """Copies of the run, one per independent group of replicas; empty if expectations are not estimates."""
        return ()

    def refine(self, _bits: int) -> Run:
        """Return the run for enclosures of `_bits` bits; without enclosures, the run itself."""
        return self

    @property
    def precisions(self) -> tuple[int, ...]:
        """Precisions of enclosures in bits, to be tried one after the other until a check is decided."""
        return ENCLOSURE_BITS, 4 * ENCLOSURE_BITS

    def require_vectors(self) -> None:
        """Raise `Unresolved` if the run is too long for the vectors of single steps."""

    def with_rounds(self, rounds: int) -> Run:
        """Return the run with another number of rounds; the effect of one round is computed once for both."""
        other = self._replace_algorithm(replace(self.algorithm, rounds=rounds))
        vars(other)["_updates"] = self._updates
        return other

    def with_many_rounds(self) -> Run:
        """Return the run prepared for many rounds: noise is precomputed as linear maps if that is cheaper."""
        other = self._replace_algorithm(self.algorithm)
        if self.algorithm.defined is None:
            vars(other)["_updates"] = Updates(self.problem, self.algorithm, is_for_many=True)
        return other

    def with_work(self, steps: tuple[int, ...], step_size: Number) -> Run:
        """Return the run with other local steps, all of one size."""
        work = LocalWork(steps, repeat_for_clients(step_size, self.problem.weights))
        return self._replace_algorithm(replace(self.algorithm, work=work))

    def with_step_factor(self, factor: Number) -> Run:
        """Return the run with all local step sizes multiplied by a factor."""
        work = replace(self.algorithm.work, step_sizes=self.algorithm.work.step_sizes * factor)
        return self._replace_algorithm(replace(self.algorithm, work=work))

    def with_local_steps_multiplied(self, factor: int) -> Run:
        """Return the run with the local steps of every client multiplied by `factor`."""
        work = replace(self.algorithm.work, steps=tuple(factor * count for count in self.algorithm.work.steps))
        return self._replace_algorithm(replace(self.algorithm, work=work))

    def _replace_algorithm(self, algorithm: Algorithm) -> Self:
        """Return another run on the same problem, with the cached data of its gradients."""
        other = replace(self, algorithm=algorithm)
        vars(other)["gradient_forms"] = self.gradient_forms
        return other

    def with_copies(self, copies: int) -> Run:
        """Return the run with every client repeated `copies` times."""
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
        return replace(self, problem=self.problem.repeat(copies), algorithm=algorithm)

    @cached_property
    def trajectory(self) -> Expectations:
        """Exact expectations of the run; raises `Diverging` if they leave double precision."""
        return self.attempted_trajectory.require_finite()

    @cached_property
    def attempted_trajectory(self) -> Expectations:
        """The trajectory up to a divergence, with its reason."""
        if self.problem.arithmetic.is_rigorous:
            require_short(self.problem, self.algorithm)
        if self.algorithm.defined is not None:
            from fedtheory.engine.joint import JointTrajectory

            return JointTrajectory(self.problem, self.algorithm)
        return build_trajectory(self.problem, self.algorithm, self._updates.recursion)

    @cached_property
    def _updates(self) -> Updates:
        """Return the server updates of the run."""
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
        """Return the surrogate problem, which the run minimises if clients report unequally often."""
        return Surrogate(self.problem, self.algorithm)

    @cached_property
    def comparator(self) -> Comparator:
        """The minimiser of F(y) + |x^0 - y|^2 / (2 eta tau T), if all clients take the same steps."""
        return find_comparator(self.problem, self.gradient_forms, self._total_step_size)

    @property
    def _total_step_size(self) -> Number:
        """eta tau T; raise `NotApplicable` if the clients take different steps."""
        work = self.algorithm.work
        if work.common_steps is None or work.common_step_size is None:
            raise NotApplicable("the clients take different local steps: the run has no comparator")
        return work.common_step_size * work.common_steps * self.algorithm.rounds

    @cached_property
    def at_optimum(self) -> Comparator:
        """The optimum as a comparator."""
        return QuadraticComparator(self.problem, self.gradient_forms, self.problem.about_optimum.optimum)

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
    def visited_second_moment(self) -> Bound:
        """The largest E|g_i(x_i^{n,k})|^2 of the run itself."""
        return Bound(self.trajectory.largest_local_second_moment(self.gradient_forms.stochastic), AlongRun())

    def second_moments_at(self, points: Array) -> Array:
        """E|g_i(x)|^2 of each client, (..., M), at centred points (..., d)."""
        forms = self.gradient_forms.stochastic
        if points.ndim == 1:
            return evaluate_forms(forms, points)
        # Rounds with the same weights have the same optimum.
        return np.stack(map_equal_rows(lambda point: evaluate_forms(forms, point), points))

    def virtual_values(self, weights: Array) -> Array:
        """sum_i c_i E F_i(theta^{n,k}) at the virtual iterates of fraboni2022, eq. (7), for weights c (R, M).

        Shape (T, K+1, R).  A weighted sum of quadratics is one quadratic, and costs as much as one client.
        """
        problem = self.problem.centred
        forms = self.arithmetic.zeros(len(weights), problem.dimension + 1, problem.dimension + 1)
        for form, own in zip(forms, weights, strict=True):
            form[0, 0] = own @ problem.constants
            form[0, 1:] = -sum_with_weights(own, problem.linear)
            form[1:, 1:] = sum_with_weights(own, problem.hessians) / 2
        return self._evaluate_at_virtual_iterates(forms)

    @cached_property
    def virtual_gradient_sq(self) -> Array:
        """E|grad F(theta^{n,k})|^2 at the virtual iterates, (T, K+1)."""
        squares: Array = self._evaluate_at_virtual_iterates(self.problem.gradient_form[None])[..., 0]
        return squares

    def _evaluate_at_virtual_iterates(self, forms: Array) -> Array:
        """Expectations of forms (C, d+1, d+1) in (1, theta^{n,k} - x*), (T, K+1, C)."""
        return self.trajectory.evaluate_at_virtual_iterates(forms)
