"""Stacks several places of one or several runs into one frame, with a leading axis on every vector and scalar."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, cast

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames.base import Frame, average_outcomes
from fedtheory.engine.frames.layout import PlaceLayout
from fedtheory.engine.frames.moment import MomentFrame, MomentSpace, MomentVector
from fedtheory.engine.frames.noise import stack_noises, stack_places
from fedtheory.engine.frames.outcomes import ClientRound, RoundFrame
from fedtheory.engine.frames.path import PathFrame, PathVector, PlainFrame
from fedtheory.engine.objectives import Objectives, QuadraticObjectives
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import Vector
from fedtheory.errors import Misplaced


class StackedFrame(Frame):
    """A stack of places, the `members`, whose arrays are gathered; all other vectors are computed from these.

    Places of a run are adjacent; all runs have the same arithmetic, dimension and number of clients.
    """

    axes: tuple[str, ...] = ("place", "step", "client")

    def __init__(self, members: Sequence[Frame]) -> None:
        Frame.__init__(self, members[0].run, {})
        self.members = members
        self.runs = tuple(dict.fromkeys(member.run for member in members))
        numbers = {run: number for number, run in enumerate(self.runs)}
        # Free points belong to no round, and rounds from given models to no round of the run.
        at = [(numbers[one.run], one.index.get("round", 0), one.index.get("step", 0)) for one in members]
        self.layout = PlaceLayout(*np.array(at).T)

    @property
    def run(self) -> Run:
        if len(self.runs) > 1:
            raise Misplaced("a value of a whole run is not available for a batch of runs")
        return self._run

    def select_of_run(self, select: Callable[[Run], Array]) -> Array:
        return self._expand_per_run([select(run) for run in self.runs])

    def _expand_per_run(self, values: Sequence[Array]) -> Array:
        """Repeat one entry per run for all of its places; a single run needs no such axis."""
        return values[0] if len(self.runs) == 1 else self.lead_axes(self.layout.select_each(values))

    def lead_axes(self, values: Array) -> Array:
        """Insert axes of length one between places and clients."""
        led: Array = np.expand_dims(values, tuple(range(1, len(self.axes) - 1)))
        return led

    def objectives(self, select: Callable[[Run], Objectives]) -> Objectives:
        each = [select(run) for run in self.runs]
        if len(each) == 1:
            return each[0]
        assert all(isinstance(one, QuadraticObjectives) for one in each), "losses have places of one run only"
        parts = zip(*((o.hessians, o.linear, np.atleast_1d(o.constants)) for o in cast(Any, each)), strict=True)
        return QuadraticObjectives(*map(self._expand_per_run, parts))

    def build_vector(self, build: Callable[[Frame], Vector]) -> Vector:
        return self.memo.compute_once(build, lambda: self._make(build))

    def _make(self, build: Callable[[Frame], Vector]) -> Vector:
        try:
            return build(self)
        except Misplaced:
            # Vectors that depend on the step index, or on a single run.
            return self._stack_vectors([build(member) for member in self.members])

    def select(self, value: Array) -> Array:
        """Select the entries of the run at all places of the stack."""
        return self.gather([value])

    def gather(self, values: Sequence[Array]) -> Array:
        """Select each place's entries from arrays of runs, (rounds, steps, clients) with axes of full length or one."""
        if len(values) == 1 and values[0].shape[:2] == (1, 1):
            return values[0]
        return self.lead_axes(self.layout.gather(values))

    def select_round(self, values: Array) -> Array:
        chosen: Array = values[self.layout.rounds]
        return chosen

    @abstractmethod
    def _stack_vectors(self, vectors: Sequence[Any]) -> Vector:
        """Return the vectors of the members as one stacked vector."""

    @cached_property
    def local(self) -> Vector:
        return self._stack_vectors([member.local for member in self.members])

    @cached_property
    def server(self) -> Vector:
        return self._stack_vectors([member.server for member in self.members])

    @cached_property
    def received(self) -> Vector:
        return self._stack_vectors([member.received for member in self.members])

    @cached_property
    def centralised(self) -> Vector:
        """The centralised sequences of all places; places of one round share one sequence."""
        rounds = list(zip(self.layout.owners, self.layout.rounds, strict=True))
        order = np.argsort(self.layout.steps, kind="stable")
        latest = {rounds[number]: self.members[number] for number in order}
        descents = {at: member.descent for at, member in latest.items()}
        return self._stack_vectors([descents[at][step] for at, step in zip(rounds, self.layout.steps, strict=True)])


class StackedPaths(StackedFrame, PlainFrame):
    """Steps of sampled paths, or free points: vectors (places, 1, 1 or M, d)."""

    def __init__(self, members: Sequence[PathFrame]) -> None:
        super().__init__(members)
        self._weights = np.stack([member.weights for member in members])[:, None]

    def _stack_vectors(self, vectors: Sequence[PathVector]) -> PathVector:
        return PathVector(np.stack([vector.values for vector in vectors])[:, None])

    @cached_property
    def noise(self) -> Vector:
        return self._stack_vectors([cast(PathVector, member.noise) for member in self.members])

    def aggregate(self, vector: Vector) -> PathVector:
        assert isinstance(vector, PathVector)
        return vector.average(self._weights)


