"""Frames of one round from a given server model, over all its random outcomes: participants and noise samples.

Conditional expectations given the server's model are finite sums here, so that every
expression has one.  Vectors are plain arrays with the axes (outcomes, local steps,
clients, d).  The noise of a local step is one sample of the oracle; the same sample
also gives the stochastic gradient at the round's model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from fedtheory.arithmetic import Array, group_equal_rows
from fedtheory.engine.frames.base import UNEQUAL_STEPS, Frame, Index, average_outcomes
from fedtheory.engine.frames.path import PathVector, PlainFrame
from fedtheory.engine.frames.probes import list_probe_points
from fedtheory.engine.objectives import QuadraticObjectives
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import Vector
from fedtheory.errors import Misplaced, NotApplicable
from fedtheory.federation.oracles.base import Draws
from fedtheory.federation.problem import Problem

MOST_OUTCOMES = 600
_TOO_MANY = "expected at most {} outcomes of a round, got {}: use fewer clients, local steps or noise samples"


@dataclass(frozen=True, eq=False)
class ClientRound:
    """All outcomes of one client in a round from each of P models: n sequences of K_i samples."""

    probabilities: Array
    """Probability of each sequence, (n,)."""
    iterates: Array
    """x_i^{(t,k)}, (P, n, K_i + 1, d)."""
    gradients: Array
    """g_i at x_i^{(t,k)}, (P, n, K_i, d)."""
    at_server: Array
    """g_i at the round's model with the same samples, (P, n, K_i, d)."""


def _follow_clients(run: Run, clients: Sequence[int], bases: Array) -> list[ClientRound]:
    """Simulate each of some clients from models (P, d).

    Clients without noise and with equally many steps go together.
    """
    steps = run.algorithm.work.steps
    found: dict[int, ClientRound] = {}
    quiet: dict[int, list[int]] = {}
    for client in clients:
        if _list_draws(run.problem, client).are_quiet:
            quiet.setdefault(steps[client], []).append(client)
        else:
            found[client] = _follow_noisy(run, client, bases)
    for alike in quiet.values():
        found |= zip(alike, _follow_quiet(run, alike, bases), strict=True)
    return [found[client] for client in clients]


def _follow_quiet(run: Run, clients: Sequence[int], bases: Array) -> Iterator[ClientRound]:
    """Simulate clients with equally many steps and without noise: each has one sequence of samples."""
    work, certain = run.algorithm.work, run.arithmetic.identity(1)[0]
    steps, sizes = work.steps[clients[0]], work.step_sizes[list(clients), None]
    models, dimension = bases.shape
    iterates = np.empty((steps + 1, models, len(clients), dimension), dtype=bases.dtype)
    gradients = np.empty((steps, models, len(clients), dimension), dtype=bases.dtype)
    iterates[0] = bases[:, None]
    for k in range(steps):
        gradients[k] = run.client_objectives.gradients(clients, iterates[k])
        iterates[k + 1] = iterates[k] - sizes * gradients[k]
    for number in range(len(clients)):
        visited, seen = (each[:, :, number].swapaxes(0, 1)[:, None] for each in (iterates, gradients))
        yield ClientRound(certain, visited, seen, np.broadcast_to(seen[:, :, :1], (models, 1, steps, dimension)))


def _follow_noisy(run: Run, client: int, bases: Array) -> ClientRound:
    """Simulate one client from models (P, d)."""
    work, draws = run.algorithm.work, _list_draws(run.problem, client)
    models, steps = len(bases), work.steps[client]
    one = run.arithmetic.identity(1)[0]

    def gradient(points: Array) -> Array:
        """Compute the gradients at points (P, n, d) for each sample: (P, n * samples, d)."""
        full = run.client_objectives.gradients([client], points[..., None, :])
        homogeneous = np.concatenate([np.broadcast_to(one, (*points.shape[:-1], 1)), points], axis=-1)
        noise = (draws.maps @ homogeneous[..., None, :, None])[..., 0]
        return np.asarray(full + noise).reshape(models, -1, bases.shape[1])

    # The samples are the same in each step, and at each iterate.
    once = gradient(bases[:, None])
    iterates, gradients, at_server = [bases[:, None]], list[Array](), list[Array]()
    probabilities = one
    for _ in range(steps):
        newest = iterates[-1]
        gradients.append(gradient(newest))
        at_server.append(np.tile(once, (1, newest.shape[1], 1)))
        moved = np.repeat(newest, len(draws.probabilities), axis=1)
        iterates.append(moved - work.step_sizes[client] * gradients[-1])
        probabilities = (probabilities[:, None] * draws.probabilities).ravel()
    histories = (_join(each, len(probabilities), bases) for each in (iterates, gradients, at_server))
    return ClientRound(probabilities, *histories)


