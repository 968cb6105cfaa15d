"""Local steps in expectation: a vector is an affine map of the live models and the noises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, singledispatch

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames.base import Frame, Index, common_steps
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.local import LocalStep, unroll
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import Vector
from fedtheory.federation.clock import Update
from fedtheory.federation.problem.quadratic import weighted_sum


@dataclass(frozen=True, eq=False)
class MomentVector(Vector):
    """``base z + sum_j noise_j e_j``: z the live models (1, x), e_j the 2M noises of the step.

    `base` is (1 or M, d, V(d+1)), V the number of live models; `noise` is
    (1 or M, 2M, d, d): first the noise that each client's iterate carries, then
    each client's fresh gradient noise.  Vectors with the random weights of a
    round have a further axis in front, over the outcomes of these weights.
    """

    base: Array
    noise: Array

    def __add__(self, other: Vector) -> MomentVector:
        assert isinstance(other, MomentVector)
        return MomentVector(self.base + other.base, self.noise + other.noise)

    def scaled(self, factor: Array) -> MomentVector:
        each = factor.reshape(-1)
        return MomentVector(each[:, None, None] * self.base, each[:, None, None, None] * self.noise)

    def mapped(self, matrices: Array) -> MomentVector:
        return MomentVector(matrices @ self.base, matrices[:, None] @ self.noise)

    def averaged(self, weights: Array) -> MomentVector:
        return MomentVector(_mixed(weights, self.base, -3), _mixed(weights, self.noise, -4))


def _mixed(weights: Array, values: Array, axis: int) -> Array:
    """Weighted sum over the client axis of values, which keeps length one."""
    moved = np.moveaxis(values, axis, 0)
    spread = np.broadcast_to(moved, (len(weights), *moved.shape[1:]))
    return np.expand_dims(np.tensordot(weights, spread, axes=1), axis)


class MomentFrame(Frame):
    """Step (t, k), averaged over the past; `bases` says which live model each client works on."""

    def __init__(self, run: Run, index: Index, state: _State, step: LocalStep) -> None:
        super().__init__(run, index)
        self._state, self._step = state, step
        self._covariances = np.concatenate([step.covariances, step.fresh])

    def constant(self, vectors: Array) -> MomentVector:
        base = self.run.arithmetic.zeros(*vectors.shape, len(self._state.joint))
        base[..., 0] = vectors
        return MomentVector(base, self._no_noise(len(vectors)))

    def inner(self, left: Vector, right: Vector) -> Array:
        assert isinstance(left, MomentVector)
        assert isinstance(right, MomentVector)
        carried = ((left.base @ self._state.joint) * right.base).sum(axis=(-2, -1))
        noisy: Array = ((left.noise @ self._covariances) * right.noise).sum(axis=(-3, -2, -1))
        expected: Array = carried + noisy
        # Outcomes of the weights lead, then local steps, then clients.
        return expected[:, None, :] if expected.ndim == 2 else expected

    def expected(self, values: Array) -> Array:
        """Mean over the outcomes of the round's weights, where there are several."""
        if len(values) == 1:
            return values
        return np.asarray(np.tensordot(self._state.probabilities, values, axes=1)[None])

    def selected(self, vector: Vector) -> MomentVector:
        assert isinstance(vector, MomentVector)
        mixed = [vector.averaged(weights) for weights in self._state.weights]
        if len(mixed) == 1:
            return mixed[0]
        return MomentVector(np.stack([one.base for one in mixed]), np.stack([one.noise for one in mixed]))

    @cached_property
    def local(self) -> MomentVector:
        return MomentVector(self._placed(self._step.maps[:, 1:, :]), self._own_noise(0))

    @cached_property
    def noise(self) -> MomentVector:
        nothing = self.run.arithmetic.zeros(self.run.problem.clients, self.run.problem.dimension, 1)
        return MomentVector(nothing + self._state.joint[:1] * 0, self._own_noise(self.run.problem.clients))

    @cached_property
    def average(self) -> MomentVector:
        if len(self._state.joint) > self.run.problem.dimension + 1:
            return self.local.averaged(self.run.problem.weights)
        # The engine's averaged maps are used, not the clients' one by one.
        maps = self.run.trajectory.recursion.average_maps[self._step.k]
        noise = weighted_sum(self.run.problem.weights, self._own_noise(0))
        return MomentVector(maps[None, 1:, :], noise[None])

    @cached_property
    def server(self) -> MomentVector:
        base = self.run.arithmetic.zeros(1, self.run.problem.dimension, len(self._state.joint))
        base[0, :, self._state.newest] = self._identity
        return MomentVector(base, self._no_noise(1))

    @cached_property
    def received(self) -> MomentVector:
        own = np.broadcast_to(self._identity, (self.run.problem.clients, *self._identity.shape))
        return MomentVector(self._placed(own), self._no_noise(1))

    @property
    def _identity(self) -> Array:
        """From (1, x) to x, (d, d+1)."""
        return self.run.arithmetic.identity(self.run.problem.dimension + 1)[1:]

    def _placed(self, maps: Array) -> Array:
        """Maps of each client's own live model, (M, d, d+1), as maps of all of them."""
        if len(self._state.joint) == maps.shape[-1]:
            return maps
        placed = self.run.arithmetic.zeros(*maps.shape[:2], len(self._state.joint))
        for client, place in enumerate(self._state.bases):
            placed[client, :, place] = maps[client]
        return placed

    def _no_noise(self, leading: int) -> Array:
        size = self.run.problem.dimension
        return self.run.arithmetic.zeros(leading, len(self._covariances), size, size)

    def _own_noise(self, offset: int) -> Array:
        clients, size = self.run.problem.clients, self.run.problem.dimension
        blocks = self._no_noise(clients)
        blocks[np.arange(clients), offset + np.arange(clients)] = self.run.arithmetic.identity(size)
        return blocks


@dataclass(frozen=True, eq=False)
class _State:
    """What a round starts from."""

    joint: Array
    """Joint second moment of the live models, (V(d+1), V(d+1))."""
    newest: slice
    """Where the server's model is in it."""
    bases: list[slice]
    """Where the model is that each client works on."""
    probabilities: Array
    """Of the outcomes of the weights, (O,)."""
    weights: Array
    """w_i(n), (O, M)."""


def _state(run: Run, update: Update, live: LiveModels) -> _State:
    aggregation = run.algorithm.aggregation
    if run.algorithm.clock.is_synchronous and not aggregation.moments(run.problem.weights).is_fixed:
        probabilities, weights = aggregation.participation.outcomes(aggregation.weights(run.problem.weights))
    else:
        probabilities = run.arithmetic.identity(1)[0]
        weights = run.algorithm.expected_weights(update, run.problem.weights)[None]
    bases = [live.columns(live.newest - age) for age in update.staleness]
    return _State(live.joint, live.columns(live.newest), bases, probabilities, weights)


@singledispatch
def step_frames(run: Run) -> Iterator[Frame]:
    """Every local step in expectation, by what the run's expectations are made of: moments, for quadratics."""
    return moment_frames(run)


def moment_frames(run: Run) -> Iterator[Frame]:
    """Every local step (t, k), k = 0 .. K-1, in expectation."""
    steps = common_steps(run)
    centred, work = run.problem.centred, run.algorithm.work
    for t, (update, live) in enumerate(run.trajectory.rounds()):
        bases = live.moments([live.newest - age for age in update.staleness])
        state = _state(run, update, live)
        for local in unroll(centred, work, bases):
            if local.k < steps:
                yield MomentFrame(run, {"round": t, "step": local.k}, state, local)
