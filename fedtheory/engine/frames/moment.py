"""Frames of local steps in expectation: a vector is an affine map of the live models plus noise."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, singledispatch
from weakref import WeakKeyDictionary

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames.base import Frame, Index, average_outcomes, read_common_steps
from fedtheory.engine.frames.noise import NO_NOISE, Covariances, NoiseCoefficients
from fedtheory.engine.frames.path import iterate_path_frames
from fedtheory.engine.moments import is_deterministic
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.local import LocalStep, LocalSteps
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import LinearMaps, Vector
from fedtheory.federation.clock import Update


@dataclass(frozen=True, eq=False)
class MomentVector(Vector):
    """``base z`` plus noise, with z the live models (1, x).

    `base` is (1 or M, d, V(d+1)), V the number of live models.  Vectors with
    the random weights of a round have a further axis in front of it, over the
    outcomes of these weights; those of several places have one over the places.
    """

    base: Array
    noise: NoiseCoefficients = NO_NOISE

    def __add__(self, other: Vector) -> MomentVector:
        if not isinstance(other, MomentVector):
            return NotImplemented
        return MomentVector(self.base + other.base, self.noise + other.noise)

    def scale(self, factor: Array) -> MomentVector:
        each = factor.reshape(*factor.shape[:-2], -1)
        return MomentVector(each[..., None, None] * self.base, self.noise.scale(each))

    def transform(self, maps: LinearMaps) -> MomentVector:
        maps = maps.at_one_step
        return MomentVector(maps.matrices @ self.base, self.noise.transform(maps))

    def average(self, weights: Array) -> MomentVector:
        weights = weights[..., 0, :] if weights.ndim > 2 else weights
        return MomentVector(_mix(weights, self.base), self.noise.average(weights))


def _mix(weights: Array, maps: Array) -> Array:
    """Return the weighted sum of maps (..., M, d, n) of the clients, (..., 1, d, n)."""
    mixed: Array = (weights[..., None, None] * maps).sum(axis=-3, keepdims=True)
    return mixed


class MomentSpace(Frame):
    """A frame whose vectors are affine maps of the live models plus noise."""

    joint: Array
    """Joint second moment of the live models, (V(d+1), V(d+1)); for several places (places, 1, ...)."""
    probabilities: Array
    """Probabilities of the outcomes of the weights, if the frame has an axis for them."""
    covariances: Array
    """Covariances of each client's two noises, (M, 2, d, d): in its iterate and its next gradient; for several places
    (places, ...)."""

    step_maps: Array
    """Maps from each client's model to its iterate, (..., M, d, d+1)."""
    columns: Array
    """Columns of the model that each client works on among those of all live models, (..., M, d+1)."""
    newest: Array
    """Columns of the server's model, (..., 1, d+1)."""

    @cached_property
    def local(self) -> MomentVector:
        return MomentVector(self._embed(self.step_maps, self.columns), self.own_noise(0))

    @cached_property
    def received(self) -> MomentVector:
        return self._select_models(self.columns)

    @cached_property
    def server(self) -> MomentVector:
        return self._select_models(self.newest)

    def own_noise(self, kind: int) -> NoiseCoefficients:
        """Return the noise of one kind of each client: 0 in its iterate, 1 in its next gradient."""
        return NoiseCoefficients({(kind, None): np.tile(self.arithmetic.identity(1)[0], self._run.problem.clients)})

    def _select_models(self, columns: Array) -> MomentVector:
        """Return the live models at columns (..., 1 or M, d+1)."""
        identity = self.arithmetic.identity(self.dimension + 1)[1:]
        return MomentVector(self._embed(np.broadcast_to(identity, (*columns.shape[:-1], *identity.shape)), columns))

    def _embed(self, maps: Array, columns: Array) -> Array:
        """Extend maps (..., 1 or M, d, d+1) of live models, at columns (..., 1 or M, d+1), to maps of all of them."""
        size = self.joint.shape[-1]
        if size == maps.shape[-1]:
            return maps
        placed = self.arithmetic.zeros(*maps.shape[:-1], size)
        np.put_along_axis(placed, columns[..., None, :], maps, axis=-1)
        return placed

    def constant(self, vectors: Array) -> MomentVector:
        base = self.arithmetic.zeros(*vectors.shape, self.joint.shape[-1])
        base[..., 0] = vectors
        return MomentVector(base)

    @cached_property
    def _with_models(self) -> WeakKeyDictionary[MomentVector, Array]:
        """Cached E v (1, x)' without the noise of a vector v, (1 or M, d, V(d+1))."""
        return WeakKeyDictionary()

    @cached_property
    def _noise_covariances(self) -> Covariances:
        """Return the covariances of the noise, for inner products."""
        return Covariances(self.covariances)

    def inner(self, left: Vector, right: Vector) -> Array:
        assert isinstance(left, MomentVector)
        assert isinstance(right, MomentVector)
        one, other = (right, left) if right in self._with_models else (left, right)
        if one not in self._with_models:
            self._with_models[one] = self._multiply_joint(one.base)
        carried = (self._with_models[one] * other.base).sum(axis=(-2, -1))
        noise = self._noise_covariances.inner(left.noise, right.noise)
        expected: Array = carried if noise is None else carried + noise
        # The axes are outcomes of the weights or places, then local steps, then clients.
        return expected[..., None, :] if expected.ndim > 1 else expected

    def _multiply_joint(self, base: Array) -> Array:
        """Return E v (1, x)' of vectors without noise; clients are rows of one product, which is faster than many."""
        *_, clients, dimension, size = base.shape
        rows = base.reshape(*base.shape[:-3], clients * dimension, size)
        found: Array = rows @ (self.joint[..., 0, :, :] if self.joint.ndim > 2 else self.joint)
        return found.reshape(*found.shape[:-2], clients, dimension, size)

    def mean_of(self, vector: Vector) -> MomentVector:
        assert isinstance(vector, MomentVector)
        # The noises have zero mean, and the live models begin with the number 1.
        base = vector.base
        if "outcome" in self.axes and base.ndim == len(self.axes) + 1:
            base = average_outcomes(base, self.probabilities)
        found = base @ self.joint[..., :1]
        return MomentVector(
            np.concatenate([found, np.broadcast_to(base * 0, (*found.shape[:-1], base.shape[-1]))[..., 1:]], axis=-1)
        )