def _join(history: Sequence[Array], sequences: int, like: Array) -> Array:
    """Arrange vectors (P, n_k, d) after step k and its n_k sequences of samples as (P, sequences, steps, d)."""
    models, dimension = like.shape
    joined = np.empty((models, sequences, len(history), dimension), dtype=like.dtype)
    for step, vectors in enumerate(history):
        following = sequences // vectors.shape[1]
        joined[:, :, step] = vectors if following == 1 else np.repeat(vectors, following, axis=1)
    return joined


@lru_cache(maxsize=64)
def _list_draws(problem: Problem, client: int) -> Draws:
    """Return the outcomes of one call of a client's oracle, cached, in coordinates relative to x*."""
    like = problem.arithmetic.zeros(problem.clients, problem.dimension)
    return problem.centred.oracle.draws(client, like)


class _Rounds:
    """A round from each of some models (P, d), relative to x*: outcomes, and the vectors in each."""

    def __init__(self, run: Run, bases: Array) -> None:
        _require_few(run)
        run.algorithm.require_synchronous(
            "statements about one round are evaluated from one model that all clients start from"
        )
        self.run, self.bases = run, bases
        aggregation = run.algorithm.aggregation
        law, weights = aggregation.participation.outcomes(aggregation.weights(run.problem.weights))
        # A statement about all outcomes says nothing about impossible ones, such as an empty round where q = 1.
        law, self.weights = law[law != 0], weights[law != 0]
        first, kinds = _group_clients(run)
        alike = _follow_clients(run, first, bases)
        self.clients = [alike[kind] for kind in kinds]
        laws = [law, *(client.probabilities for client in self.clients)]
        self.chosen = np.array(list(product(*(range(len(law)) for law in laws)))).T
        """Indices of the participants and of each client's sequence in an outcome, (1 + M, outcomes)."""
        self.probabilities = np.prod([law[n] for law, n in zip(laws, self.chosen, strict=True)], axis=0)
        self.are_quiet = all(len(client.probabilities) == 1 for client in self.clients)
        """Whether each client has one sequence of draws."""


def _group_clients(run: Run) -> tuple[list[int], list[int]]:
    """Return the first client of each class of equal clients, and the class of each client."""
    objectives, work, clients = run.client_objectives, run.algorithm.work, range(run.problem.clients)
    if not isinstance(objectives, QuadraticObjectives):
        return list(clients), list(clients)
    noisy = np.array([0 if _list_draws(run.problem, client).are_quiet else 1 + client for client in clients])
    return group_equal_rows(objectives.hessians, objectives.linear, work.step_sizes, np.array(work.steps), noisy)


