"""Frames of local steps in expectation, as averages over the enumerated outcomes of a run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from fedtheory.engine.frames.base import Frame, Index, read_common_steps
from fedtheory.engine.frames.path import PathVector, SamplesFrame
from fedtheory.engine.losses.trajectory import OutcomeRound
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import Vector


class OutcomesFrame(SamplesFrame):
    """A local step in all outcomes of the noise."""

    def __init__(self, run: Run, index: Index, at: OutcomeRound, k: int) -> None:
        super().__init__(run, index)
        self._round, self._k = at, k
        self._outcomes = len(at.iterates[k]) * len(at.noises[k])

    def aggregate(self, vector: Vector) -> Vector:
        """Return sum_i w_i v_i; the weights of a round are not random here."""
        return vector.average(self.select_round(self.run.surrogate.weights))

    @cached_property
    def local(self) -> PathVector:
        local = self._round.iterates[self._k]
        return PathVector(np.repeat(local, self._outcomes // len(local), axis=0)[:, None])

    @cached_property
    def noise(self) -> PathVector:
        drawn = self._round.noises[self._k]
        return PathVector(np.tile(drawn, (self._outcomes // len(drawn), 1, 1))[:, None])

    @cached_property
    def server(self) -> PathVector:
        return PathVector(self._round.server_at(self._outcomes)[:, None, None])


def iterate_outcome_frames(run: Run, rounds: list[OutcomeRound]) -> Iterator[Frame]:
    """Yield every local step (t, k), k = 0 .. K-1."""
    for t, at in enumerate(rounds):
        for k in range(read_common_steps(run)):
            yield OutcomesFrame(run, {"round": t, "step": k}, at, k)