class MomentFrame(MomentSpace):
    """Step (t, k), in expectation over the past; `bases` gives the live model that each client works on."""

    def __init__(self, run: Run, index: Index, state: _State, step: LocalStep) -> None:
        super().__init__(run, index)
        self._state, self.step = state, step
        self.probabilities = state.probabilities
        self.joint, self.columns, self.newest = state.joint, state.columns, state.newest
        self.step_maps = step.maps[:, 1:, :]
        if len(state.weights) > 1:
            self.axes = ("outcome", "step", "client")

    @cached_property
    def covariances(self) -> Array:  # type: ignore[override]
        return np.stack([self.step.covariances, self.step.fresh], axis=1)

    @property
    def weights(self) -> Array:
        """w_i(n), (outcomes, M)."""
        return self._state.weights

    @property
    def alike(self) -> Hashable:
        """Return the key of frames that can be stacked; None for a frame of several joint moments."""
        return len(self.weights), len(self.joint), *self.step.covariances.shape

    @property
    def numbers(self) -> int:
        return 2 * super().numbers ** 2

    def take_expectation(self, values: Array) -> Array:
        return average_outcomes(values, self.probabilities)

    def aggregate(self, vector: Vector) -> MomentVector:
        assert isinstance(vector, MomentVector)
        return vector.average(self.weights if len(self.weights) > 1 else self.weights[0])

    @property
    def average_maps(self) -> Array:
        """Map from the live models to the client average of the iterates, (1, d, V(d+1))."""
        if len(self.joint) > self.run.problem.dimension + 1:
            return _mix(self.run.problem.weights, self.local.base)
        # The engine's averaged maps are used, which cost less than one map per client.
        maps: Array = self.run.trajectory.recursion.average_maps[self.step.k][None, 1:, :]
        return maps

    @cached_property
    def noise(self) -> MomentVector:
        nothing = self.run.arithmetic.zeros(self.run.problem.clients, self.run.problem.dimension, 1)
        return MomentVector(nothing + self.joint[:1] * 0, self.own_noise(1))

    @cached_property
    def average(self) -> MomentVector:
        return MomentVector(self.average_maps, self.own_noise(0).average(self.run.problem.weights))


@dataclass(frozen=True, eq=False)
class _State:
    """State at the start of a round."""

    joint: Array
    """Joint second moment of the live models, (V(d+1), V(d+1))."""
    newest: Array
    """Columns of the server's model, (1, d+1)."""
    columns: Array
    """Columns of the model that each client works on, (M, d+1)."""
    probabilities: Array
    """Probabilities of the outcomes of the weights, (O,)."""
    weights: Array
    """w_i(n), (O, M)."""


def _collect_state(run: Run, update: Update, live: LiveModels) -> _State:
    """Return the moments, bases and weights of one update."""
    aggregation = run.algorithm.aggregation
    if run.algorithm.clock.is_synchronous and not aggregation.moments(run.problem.weights).is_fixed:
        probabilities, weights = aggregation.participation.outcomes(aggregation.weights(run.problem.weights))
    else:
        probabilities = run.arithmetic.identity(1)[0]
        weights = run.algorithm.expected_weights(update, run.problem.weights)[None]
    size = run.problem.dimension + 1
    newest, *columns = (live.columns(live.newest - age).start + np.arange(size) for age in (0, *update.staleness))
    return _State(live.joint, newest[None], np.stack(columns), probabilities, weights)


@singledispatch
def iterate_step_frames(run: Run) -> Iterator[Frame]:
    """Yield the frames of all local steps in expectation; for quadratics they are made of moments.

    If nothing is random, the only path of the run is its expectation.
    """
    return iterate_path_frames(run) if is_deterministic(run.problem, run.algorithm) else iterate_moment_frames(run)


def iterate_moment_frames(run: Run) -> Iterator[Frame]:
    """Yield a frame for every local step (t, k), k = 0 .. K-1, in expectation."""
    steps = read_common_steps(run)
    local_steps = LocalSteps(run.problem.centred, run.algorithm.work)
    for t, (update, live) in enumerate(run.trajectory.rounds()):
        bases = live.moments([live.newest - age for age in update.staleness])
        state = _collect_state(run, update, live)
        for local in local_steps.start_from(bases):
            if local.k < steps:
                yield MomentFrame(run, {"round": t, "step": local.k}, state, local)
