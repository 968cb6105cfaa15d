"""Several local steps of a run as one frame: an axis over them leads every vector and every scalar."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, cast

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames.base import Frame
from fedtheory.engine.frames.moment import MomentFrame, MomentSpace, MomentVector
from fedtheory.engine.frames.path import PathFrame, PathVector, PlainFrame
from fedtheory.engine.vectors import Vector
from fedtheory.errors import Misplaced


class StackedFrame(Frame):
    """Local steps (t, k), the `members`: what a step is made of is gathered from them, all else is made of that."""

    axes = ("place", "step", "client")

    def __init__(self, members: Sequence[Frame]) -> None:
        Frame.__init__(self, members[0].run, {})
        self.members = members
        self._rounds = np.array([member.index["round"] for member in members])
        self._steps = np.array([member.index["step"] for member in members])

    def built(self, build: Callable[[Frame], Vector]) -> Vector:
        if build not in self.known:
            self.known[build] = self._made(build)
        return cast(Vector, self.known[build])

    def _made(self, build: Callable[[Frame], Vector]) -> Vector:
        try:
            return build(self)
        except Misplaced:
            # What depends on the number of the step.
            return self._stacked([build(member) for member in self.members])

    def cut(self, value: Array) -> Array:
        rounds, steps, _ = value.shape
        if rounds == steps == 1:
            return value
        cut: Array = value[self._rounds if rounds > 1 else 0, self._steps if steps > 1 else 0]
        return cut[:, None]

    def of_round(self, values: Array) -> Array:
        chosen: Array = values[self._rounds]
        return chosen

    @abstractmethod
    def _stacked(self, vectors: Sequence[Any]) -> Vector:
        """The vectors of the members as one."""

    @cached_property
    def local(self) -> Vector:
        return self._stacked([member.local for member in self.members])

    @cached_property
    def noise(self) -> Vector:
        return self._stacked([member.noise for member in self.members])

    @cached_property
    def average(self) -> Vector:
        return self._stacked([member.average for member in self.members])

    @cached_property
    def server(self) -> Vector:
        return self._stacked([member.server for member in self.members])

    @cached_property
    def received(self) -> Vector:
        return self._stacked([member.received for member in self.members])


class StackedPaths(StackedFrame, PlainFrame):
    """Steps of a sampled path: vectors (places, 1, 1 or M, d)."""

    def __init__(self, members: Sequence[PathFrame]) -> None:
        super().__init__(members)
        self._weights = np.stack([member.weights for member in members])[:, None, :, None]

    def _stacked(self, vectors: Sequence[PathVector]) -> PathVector:
        return PathVector(np.stack([vector.values for vector in vectors])[:, None])

    def selected(self, vector: Vector) -> PathVector:
        assert isinstance(vector, PathVector)
        return PathVector((self._weights * vector.values).sum(axis=-2, keepdims=True))


class StackedMoments(StackedFrame, MomentSpace):
    """Local steps in expectation, with equally many live models."""

    def __init__(self, members: Sequence[MomentFrame]) -> None:
        super().__init__(members)
        self.joint = np.stack([member.joint for member in members])[:, None]
        self.covariances = np.stack([member.covariances for member in members])
        self._weights = np.stack([member.weights[0] for member in members])
        self._members = members

    @cached_property
    def local(self) -> MomentVector:
        return MomentVector(np.stack([one.local_maps for one in self._members]), own=self._members[0].own_noise(0))

    @property
    def noise(self) -> MomentVector:
        return self._members[0].noise

    @cached_property
    def average(self) -> MomentVector:
        shared = self.local.averaged(self.run.problem.weights).shared
        return MomentVector(np.stack([one.average_maps for one in self._members]), shared=shared)

    def _stacked(self, vectors: Sequence[MomentVector]) -> MomentVector:
        base, own, shared = zip(*((v.base, v.own, v.shared) for v in vectors), strict=True)
        return MomentVector(np.stack(base), _noise_as_one(own), _noise_as_one(shared))

    def constant(self, vectors: Array) -> MomentVector:
        # A point of each place has an axis of steps, which vectors in expectation have not.
        return super().constant(vectors[:, 0] if vectors.ndim == 4 else vectors)

    def selected(self, vector: Vector) -> MomentVector:
        assert isinstance(vector, MomentVector)
        return vector.averaged(self._weights)


def _noise_as_one(noises: Sequence[Array | None]) -> Array | None:
    found = [noise for noise in noises if noise is not None]
    assert len(found) in (0, len(noises)), "a vector has the same noises at all places"
    return np.stack(found) if found else None


def stacks_of(frames: Sequence[Frame], times: int) -> tuple[Frame, ...]:
    """The same places in fewer frames, in the same order, each so many times; rounds of random weights stay single."""
    stacks: list[Frame] = []
    for (kind, alike), grouped in groupby(frames, lambda frame: (type(frame), frame.alike)):
        places = tuple(grouped)
        members = tuple(place for place in places for _ in range(times))
        stacks += places if alike is None or len(members) == 1 else [_KINDS[kind](members)]
    return tuple(stacks)


_KINDS: dict[type[Frame], Callable[[Any], StackedFrame]] = {PathFrame: StackedPaths, MomentFrame: StackedMoments}
