"""Local steps in expectation: a vector is an affine map of the live models and the noises."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
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


@dataclass(frozen=True, eq=False)
class MomentVector(Vector):
    """``base z + own_i e_i + sum_j shared_j e_j``: z the live models (1, x), e_j the noises of the step.

    There are two noises for each client: what its iterate carries, and its
    fresh gradient's.  `base` is (1 or M, d, V(d+1)), V the number of live
    models.  Vectors with the random weights of a round have a further axis in
    front of `base` and `shared`, over the outcomes of these weights; those of
    several places have one over the places.
    """

    base: Array
    own: Array | None = None
    """What each client's vector has of its own two noises, (M, 2, d, d)."""
    shared: Array | None = None
    """What vectors have of the noises of all clients, (1 or M, 2, M, d, d)."""

    def __add__(self, other: Vector) -> MomentVector:
        assert isinstance(other, MomentVector)
        return MomentVector(self.base + other.base, _total(self.own, other.own), _total(self.shared, other.shared))

    def scaled(self, factor: Array) -> MomentVector:
        each = factor.reshape(*factor.shape[:-2], -1, 1, 1)
        own, shared = each[..., None], each[..., None, None]
        return self._with(each * self.base, lambda noise: own * noise, lambda noise: shared * noise)

    def mapped(self, matrices: Array) -> MomentVector:
        matrices = matrices[:, 0] if matrices.ndim > 4 else matrices
        own, shared = matrices[..., None, :, :], matrices[..., None, None, :, :]
        return self._with(matrices @ self.base, lambda noise: own @ noise, lambda noise: shared @ noise)

    def _with(self, base: Array, own: Callable[[Array], Array], shared: Callable[[Array], Array]) -> MomentVector:
        return MomentVector(
            base,
            None if self.own is None else own(self.own),
            None if self.shared is None else shared(self.shared),
        )

    def averaged(self, weights: Array) -> MomentVector:
        weights = weights[:, 0] if weights.ndim > 2 else weights
        shared = None if self.shared is None else _mixed(weights, self.shared, -5)
        own = None if self.own is None else _by_kind(weights[..., None, None, None] * self.own)
        return MomentVector(_mixed(weights, self.base, -3), shared=_total(shared, own))

    def noise_with(self, other: MomentVector, covariances: Array) -> Array | None:
        """The part of expected inner products that is noise of covariances (M, 2, d, d); None where there is none."""
        found = _own_products(self.own, covariances, other.own)
        for own, shared in ((self.own, other.shared), (other.own, self.shared)):
            if own is not None and shared is not None:
                found = _total(found, _own_products(own, covariances, _seen_by_each(shared)))
        return _total(found, _shared_products(self.shared, _by_kind(covariances), other.shared))


def _total(left: Array | None, right: Array | None) -> Array | None:
    """Sum of what may be nothing."""
    if left is None or right is None:
        return right if left is None else left
    both: Array = left + right
    return both


def _by_kind(own: Array) -> Array:
    """What belongs to the noises of each client, (..., M, 2, d, d), as what all share, (..., 1, 2, M, d, d)."""
    return own.swapaxes(-4, -3)[..., None, :, :, :, :]


def _own_products(own: Array | None, covariances: Array, other: Array | None) -> Array | None:
    if own is None or other is None:
        return None
    return np.asarray(((own @ covariances) * other).sum(axis=(-3, -2, -1)))


def _shared_products(left: Array | None, covariances: Array, right: Array | None) -> Array | None:
    if left is None or right is None:
        return None
    return np.asarray(((left @ covariances) * right).sum(axis=(-4, -3, -2, -1)))


def _seen_by_each(shared: Array) -> Array:
    """What each client's vector has, through `shared`, of the client's own noises: (..., M, 2, d, d)."""
    if shared.shape[-5] == 1:
        return shared[..., 0, :, :, :, :].swapaxes(-3, -4)
    return np.moveaxis(np.diagonal(shared, axis1=-5, axis2=-3), -1, -4)


def _mixed(weights: Array, values: Array, axis: int) -> Array:
    """Weighted sum over the client axis of values, which keeps length one."""
    mixed: Array = (weights.reshape(*weights.shape, *[1] * (-axis - 1)) * values).sum(axis=axis, keepdims=True)
    return mixed