class StackedMoments(MomentSpace, StackedFrame):
    """Local steps in expectation, with equally many live models and one outcome of the weights."""

    has_outcomes = False
    """Whether an axis over the outcomes of the weights follows that of the places."""

    def __init__(self, members: Sequence[MomentFrame]) -> None:
        super().__init__(members)
        self.joint = self._stack([member.joint for member in members], 2)[..., None, :, :]
        steps = [member.step for member in members]
        kinds = ([step.covariances for step in steps], [step.fresh for step in steps])
        self.covariances = np.stack([self._stack(values, 3) for values in kinds], axis=-3)
        self.step_maps = self._stack([member.step_maps for member in members], 3)
        self.columns = self._stack([member.columns for member in members], 2)
        self.newest = self._stack([member.newest for member in members], 2)
        self._members = members

    def _stack(self, values: Sequence[Array], axes: int) -> Array:
        return stack_places(values, axes, self.has_outcomes)

    @cached_property
    def _weights(self) -> Array:
        """w_i(n), (places, M) or (places, outcomes, M)."""
        return self._stack([member.weights if self.has_outcomes else member.weights[0] for member in self._members], 1)

    @property
    def noise(self) -> MomentVector:
        return self._members[0].noise

    @cached_property
    def average(self) -> MomentVector:
        noise = self.local.average(self.importances).noise
        return MomentVector(self._stack([one.average_maps for one in self._members], 3), noise)

    def _stack_vectors(self, vectors: Sequence[MomentVector]) -> MomentVector:
        noise = stack_noises([each.noise for each in vectors], outcomes=self.has_outcomes)
        return MomentVector(self._stack([each.base for each in vectors], 3), noise)

    def constant(self, vectors: Array) -> MomentVector:
        # Known points have an axis of steps, which vectors in expectation do not have.
        return super().constant(vectors[:, 0] if vectors.ndim == len(self.axes) + 1 else vectors)

    def aggregate(self, vector: Vector) -> MomentVector:
        assert isinstance(vector, MomentVector)
        return vector.average(self._weights[..., None, :] if self.has_outcomes else self._weights)


class StackedDraws(StackedMoments):
    """Local steps in expectation with equally many outcomes of the weights, on an axis after that of the places."""

    axes = ("place", "outcome", "step", "client")
    has_outcomes = True

    def __init__(self, members: Sequence[MomentFrame]) -> None:
        super().__init__(members)
        self.probabilities = np.stack([member.probabilities for member in members])

    def select_round(self, values: Array) -> Array:
        # A number of a round is the same in all outcomes of its weights.
        return super().select_round(values)[:, None]

    def take_expectation(self, values: Array) -> Array:
        return average_outcomes(values, self.probabilities)


class StackedRounds(StackedFrame, RoundFrame):
    """Rounds with equally many outcomes: vectors (places, outcomes, steps, clients, d)."""

    axes = ("place", "outcome", "step", "client")
    leading = 1

    def __init__(self, members: Sequence[RoundFrame]) -> None:
        super().__init__(members)
        self._members = members
        self.probabilities = np.stack([member.probabilities for member in members])
        self.valid = members[0].valid

    def _stack_vectors(self, vectors: Sequence[PathVector]) -> PathVector:
        return PathVector(np.stack([vector.values for vector in vectors]))

    def constant(self, vectors: Array) -> PathVector:
        missing = len(self.axes) + 1 - vectors.ndim
        return PathVector(vectors.reshape((1,) * missing + vectors.shape))

    def gather(self, values: Sequence[Array]) -> Array:
        # A round from a given model is no round of the run, and has all local steps.
        return values[0] if len(values) == 1 else self.layout.select_each(values)

    @cached_property
    def selection(self) -> Array:
        return np.stack([member.selection for member in self._members])

    def _join_histories(self, select: Callable[[ClientRound], Array]) -> PathVector:
        return self._stack_vectors([member._join_histories(select) for member in self._members])


_KINDS: dict[type[Frame], Callable[[Any], StackedFrame]] = {
    PathFrame: StackedPaths,
    MomentFrame: StackedMoments,
    RoundFrame: StackedRounds,
}


def stack_repeatedly(frames: Sequence[Frame], times: int) -> tuple[Frame, ...]:
    """Stack the places of frames, in order, each `times` times."""
    stacks: list[Frame] = []
    for (_, alike), grouped in groupby(frames, _make_stacking_key):
        places = tuple(grouped)
        members = tuple(place for place in places for _ in range(times))
        stacks += places if alike is None or len(members) == 1 else [_stack(members)]
    return tuple(stacks)


def stack_by_kind(frames: Sequence[Frame]) -> list[tuple[StackedFrame, list[int]]]:
    """Stack places of any runs into as few frames as possible, with the indices of the places in each."""
    kinds: dict[Hashable, list[int]] = {}
    for number, frame in enumerate(frames):
        kinds.setdefault(_make_stacking_key(frame), []).append(number)
    return [(_stack([frames[number] for number in alike]), alike) for alike in kinds.values()]


def _stack(members: Sequence[Frame]) -> StackedFrame:
    """Return places of one kind as one frame."""
    first = members[0]
    has_outcomes = isinstance(first, MomentFrame) and len(first.weights) > 1
    return (StackedDraws if has_outcomes else _KINDS[type(first)])(cast(Any, members))


def _make_stacking_key(frame: Frame) -> tuple[type[Frame], Hashable]:
    """Return the key of frames that can be stacked."""
    return type(frame), frame.alike
