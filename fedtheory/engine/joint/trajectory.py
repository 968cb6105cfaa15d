"""The exact expectations of a run whose algorithm is given as a definition."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property, reduce

import numpy as np

from fedtheory.arithmetic import Array, Number, arithmetic_of, plain_floats, sum_with_weights
from fedtheory.arithmetic.enclosures import largest
from fedtheory.engine.expectations import Divergence, Expectations
from fedtheory.engine.joint.averages import Averaged, find_model_maps
from fedtheory.engine.joint.backward import BackwardMaps, build_backward_maps, build_model_rows, iterate_model_moments
from fedtheory.engine.joint.client_classes import group_clients
from fedtheory.engine.joint.layout import layout_of
from fedtheory.engine.joint.limit_of_moments import find_limit
from fedtheory.engine.joint.local import LocalStage
from fedtheory.engine.joint.moments import ClientVectors, Joint
from fedtheory.engine.joint.parameters import RoundParameters
from fedtheory.engine.joint.round import RoundCompiler
from fedtheory.engine.joint.transition import Population, Transition
from fedtheory.engine.memo import Memo
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.server import describe_growth
from fedtheory.engine.moments.trajectory import Trajectory
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.clock import Update
from fedtheory.federation.participation_moments import compute_participation_moments, compute_report_moments
from fedtheory.federation.problem import Problem
from fedtheory.kernel.expressions import Average, Expr

_OVERFLOW = 1e290
_MOST_ENTRIES = 6 * 10**7
"""Limit on the entries of the second moments between all clients' vectors."""
_STEP_OR_MAP = "the step size is too large, or the updates grow at any step size"
_MOST_EIGENVALUES = 400
"""Size of a mean round map up to which its spectral radius is computed."""
_STABILITY_SLACK = 1e-6
_MOST_KNOWN = 4
"""Number of rounds (with their step sizes and participants) whose matrices are cached."""
_SMALL_MAP = 2**12
"""Matrix size at which one block of rounds is cached; smaller matrices allow proportionally more."""