class MomentSpace(Frame):
    """A frame whose vectors are affine maps of the live models and the noises."""

    joint: Array
    """Joint second moment of the live models, (V(d+1), V(d+1)); of several places (places, 1, ...)."""
    covariances: Array
    """Of each client's two noises, (M, 2, d, d); of several places (places, ...)."""

    def constant(self, vectors: Array) -> MomentVector:
        base = self.arithmetic.zeros(*vectors.shape, self.joint.shape[-1])
        base[..., 0] = vectors
        return MomentVector(base)

    def inner(self, left: Vector, right: Vector) -> Array:
        assert isinstance(left, MomentVector)
        assert isinstance(right, MomentVector)
        carried = ((left.base @ self.joint) * right.base).sum(axis=(-2, -1))
        noise = left.noise_with(right, self.covariances)
        expected: Array = carried if noise is None else carried + noise
        # Outcomes of the weights, or places, lead, then local steps, then clients.
        return expected[:, None, :] if expected.ndim == 2 else expected


class MomentFrame(MomentSpace):
    """Step (t, k), averaged over the past; `bases` says which live model each client works on."""

    def __init__(self, run: Run, index: Index, state: _State, step: LocalStep) -> None:
        super().__init__(run, index)
        self._state, self._step = state, step
        self.joint = state.joint
        self.covariances = np.stack([step.covariances, step.fresh], axis=1)

    @property
    def weights(self) -> Array:
        """w_i(n), (outcomes, M)."""
        return self._state.weights

    @property
    def alike(self) -> Hashable:
        return (len(self.joint), *self.covariances.shape) if len(self.weights) == 1 else None

    @property
    def numbers(self) -> int:
        return 2 * super().numbers ** 2

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
        shared = [one.shared for one in mixed if one.shared is not None]
        return MomentVector(np.stack([one.base for one in mixed]), shared=np.stack(shared) if shared else None)

    @property
    def local_maps(self) -> Array:
        """From the live models to the clients' iterates, (M, d, V(d+1))."""
        return self._placed(self._step.maps[:, 1:, :])

    @property
    def average_maps(self) -> Array:
        """From the live models to the mean of the iterates, (1, d, V(d+1))."""
        if len(self.joint) > self.run.problem.dimension + 1:
            return _mixed(self.run.problem.weights, self.local_maps, -3)
        # The engine's averaged maps are used, not the clients' one by one.
        maps: Array = self.run.trajectory.recursion.average_maps[self._step.k][None, 1:, :]
        return maps

    @cached_property
    def local(self) -> MomentVector:
        return MomentVector(self.local_maps, own=self.own_noise(0))

    @cached_property
    def noise(self) -> MomentVector:
        nothing = self.run.arithmetic.zeros(self.run.problem.clients, self.run.problem.dimension, 1)
        return MomentVector(nothing + self.joint[:1] * 0, own=self.own_noise(1))

    @cached_property
    def average(self) -> MomentVector:
        return MomentVector(self.average_maps, shared=self.local.averaged(self.run.problem.weights).shared)

    @cached_property
    def server(self) -> MomentVector:
        base = self.run.arithmetic.zeros(1, self.run.problem.dimension, len(self.joint))
        base[0, :, self._state.newest] = self._identity
        return MomentVector(base)

    @cached_property
    def received(self) -> MomentVector:
        own = np.broadcast_to(self._identity, (self.run.problem.clients, *self._identity.shape))
        return MomentVector(self._placed(own))

    @property
    def _identity(self) -> Array:
        """From (1, x) to x, (d, d+1)."""
        return self.run.arithmetic.identity(self.run.problem.dimension + 1)[1:]

    def _placed(self, maps: Array) -> Array:
        """Maps of each client's own live model, (M, d, d+1), as maps of all of them."""
        if len(self.joint) == maps.shape[-1]:
            return maps
        placed = self.run.arithmetic.zeros(*maps.shape[:2], len(self.joint))
        for client, place in enumerate(self._state.bases):
            placed[client, :, place] = maps[client]
        return placed

    def own_noise(self, kind: int) -> Array:
        """Each client's own noise of a kind: 0 carried by its iterate, 1 of its fresh gradient."""
        size = self.run.problem.dimension
        own = self.run.arithmetic.zeros(self.run.problem.clients, 2, size, size)
        own[:, kind] = self.run.arithmetic.identity(size)
        return own


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
