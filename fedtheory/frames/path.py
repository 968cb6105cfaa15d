"""Local steps on one sampled path, and free points: vectors are plain vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import NotApplicable
from fedtheory.frames.base import Frame, Index, Vector, common_steps
from fedtheory.problem.quadratic import weighted_sum
from fedtheory.run import Run


@dataclass(frozen=True, eq=False)
class PathVector(Vector):
    """Plain vectors (..., 1 or M, d)."""

    values: Array

    def __add__(self, other: Vector) -> PathVector:
        assert isinstance(other, PathVector)
        return PathVector(self.values + other.values)

    def scaled(self, factor: Array) -> PathVector:
        return PathVector(factor[..., None] * self.values)

    def mapped(self, matrices: Array) -> PathVector:
        return PathVector((matrices @ self.values[..., None])[..., 0])

    def averaged(self, weights: Array) -> PathVector:
        return PathVector((weights[:, None] * self.values).sum(axis=-2, keepdims=True))


class PlainFrame(Frame):
    """A frame whose vectors are plain."""

    def constant(self, vectors: Array) -> PathVector:
        return PathVector(vectors)

    def inner(self, left: Vector, right: Vector) -> Array:
        assert isinstance(left, PathVector)
        assert isinstance(right, PathVector)
        products: Array = (left.values * right.values).sum(axis=-1)
        return products

    @property
    def average(self) -> Vector:
        return self.local.averaged(self.run.problem.weights)


class PathFrame(PlainFrame):
    """Step (t, k) of one sampled path."""

    def __init__(self, run: Run, index: Index, base: Array, local: Array, noise: Array) -> None:
        super().__init__(run, index)
        self._base, self._local, self._noise = base, local, noise

    @property
    def local(self) -> PathVector:
        return PathVector(self._local)

    @property
    def noise(self) -> PathVector:
        return PathVector(self._noise)

    @property
    def server(self) -> PathVector:
        return PathVector(self._base[None])


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