class JointTrajectory(Trajectory):
    """Second moments of an algorithm's model over n = 0 .. T, and quantities that follow; computed on demand."""

    def __init__(self, problem: Problem, algorithm: Algorithm) -> None:
        self.problem = problem
        self.algorithm = algorithm
        problem.centred.oracle.prepare(algorithm.rounds * max(algorithm.work.steps))
        self.parameters = RoundParameters(problem, algorithm, group_clients(problem, algorithm))
        self.definition = self.parameters.definition
        self.layout = layout_of(self.definition, problem.dimension)
        self._compiler = RoundCompiler(self.parameters, self.layout)
        size = self.layout.shared + len(self.parameters.kinds.counts) * self.layout.own
        # Smaller matrices are kept for more rounds, as each quantity reads all of them.
        self._transitions = Memo(_MOST_KNOWN * max(1, _SMALL_MAP // size**2))

    @classmethod
    def compute_together(cls, settings: Sequence[tuple[Problem, Algorithm]]) -> Iterator[JointTrajectory]:
        """Yield the trajectories of several runs in the order of the settings.

        Runs of equal shape share a computation.
        """
        by_shape: dict[Hashable, list[JointTrajectory]] = {}
        with np.errstate(over="ignore", invalid="ignore"):
            found = [cls(*setting) for setting in settings]
            for one in found:
                shape = one.algorithm.rounds, None if one.alike is None else one.alike.shape
                by_shape.setdefault(shape, []).append(one)
            for group in by_shape.values():
                if alike := [one.alike for one in group if one.alike is not None]:
                    moments = iterate_model_moments(BackwardMaps.stacked(alike), group[0].algorithm.rounds)
                    for one, own in zip(group, np.stack(list(moments), axis=1), strict=True):
                        one.moments = _keep_fitting((_find_largest(moment), moment) for moment in own)
        yield from found

    @cached_property
    def group(self) -> Population:
        """The clients and their participation moments, in the first round."""
        return self._group(self._find_update(0))

    def _find_update(self, n: int) -> Update | None:
        """Update n of the clock; None if the server waits for all participants."""
        return None if self.algorithm.clock.is_synchronous else self.algorithm.schedule.updates[n]

    def _group(self, update: Update | None) -> Population:
        """Return the kinds of clients with the moments of their weights in the update."""
        kinds, aggregation = self.parameters.kinds, self.algorithm.aggregation
        weights = aggregation.weights(self.problem.weights)
        if update is None:
            law = compute_participation_moments(aggregation.participation, weights)
        else:
            law = compute_report_moments(self.algorithm.expected_weights(update, self.problem.weights), update.reports)
        assert self.algorithm.defined is not None
        counts = arithmetic_of(weights).array(kinds.counts)
        return Population(counts, law.select_clients(kinds.representatives), self.algorithm.defined.mixing)

    def transitions(self, n: int) -> list[tuple[Number, Transition]]:
        """Return round n for each outcome of the coins, with its probability."""
        changes, update = not self.algorithm.has_one_size_a_step, self._find_update(n)
        key = (n if changes else 0, None if update is None else update.work)

        def compile_outcomes() -> list[tuple[Number, Transition]]:
            """Compile the round for each outcome."""
            group = self._group(update)
            return [
                (chance, Transition(self._compiler.maps(n, coins), group, self.layout.shared))
                for chance, coins in self._iterate_outcomes()
            ]

        return self._transitions.compute_once(key, compile_outcomes)

    def _iterate_outcomes(self) -> Iterator[tuple[Number, dict[Expr, int]]]:
        """Yield every possible outcome of the coins, with its probability."""
        assert self.algorithm.defined is not None
        one, values = self.problem.arithmetic.number(1, "one"), self.algorithm.defined.values
        for sides in itertools.product((1, 0), repeat=len(self.definition.coins)):
            chance = one
            for side, probability in zip(sides, self.definition.coins.values(), strict=True):
                heads = self.parameters.value(probability, values)
                chance = chance * (heads if side else 1 - heads)
            if chance != 0:
                yield chance, dict(zip(self.definition.coins, sides, strict=True))

    def _iterate_moments(self) -> Iterator[tuple[float, Array]]:
        """Yield the largest number, and E (1, x^n - x*)(1, x^n - x*)', n = 0 .. T."""
        if self.alike is not None:
            yield from (
                (_find_largest(moment), moment) for moment in iterate_model_moments(self.alike, self.algorithm.rounds)
            )
            return
        for joint in self._iterate_joints():
            moment = self._measure_model(joint)
            yield max(joint.largest(), _find_largest(moment)) if moment.dtype != object else 0.0, moment

    @cached_property
    def moments(self) -> Array:
        """E[(1, x - x*)(1, x - x*)'], (T+1, d+1, d+1), or as far as they fit into the arithmetic."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _keep_fitting(self._iterate_moments())

    @cached_property
    def divergence(self) -> Divergence | None:
        with np.errstate(over="ignore", invalid="ignore"):
            completed, radius = len(self.moments), self.spectral_radius
            overflow = completed if completed <= self.algorithm.rounds else None
            if radius > 1 + _STABILITY_SLACK:
                cause = self._cause_of_divergence if not self.problem.is_bounded_below else _STEP_OR_MAP
                return Divergence(overflow, f"{describe_growth(radius)}: {cause}")
            return self.growing() if overflow is None else Divergence(overflow, "the numbers leave double precision")

    @cached_property
    def alike(self) -> BackwardMaps | None:
        """The maps shared by all rounds, if only gradients are random and their noise does not depend on the model."""
        if (
            not self.algorithm.rounds_are_alike
            or self.definition.coins
            or not self.group.participation_moments.is_fixed
        ):
            return None
        transition = self.transitions(0)[0][1]
        noise, model = transition.steady_covariance, build_model_rows(*self._model_maps, self.parameters.shares)
        return None if noise is None else build_backward_maps(transition, noise, self._begin(), model)

    def _iterate_joints(self) -> Iterator[Joint]:
        """Yield the moments of all vectors at the start of every round, and after the last."""
        entries = (len(self.parameters.kinds.counts) * self.layout.own) ** 2
        if entries > _MOST_ENTRIES:
            expected = f"expected clients' vectors with at most {_MOST_ENTRIES} second moments between them"
            raise InputError("algorithm.name", f"{expected}, got {entries}: use fewer clients or dimensions")
        joint = self._start()
        for n in range(self.algorithm.rounds):
            yield joint
            joint = self._advance_joint(n, joint)
        yield joint

    def _list_joints(self) -> Iterator[Joint]:
        """Yield the moments at the start of every round, as long as they fit into the arithmetic."""
        with np.errstate(over="ignore", invalid="ignore"):
            yield from itertools.islice(self._iterate_joints(), len(self.moments))

    def _advance_joint(self, n: int, joint: Joint) -> Joint:
        """Return the joint moment after round n."""
        parts = (transition.apply(joint).scale(chance) for chance, transition in self.transitions(n))
        return reduce(Joint.plus, parts).symmetric()

    def find_limiting_moment(self) -> Array:
        """Return lim E (1, x^n - x*)(1, x^n - x*)', (d+1, d+1), for infinitely many rounds like the first."""
        return self._measure_model(find_limit(self._start(), lambda joint: self._advance_joint(0, joint)))

    def propagate_round(self, shared: Array) -> Array:
        """Return E (1, s)(1, s)' after the first round, (a, a), if clients keep no vectors."""
        return self._advance_joint(0, self._join_no_clients(shared)).shared

    def _join_no_clients(self, shared: Array) -> Joint:
        """Return the joint moment of the server's vectors alone."""
        kinds, zeros = len(self.parameters.kinds.counts), self.problem.arithmetic.zeros
        return Joint(shared, zeros(kinds, 0, len(shared)), zeros(kinds, 0, kinds, 0), zeros(kinds, 0, 0))

    def _begin(self) -> tuple[Array, Array]:
        """Return (1, s), (a,), and c of one client of each class, (G, b), at the start."""
        arithmetic, kinds = self.problem.arithmetic, len(self.parameters.kinds.counts)
        point = self.problem.centred.start
        shared = [self._begin_at(begin) * point for begin in self.definition.server.values()]
        own = [self._begin_at(begin) * point for begin in self.definition.client.values()]
        clients = np.concatenate([arithmetic.zeros(0), *own])
        return np.concatenate([arithmetic.array([1]), *shared]), np.repeat(clients[None], kinds, axis=0)

    def _start(self) -> Joint:
        """Return the moments of the start of the server and of all clients, as defined."""
        first, clients = self._begin()
        kinds, rows = clients.shape
        return Joint(
            np.outer(first, first),
            clients[:, :, None] * first,
            np.multiply.outer(clients, clients),
            self.problem.arithmetic.zeros(kinds, rows, rows),
        )

    def _begin_at(self, begin: Expr) -> Number:
        """Return the multiple of x^0 that a vector starts at."""
        parts = self.layout.parts(begin, begin)
        return sum(
            (self.parameters.value(scale, {}) for scale in parts.values()), self.problem.arithmetic.number(0, "zero")
        )

    def _measure_model(self, joint: Joint) -> Array:
        """Return E (1, x - x*)(1, x - x*)' of the model that errors refer to, (d+1, d+1)."""
        return self._average_receivers(joint).moment

    def _average_receivers(self, joint: Joint) -> Averaged:
        """Return the model as an average of vectors that clients have."""
        shared, own = self._model_maps
        each = ClientVectors(np.broadcast_to(shared, (len(own), *shared.shape)), own)
        return Averaged(joint, self._totals, self.parameters.shares, each, shared)

    @cached_property
    def _totals(self) -> Array:
        """Sum of p_i over the clients of each class, (G,)."""
        totals: Array = self.group.counts * self.parameters.shares
        return totals

    @cached_property
    def _model_maps(self) -> tuple[Array, Array]:
        """The coefficients of (1, s), (d, a), and of each c_i, (G, d, b), in the model relative to the centre."""
        return find_model_maps(self.parameters, self.layout)

    @property
    def spectral_radius(self) -> float:
        """Return the spectral radius of the mean round map; zero if rounds differ or it is too large."""
        size = self.layout.shared + len(self.parameters.kinds.counts) * self.layout.own
        if size > _MOST_EIGENVALUES or not self.algorithm.rounds_are_alike:
            return 0.0
        linear = plain_floats(self._compute_mean_map())[1:, 1:]
        return float(np.abs(np.linalg.eigvals(linear)).max(initial=0.0)) if np.isfinite(linear).all() else np.inf

    def _compute_mean_map(self) -> Array:
        """Return the linear map of the expected state over one round."""
        parts = [chance * transition.mean_map() for chance, transition in self.transitions(0)]
        total: Array = sum(parts[1:], parts[0])
        return total

    def mean_round(self) -> tuple[Array, Array, Array]:
        """Return the maps of a round on expectations of (1, s) and one client's vectors; their start; the model.

        Raises `NotApplicable` if rounds differ.  The model is relative to the centre of the problem.
        """
        if not self.algorithm.has_one_size_a_step:
            raise NotApplicable("the step size changes from round to round")
        self.algorithm.require_synchronous("all rounds are alike")
        shared, clients = self._begin()
        model, own = self._model_maps
        totals = self._totals
        averaged = (totals[:, None, None] * own).transpose(1, 0, 2).reshape(len(model), clients.size)
        return (
            self._compute_mean_map(),
            np.concatenate([shared, clients.ravel()]),
            np.concatenate([model, averaged], axis=1),
        )

    # Distances of clients from their average: their models between rounds, and their iterates inside rounds.

    @cached_property
    def client_spread(self) -> Array:
        """E sum_i p_i |x_i^n - xbar^n|^2 of the models that clients keep between rounds, (T+1,)."""
        self._require_kept_models()
        return np.array([self._average_receivers(joint).spread for joint in self._list_joints()])

    @cached_property
    def final_client_spread(self) -> Number:
        """E sum_i p_i |x_i^T - xbar^T|^2 after the last round only, for half the work."""
        self._require_kept_models()
        (last,) = deque(self._list_joints(), maxlen=1)
        return self._average_receivers(last).spread

    def _require_kept_models(self) -> None:
        if not isinstance(self.definition.model, Average):
            raise NotApplicable(f"the clients of {self.definition.name} keep no models between rounds")

    @cached_property
    def recursion(self) -> Recursion:
        """The recursion of the update rule, which a definition does not have: raises an error."""
        raise self.algorithm.explain_definition("it is known for the update rule")

    def _measure_average_iterate(self, form: Array) -> Array:
        """Return the form in expectation at the local iterates, indexed by round and step."""
        return np.stack([[(form * second).sum() for second, _ in steps] for steps in self._local_moments])

    def local_second_moments(self, forms: Array) -> Array:
        """Return expectations of clients' forms in (1, x - x*) at the gradients' points of local steps, (T, K, M)."""
        self.algorithm.require_synchronous("the points of local gradients are computed in synchronous rounds")
        self._require_few_iterates()
        kinds = self.parameters.kinds
        each = forms[kinds.representatives]
        rounds = range(len(self.moments) - 1)
        found = [self._measure_gradients(n, joint, each) for n, joint in zip(rounds, self._list_joints(), strict=False)]
        return np.stack(found)[:, :, kinds.of_client]

    def largest_local_second_moment(self, forms: Array) -> Number:
        return largest(self.local_second_moments(forms))

    def _measure_gradients(self, n: int, joint: Joint, forms: Array) -> Array:
        """Return expectations of the forms in one round, for each class of clients, (K, G)."""
        known = joint.known()
        parts = [
            chance
            * np.stack([(forms * second).sum(axis=(-2, -1)) for second in one.maps.stage.gradient_moments(known)])
            for chance, one in self.transitions(n)
        ]
        total: Array = sum(parts[1:], parts[0])
        return total

    @cached_property
    def drift(self) -> Array:
        """E|y_i^{n,k} - ybar^{n,k}|^2 of the first local vector, (T, K+1, M)."""
        found = np.stack([[drifts for _, drifts in steps] for steps in self._local_moments])
        return found[:, :, self.parameters.kinds.of_client]

    mean_drift = Expectations.mean_drift

    @cached_property
    def _local_moments(self) -> list[list[tuple[Array, Array]]]:
        """Second moment of the averaged iterate, (d+1, d+1), and drift of each class, (G,), for each round and k.

        A client that has finished its steps keeps its last iterate.
        """
        self.algorithm.require_synchronous("local iterates of one round have an expectation")
        self._require_few_iterates()
        rounds = range(len(self.moments) - 1)
        return [list(self._follow_round(n, joint)) for n, joint in zip(rounds, self._list_joints(), strict=False)]

    def _require_few_iterates(self) -> None:
        each = self.problem.clients + (self.problem.dimension + 1) ** 2
        numbers = self.algorithm.rounds * (max(self.algorithm.work.steps) + 1) * each
        if numbers > _MOST_ENTRIES:
            kept = "numbers of local iterates (rounds x local steps x (clients + (dimension + 1)^2))"
            raise NotApplicable(f"expected at most {_MOST_ENTRIES} {kept}, got {numbers}: use fewer rounds or clients")

    def _follow_round(self, n: int, joint: Joint) -> Iterator[tuple[Array, Array]]:
        """Yield the second moments and deviations of the clients at each step of round n."""
        outcomes = self.transitions(n)
        found = (self._follow_iterates(transition.maps.stage, joint) for _, transition in outcomes)
        for step in zip(*found, strict=True):
            parts = [
                (chance * one.moment, chance * one.deviations) for (chance, _), one in zip(outcomes, step, strict=True)
            ]
            yield sum(second for second, _ in parts), sum(drifts for _, drifts in parts)

    def _follow_iterates(self, stage: LocalStage, joint: Joint) -> Iterator[Averaged]:
        """Yield the first local vector after k = 0 .. K steps."""
        d = self.problem.dimension
        for forms, noise in zip(stage.iterates, stage.noises(joint.known()), strict=True):
            each = ClientVectors.from_state(forms.state[:, :d], self.layout.shared)
            average = sum_with_weights(self._totals, each.shared)
            yield Averaged(joint, self._totals, self.parameters.shares, each, average, noise[:, :d, :d])


def _find_largest(moment: Array) -> float:
    """Return the largest modulus of an entry of a moment in floats; 0 in exact arithmetic, where every number fits."""
    return float(np.abs(moment).max()) if moment.dtype != object else 0.0


def _keep_fitting(found: Iterable[tuple[float, Array]]) -> Array:
    """Return the moments up to the first round whose largest number does not fit into the arithmetic."""
    fitting = itertools.takewhile(lambda pair: pair[1].dtype == object or pair[0] < _OVERFLOW, found)
    return np.stack([moment for _, moment in fitting])
