"""Local steps in expectation: a vector is an affine map of the round's base model and the noises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.frames.base import Frame, Index, Vector, common_steps
from fedtheory.moments.local import LocalStep, unroll
from fedtheory.problem.quadratic import weighted_sum
from fedtheory.run import Run


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
        each = factor.reshape(-1)
        return MomentVector(each[:, None, None] * self.base, each[:, None, None, None] * self.noise)

    def mapped(self, matrices: Array) -> MomentVector:
        return MomentVector(matrices @ self.base, matrices[:, None] @ self.noise)

    def averaged(self, weights: Array) -> MomentVector:
        clients = len(weights)
        base = np.broadcast_to(self.base, (clients, *self.base.shape[1:]))
        noise = np.broadcast_to(self.noise, (clients, *self.noise.shape[1:]))
        return MomentVector(weighted_sum(weights, base)[None], weighted_sum(weights, noise)[None])


class MomentFrame(Frame):
    """Step (t, k), averaged over the past; the average uses the engine's averaged maps, not the clients' one by one."""

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
