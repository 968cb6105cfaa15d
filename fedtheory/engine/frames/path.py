"""Frames of local steps on one sampled path, and of free points: vectors are plain arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array, sum_with_weights
from fedtheory.engine.frames.base import Frame, Index, read_common_steps
from fedtheory.engine.moments import is_deterministic
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import LinearMaps, Vector
from fedtheory.errors import Diverging, NotApplicable


@dataclass(frozen=True, eq=False)
class PathVector(Vector):
    """Plain vectors (..., 1 or M, d)."""

    values: Array

    def __add__(self, other: Vector) -> PathVector:
        if not isinstance(other, PathVector):
            return NotImplemented
        return PathVector(self.values + other.values)

    def scale(self, factor: Array) -> PathVector:
        return PathVector(factor[..., None] * self.values)

    def transform(self, maps: LinearMaps) -> PathVector:
        return PathVector((maps.matrices @ self.values[..., None])[..., 0])

    def average(self, weights: Array) -> PathVector:
        return PathVector((weights[..., None] * self.values).sum(axis=-2, keepdims=True))


def _sum_coordinates(values: Array) -> Array:
    """Sum over the last axis; NumPy takes ten times as long for an axis of length one or two."""
    if values.shape[-1] == 2:
        return np.asarray(values[..., 0] + values[..., 1])
    return np.asarray(values[..., 0] if values.shape[-1] == 1 else values.sum(axis=-1))


class PlainFrame(Frame):
    """A frame whose vectors are plain."""

    def constant(self, vectors: Array) -> PathVector:
        return PathVector(vectors)

    def inner(self, left: Vector, right: Vector) -> Array:
        assert isinstance(left, PathVector)
        assert isinstance(right, PathVector)
        products = left.values * right.values
        return self.average_outcomes(_sum_coordinates(products))

    def average_outcomes(self, values: Array) -> Array:
        """Return the scalars themselves: a path has one outcome."""
        return values

    def mean_of(self, vector: Vector) -> Vector:
        run = self.run
        return vector if is_deterministic(run.problem, run.algorithm) else super().mean_of(vector)

    @property
    def average(self) -> Vector:
        return self.local.average(self.importances)


class SamplesFrame(PlainFrame):
    """Step (t, k) of equally likely samples: vectors (samples, 1, clients, d), and averages of scalars over samples."""

    def constant(self, vectors: Array) -> PathVector:
        return PathVector(vectors[None, None])

    def average_outcomes(self, values: Array) -> Array:
        """Return averages over samples, (1, 1, 1 or M)."""
        return _average_samples(values)

    def mean_of(self, vector: Vector) -> PathVector:
        assert isinstance(vector, PathVector)
        return PathVector(_average_samples(vector.values))


def _average_samples(values: Array) -> Array:
    """Return averages over the first axis, which is kept with length one."""
    averages: Array = values.sum(axis=0) / len(values)
    return averages[None]


@dataclass(frozen=True, eq=False)
class _Path:
    """One local step of a path."""

    server: Array
    """theta^n, (d,)."""
    bases: Array
    """theta^{rho_i(n)}, (M, d)."""
    weights: Array
    """w_i(n), (M,)."""
    local: Array
    """(M, d)."""
    noise: Array
    """(M, d)."""


class PathFrame(PlainFrame):
    """Step (t, k) of one sampled path."""

    def __init__(self, run: Run, index: Index, path: _Path) -> None:
        super().__init__(run, index)
        self._path = path

    @property
    def alike(self) -> Hashable:
        """Return the key of frames that can be stacked: the shape of the local iterates."""
        return self._path.local.shape

    @property
    def weights(self) -> Array:
        """w_i(n), (M,)."""
        return self._path.weights

    @property
    def local(self) -> PathVector:
        return PathVector(self._path.local)

    @property
    def noise(self) -> PathVector:
        return PathVector(self._path.noise)

    @property
    def server(self) -> PathVector:
        return PathVector(self._path.server[None])

    @property
    def received(self) -> PathVector:
        return PathVector(self._path.bases)

    def aggregate(self, vector: Vector) -> PathVector:
        assert isinstance(vector, PathVector)
        return vector.average(self._path.weights)


_LARGEST = 1e145
"""Largest numbers whose squares fit into double precision, with a margin for constants."""


def iterate_path_frames(run: Run, seed: int = 0) -> Iterator[Frame]:
    """Yield every local step of one sampled path; the weights of a round must not be random."""
    run.require_vectors()
    steps = read_common_steps(run)
    law = run.algorithm.aggregation.moments(run.problem.weights)
    if run.algorithm.clock.is_synchronous and not law.is_fixed:
        raise NotApplicable(
            "the participants are sampled, so that a path is not unique: use place='step' or place='round'"
        )
    generator = np.random.default_rng(seed)
    clients = run.problem.clients
    server = run.problem.centred.start
    bases = np.tile(server, (clients, 1))
    local, noise = _begin_work(run, bases, list(range(clients)), generator)
    for t, update in enumerate(run.algorithm.updates()):
        weights = run.algorithm.expected_weights(update, run.problem.weights)
        for k in range(steps):
            yield PathFrame(run, {"round": t, "step": k}, _Path(server, bases, weights, local[k], noise[k]))
        change = sum_with_weights(weights, local[steps] - bases)
        server = server + run.algorithm.aggregation.server_step_size * change
        begin = list(update.receivers)
        bases = bases.copy()
        bases[begin] = server
        local, noise = local.copy(), noise.copy()
        local[:, begin], noise[:, begin] = _begin_work(run, bases, begin, generator)


# Overflow is detected and reported as divergence, without a warning for each operation.
@np.errstate(over="ignore", invalid="ignore")
def _begin_work(run: Run, bases: Array, begin: list[int], generator: np.random.Generator) -> tuple[Array, Array]:
    """Return iterates (K+1, C, d) and noises (K, C, d) of the clients that begin new work, step by step."""
    centred, sizes = run.problem.centred, run.algorithm.work.step_sizes[begin, None]
    iterates, noises = [bases[begin]], []
    for _ in range(read_common_steps(run)):
        drawn = [centred.oracle.outcome(i, x, generator) for i, x in zip(begin, iterates[-1], strict=True)]
        noises.append(np.stack(drawn) if drawn else iterates[-1])
        full = run.client_objectives.gradients(begin, iterates[-1])
        iterates.append(iterates[-1] - sizes * (full + noises[-1]))
    visited = np.stack(iterates)
    if visited.dtype != object and not (np.abs(visited) < _LARGEST).all():
        raise Diverging("the sampled path diverges: the squares of its iterates leave double precision")
    return visited, np.stack(noises)


def iterate_point_frames(run: Run) -> Iterator[Frame]:
    """Yield one frame without a step, for statements about free points only."""
    start = run.problem.centred.start
    nothing = run.arithmetic.zeros(run.problem.clients, run.problem.dimension)
    everywhere = nothing + start
    yield PathFrame(run, {}, _Path(start, everywhere, run.problem.weights, everywhere, nothing))
