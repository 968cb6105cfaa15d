"""Local steps as places where a proof's vectors have values.

A frame is one local step (t, k) of a run, seen in one of two ways: in
expectation (`MomentFrame`), where a vector is an affine map of the round's base
model and the noises, or on one sampled path (`PathFrame`), where it is a plain
vector.  Both give vectors a leading client axis of length 1 or M and answer
inner products, so one evaluator serves both.  Coordinates are centred at x*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import NotApplicable
from fedtheory.moments.local import LocalStep, unroll
from fedtheory.problem.quadratic import weighted_sum
from fedtheory.run import Run

Index = dict[str, int | str]


class Vector(ABC):
    """A vector for each client (or one for all), closed under linear combination and linear maps."""

    @abstractmethod
    def __add__(self, other: Vector) -> Vector: ...

    @abstractmethod
    def scaled(self, factor: Array) -> Vector:
        """Multiplied by a scalar for each client, (1,) or (M,)."""

    @abstractmethod
    def mapped(self, matrices: Array) -> Vector:
        """Multiplied by matrices (1 or M, d, d)."""

    @abstractmethod
    def averaged(self, weights: Array) -> Vector:
        """Weighted mean over clients, (M,) weights."""


class Frame(ABC):
    """One local step of a run; subclasses say what vectors are there."""

    def __init__(self, run: Run, index: Index) -> None:
        self.run = run
        self.index = index
        self.known: dict[object, Array] = {}
        """Results that claims about the same step share."""

    @abstractmethod
    def constant(self, vectors: Array) -> Vector:
        """Known vectors (1 or M, d)."""

    @abstractmethod
    def inner(self, left: Vector, right: Vector) -> Array:
        """(Expected) inner products, (1 or M,)."""

    @property
    @abstractmethod
    def local(self) -> Vector:
        """x_i^{(t,k)}."""

    @property
    @abstractmethod
    def noise(self) -> Vector:
        """g_i - grad F_i at x_i^{(t,k)}."""

    @property
    @abstractmethod
    def average(self) -> Vector:
        """The averaged iterate of step k."""

    @property
    @abstractmethod
    def server(self) -> Vector:
        """x^{(t)}, the model that the round starts from."""

    @cached_property
    def gradient(self) -> Vector:
        """g_i at x_i^{(t,k)}: the stochastic gradient."""
        centred = self.run.problem.centred
        return self.local.mapped(centred.hessians) + self.constant(-centred.linear) + self.noise

    @cached_property
    def next_local(self) -> Vector:
        """x_i^{(t,k+1)}."""
        return self.local + self.gradient.scaled(-self.run.algorithm.work.step_sizes)

    @cached_property
    def next_average(self) -> Vector:
        """The averaged iterate of step k + 1."""
        return self.next_local.averaged(self.run.problem.weights)


@dataclass(frozen=True, eq=False)
class PathVector(Vector):
    """Plain vectors (1 or M, d)."""

    values: Array

    def __add__(self, other: Vector) -> PathVector:
        assert isinstance(other, PathVector)
        return PathVector(self.values + other.values)

    def scaled(self, factor: Array) -> PathVector:
        return PathVector(factor[:, None] * self.values)

    def mapped(self, matrices: Array) -> PathVector:
        return PathVector((matrices @ self.values[..., None])[..., 0])

    def averaged(self, weights: Array) -> PathVector:
        return PathVector(
            weighted_sum(weights, np.broadcast_to(self.values, (len(weights), self.values.shape[-1])))[None]
        )


class PathFrame(Frame):
    """Step (t, k) of one sampled path."""

    def __init__(self, run: Run, index: Index, base: Array, local: Array, noise: Array) -> None:
        super().__init__(run, index)
        self._base, self._local, self._noise = base, local, noise

    def constant(self, vectors: Array) -> PathVector:
        return PathVector(vectors)

    def inner(self, left: Vector, right: Vector) -> Array:
        assert isinstance(left, PathVector)
        assert isinstance(right, PathVector)
        products: Array = (left.values * right.values).sum(axis=-1)
        return products

    @property
    def local(self) -> PathVector:
        return PathVector(self._local)

    @property
    def noise(self) -> PathVector:
        return PathVector(self._noise)

    @property
    def average(self) -> Vector:
        return self.local.averaged(self.run.problem.weights)

    @property
    def server(self) -> PathVector:
        return PathVector(self._base[None])


@dataclass(frozen=True, eq=False)
class MomentVector(Vector):
    """``base (1, z)' + sum_j noise_j e_j``: z the round's base model, e_j the 2M noises of the step.

    `base` is (1 or M, d, d+1); `noise` is (1 or M, 2M, d, d): first the noise
    that each client's iterate carries, then each client's fresh gradient noise.
    """

    base: Array
    noise: Array

    def __add__(self, other: Vector) -> MomentVector:
        assert isinstance(other, MomentVector)
        return MomentVector(self.base + other.base, self.noise + other.noise)

    def scaled(self, factor: Array) -> MomentVector:
        return MomentVector(factor[:, None, None] * self.base, factor[:, None, None, None] * self.noise)

    def mapped(self, matrices: Array) -> MomentVector:
        return MomentVector(matrices @ self.base, matrices[:, None] @ self.noise)

    def averaged(self, weights: Array) -> MomentVector:
        clients = len(weights)
        base = np.broadcast_to(self.base, (clients, *self.base.shape[1:]))
        noise = np.broadcast_to(self.noise, (clients, *self.noise.shape[1:]))
        return MomentVector(weighted_sum(weights, base)[None], weighted_sum(weights, noise)[None])


class MomentFrame(Frame):
    """Step (t, k) in expectation; the average uses the engine's averaged maps, not the clients' one by one."""

    def __init__(self, run: Run, index: Index, moment: Array, step: LocalStep) -> None:
        super().__init__(run, index)
        self._moment, self._step = moment, step
        self._covariances = np.concatenate([step.covariances, step.fresh])

    def constant(self, vectors: Array) -> MomentVector:
        base = self.run.arithmetic.zeros(*vectors.shape, vectors.shape[-1] + 1)
        base[..., 0] = vectors
        return MomentVector(base, self._no_noise(len(vectors)))

    def inner(self, left: Vector, right: Vector) -> Array:
        assert isinstance(left, MomentVector)
        assert isinstance(right, MomentVector)
        carried = ((left.base @ self._moment) * right.base).sum(axis=(1, 2))
        noisy: Array = ((left.noise @ self._covariances) * right.noise).sum(axis=(1, 2, 3))
        expected: Array = carried + noisy
        return expected

    @cached_property
    def local(self) -> MomentVector:
        return MomentVector(self._step.maps[:, 1:, :], self._own_noise(0))

    @cached_property
    def noise(self) -> MomentVector:
        nothing = self.run.arithmetic.zeros(*self._step.maps[:, 1:, :].shape)
        return MomentVector(nothing, self._own_noise(self.run.problem.clients))

    @cached_property
    def average(self) -> MomentVector:
        maps = self.run.trajectory.recursion.average_maps[self._step.k]
        noise = weighted_sum(self.run.problem.weights, self._own_noise(0))
        return MomentVector(maps[None, 1:, :], noise[None])

    @cached_property
    def server(self) -> MomentVector:
        size = self.run.problem.dimension
        return MomentVector(self.run.arithmetic.identity(size + 1)[None, 1:, :], self._no_noise(1))

    def _no_noise(self, leading: int) -> Array:
        size = self.run.problem.dimension
        return self.run.arithmetic.zeros(leading, len(self._covariances), size, size)

    def _own_noise(self, offset: int) -> Array:
        clients, size = self.run.problem.clients, self.run.problem.dimension
        blocks = self._no_noise(clients)
        blocks[np.arange(clients), offset + np.arange(clients)] = self.run.arithmetic.identity(size)
        return blocks


def moment_frames(run: Run) -> Iterator[Frame]:
    """Every local step (t, k), k = 0 .. K-1, in expectation."""
    steps = common_steps(run)
    trajectory = run.trajectory
    for t, moment in enumerate(trajectory.moments[:-1]):
        for local in unroll(trajectory.recursion.centred, run.algorithm.work, moment):
            if local.k < steps:
                yield MomentFrame(run, {"round": t, "step": local.k}, moment, local)


def path_frames(run: Run, seed: int = 0) -> Iterator[Frame]:
    """Every local step of one sampled path; the weights of a round must not be random."""
    steps = common_steps(run)
    weights = run.algorithm.aggregation.participation.moments(run.problem.weights)
    if not weights.is_fixed:
        raise NotApplicable("the participants are drawn at random: there is no single path of the server")
    generator = np.random.default_rng(seed)
    centred, work = run.problem.centred, run.algorithm.work
    base = centred.start
    for t in range(run.algorithm.rounds):
        local = np.tile(base, (run.problem.clients, 1))
        for k in range(steps):
            noise = np.stack([centred.oracle.outcome(i, x, generator) for i, x in enumerate(local)])
            yield PathFrame(run, {"round": t, "step": k}, base, local, noise)
            local = local - work.step_sizes[:, None] * (centred.gradients(local) + noise)
        change = weighted_sum(weights.mean, local - base)
        base = base + run.algorithm.aggregation.server_step_size * change


def point_frames(run: Run) -> Iterator[Frame]:
    """One frame without a step, for statements about free points only."""
    start = run.problem.centred.start
    nothing = run.arithmetic.zeros(run.problem.clients, run.problem.dimension)
    yield PathFrame(run, {}, start, nothing + start, nothing)


_BUILDERS: dict[str, Callable[[Run], Iterator[Frame]]] = {
    "step": moment_frames,
    "path": path_frames,
    "points": point_frames,
}
_KEPT_NUMBERS = 100_000
"""Size of a run's frames, in numbers for one vector at all steps, up to which they are kept for the next claim."""


def frames_at(place: str, run: Run) -> Iterable[Frame]:
    """The frames of a run for statements about local steps, sampled paths or free points."""
    steps = run.algorithm.rounds * max(run.algorithm.work.steps)
    numbers = steps * (run.problem.clients * run.problem.dimension) ** 2
    return _kept_frames(place, run) if numbers <= _KEPT_NUMBERS else _BUILDERS[place](run)


@lru_cache(maxsize=8)
def _kept_frames(place: str, run: Run) -> tuple[Frame, ...]:
    return tuple(_BUILDERS[place](run))


def probes(run: Run) -> dict[str, Array]:
    """Named points of the run, centred: where statements "for all x, y" are tried."""
    last = run.trajectory.server_mean[-1] - run.problem.optimum
    return {
        "start": run.problem.centred.start,
        "optimum": last - last,
        f"mean after round {run.algorithm.rounds}": last,
    }


def common_steps(run: Run) -> int:
    """tau; `NotApplicable` where clients take different numbers of local steps."""
    steps = run.algorithm.work.common_steps
    if steps is None:
        raise NotApplicable("the clients take different numbers of local steps")
    return steps