class RoundFrame(PlainFrame):
    """A round from one model, in coordinates relative to x*; see the module."""

    axes: tuple[str, ...] = ("outcome", "step", "client")
    leading = 0
    """Number of axes before that of the outcomes."""

    def __init__(self, index: Index, rounds: _Rounds, place: int) -> None:
        super().__init__(rounds.run, index)
        self._rounds, self._place = rounds, place
        self.probabilities = rounds.probabilities
        """Probabilities of the outcomes, (outcomes,)."""
        steps = np.array(self.run.algorithm.work.steps)
        self.valid = np.arange(steps.max())[:, None] < steps

    @property
    def alike(self) -> Hashable:
        """Return the key of frames that can be stacked: number of outcomes, local steps, dimension."""
        outcomes = len(self.probabilities), self._rounds.are_quiet
        return *outcomes, self.run.algorithm.work.steps, self.run.problem.dimension

    @property
    def numbers(self) -> int:
        return len(self.probabilities) * max(self.run.algorithm.work.steps) * super().numbers

    def constant(self, vectors: Array) -> PathVector:
        return PathVector(vectors[None, None])

    def mean_of(self, vector: Vector) -> PathVector:
        assert isinstance(vector, PathVector)
        return PathVector(self.take_expectation(vector.values))

    def take_expectation(self, values: Array) -> Array:
        """Average scalars or vectors over outcomes, the first axis."""
        return average_outcomes(values, self.probabilities)

    def local_sum(self, values: Array) -> Array:
        """Sum scalars or vectors over each client's local steps, the second axis."""
        return np.asarray(self._mask_missing_steps(values).sum(axis=self.leading + 1, keepdims=True))

    def past_sum(self, values: Array) -> Array:
        """Sum over the local steps up to and including each one."""
        return np.asarray(self._mask_missing_steps(values).cumsum(axis=self.leading + 1))

    def _mask_missing_steps(self, values: Array) -> Array:
        """Set values to zero at steps that a client does not take."""
        assert self.valid is not None
        if self.valid.all() and values.shape[self.leading + 1] == len(self.valid):
            return values
        exists = self.valid.reshape(*self.valid.shape, *[1] * (values.ndim - self.leading - 3))
        nothing = values.ravel()[0] - values.ravel()[0]
        existing: Array = np.where(exists, values, nothing)
        return existing

    def _join_histories(self, select: Callable[[ClientRound], Array]) -> PathVector:
        """Combine histories (P, n_i, K_i, d) of each client into (outcomes, max K, M, d); missing steps are zero.

        If no client has noise, all outcomes share one history, and only the participants differ.
        """
        histories = [select(client)[self._place] for client in self._rounds.clients]
        chosen = self._rounds.chosen[1:, :1] if self._rounds.are_quiet else self._rounds.chosen[1:]
        steps = max(history.shape[1] for history in histories)
        joint = self.run.arithmetic.zeros(chosen.shape[1], steps, len(histories), self.run.problem.dimension)
        for client, (history, number) in enumerate(zip(histories, chosen, strict=True)):
            joint[:, : history.shape[1], client] = history[number]
        return PathVector(joint)

    @cached_property
    def selection(self) -> Array:
        """Weights w_i of the round, (outcomes, 1, M)."""
        return np.asarray(self._rounds.weights[self._rounds.chosen[0]][:, None, :])

    @cached_property
    def participates(self) -> Array:
        """One for participants, zero for others, (outcomes, 1, M)."""
        return self.arithmetic.array((self.selection != 0).astype(int))

    def aggregate(self, vector: Vector) -> PathVector:
        assert isinstance(vector, PathVector)
        self.require_shared(vector.values.shape[-3])
        return PathVector((self.selection[..., None] * vector.values).sum(axis=-2, keepdims=True))

    @cached_property
    def local(self) -> Vector:
        return self._join_histories(lambda client: client.iterates[:, :, :-1])

    @cached_property
    def next_local(self) -> PathVector:
        return self._join_histories(lambda client: client.iterates[:, :, 1:])

    @cached_property
    def result(self) -> PathVector:
        """x_i^{(t,K_i)}: the model of a client after its local steps."""
        return self._join_histories(lambda client: client.iterates[:, :, -1:])

    @cached_property
    def gradient(self) -> PathVector:
        return self._join_histories(lambda client: client.gradients)

    @cached_property
    def gradient_at_server(self) -> PathVector:
        """g_i at the round's model, with the sample of each local step."""
        return self._join_histories(lambda client: client.at_server)

    @cached_property
    def noise(self) -> Vector:
        true = self.client_objectives.gradient(self, self.local)
        return self.gradient + true.scale(-self.arithmetic.identity(1)[0])

    @property
    def average(self) -> Vector:
        self._require_common_steps()
        return super().average

    @cached_property
    def next_average(self) -> Vector:
        self._require_common_steps()
        return self.next_local.average(self.importances)

    def _require_common_steps(self) -> None:
        if self.valid is not None and not self.valid.all():
            raise NotApplicable(UNEQUAL_STEPS)

    @cached_property
    def server(self) -> Vector:
        return PathVector(self._rounds.bases[self._place, None, None, None])

    @cached_property
    def next_server(self) -> Vector:
        """The server's model after the round."""
        change = self.result + self.server.scale(-self.arithmetic.identity(1)[0])
        return self.server + self._apply_on_server(change)


def view_whole_round(frame: Frame | None) -> RoundFrame:
    """Return a frame as one of a whole round; raise `Misplaced` if it is another kind of frame, or None."""
    if not isinstance(frame, RoundFrame):
        raise Misplaced("participants, sums over local steps and vectors of a whole round need place='round'")
    return frame


def _require_few(run: Run) -> None:
    """Raise an error for rounds with too many outcomes before any is built."""
    participations = run.algorithm.aggregation.participation.possibilities(run.problem.clients)
    draws = [len(_list_draws(run.problem, client).probabilities) for client in range(run.problem.clients)]
    outcomes = participations * math.prod(count**k for count, k in zip(draws, run.algorithm.work.steps, strict=True))
    if outcomes > MOST_OUTCOMES:
        raise NotApplicable(_TOO_MANY.format(MOST_OUTCOMES, outcomes))


def iterate_round_frames(run: Run) -> Iterator[RoundFrame]:
    """Yield a round from each of the run's probe points."""
    run.require_vectors()
    points = list_probe_points(run)
    rounds = _Rounds(run, np.stack(list(points.values())))
    for place, name in enumerate(points):
        yield RoundFrame({"round from": name}, rounds, place)
