"""Places of several runs as one site: an axis over all of them leads every number and every vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, StackedFrame, stacks_by_kind
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation.runs import SiteOfRuns
from fedtheory.language.evaluation.site import Choice, choices_of, points_of, taken_together


@dataclass(frozen=True, eq=False)
class SiteOfPlaces(SiteOfRuns):
    """Places of R runs, alike in what vectors are made of there; numbers have the axes of the frame."""

    numbers: Array | None = None
    """The number of each place's run, among those that are asked."""

    @property
    def owners(self) -> Array:
        assert self.numbers is not None
        return self.numbers

    def _gathered(self, values: Sequence[Array]) -> Array:
        assert isinstance(self.frame, StackedFrame)
        return self.frame.gathered(values)

    @property
    def constants(self) -> dict[object, Any]:
        """Cached values of expressions in constants, at these places."""
        return self.step.known

    @property
    def importances(self) -> Array:
        """p_i of each place's run."""
        return self.step.importances


@dataclass(frozen=True, eq=False)
class _Stack:
    """Places in one frame, with what is chosen there of free points and of quantified symbols, in their order."""

    frame: StackedFrame
    owners: Array
    points: tuple[Array, ...]
    parameters: tuple[Array, ...]

    @classmethod
    def of(cls, frame: StackedFrame, owners: Sequence[int], choices: Sequence[Choice]) -> _Stack:
        points, parameters = taken_together(frame, choices)
        return cls(frame, np.array(owners), tuple(points.values()), tuple(parameters.values()))

    def site(self, claim: Claim) -> SiteOfPlaces:
        points = dict(zip(points_of(claim), self.points, strict=True))
        parameters = dict(zip(claim.for_all, self.parameters, strict=True))
        runs = self.frame.runs
        return SiteOfPlaces(runs[0], self.frame, {}, points, parameters, runs=runs, numbers=self.owners)


class Places:
    """The places of runs, in as few stacks as there are kinds of them, with all choices of a claim at each.

    They serve every claim with as many free points, and the same values of quantified symbols.
    """

    def __init__(self, claim: Claim, runs: Sequence[Run], frames: Sequence[Sequence[Frame]]) -> None:
        """`frames` are those of each run."""
        chosen = [choices_of(claim, run) for run in runs]
        each = [(n, frame, choice) for n, own in enumerate(frames) for frame in own for choice in chosen[n]]
        self._stacks = [
            _Stack.of(stack, [each[place][0] for place in places], [each[place][2] for place in places])
            for stack, places in stacks_by_kind([frame for _, frame, _ in each])
        ]

    def sites(self, claim: Claim) -> list[SiteOfPlaces]:
        """A site for each stack."""
        return [stack.site(claim) for stack in self._stacks]
