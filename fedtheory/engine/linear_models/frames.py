"""Frames of local steps of a run on linear models, as averages over its replicas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from fedtheory.engine.frames.base import Frame, Index, read_common_steps
from fedtheory.engine.frames.path import PathVector, SamplesFrame
from fedtheory.engine.linear_models.replicas import ReplicaRound
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import Vector


class ReplicasFrame(SamplesFrame):
    """A local step in all replicas."""

    def __init__(self, run: Run, index: Index, at: ReplicaRound, k: int) -> None:
        super().__init__(run, index)
        self._centred, self._round, self._k = run.problem.centred, at, k

    def aggregate(self, vector: Vector) -> Vector:
        """Return sum_i w_i v_i with the weights of each replica."""
        return vector.average(self._round.weights[:, None])

    @cached_property
    def local(self) -> PathVector:
        return PathVector(self._round.iterates[self._k][:, None])

    @cached_property
    def noise(self) -> PathVector:
        local = self._round.iterates[self._k]
        return PathVector((self._round.gradients[self._k] - self._centred.gradients(local))[:, None])

    @cached_property
    def server(self) -> PathVector:
        return PathVector(self._round.server[:, None, None])

    @cached_property
    def received(self) -> PathVector:
        return PathVector(self._round.bases[:, None])


def iterate_replica_frames(run: Run, rounds: Iterable[ReplicaRound]) -> Iterator[Frame]:
    """Yield every local step (t, k), k = 0 .. K-1."""
    steps = read_common_steps(run)
    for t, at in enumerate(rounds):
        for k in range(steps):
            yield ReplicasFrame(run, {"round": t, "step": k}, at, k)
