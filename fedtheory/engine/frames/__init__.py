"""Places of a run at which a proof's vectors have values.

In expectation at a local step (`moment`), on one sampled path (`path`), over
all outcomes of one round (`outcomes`), or at free points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from fedtheory.engine.frames.base import Frame, Index, common_steps
from fedtheory.engine.frames.moment import MomentFrame, MomentVector, moment_frames, step_frames
from fedtheory.engine.frames.outcomes import RoundFrame, of_a_round, round_frames
from fedtheory.engine.frames.path import PathFrame, PathVector, path_frames, point_frames
from fedtheory.engine.frames.probes import probes
from fedtheory.engine.frames.stacked import StackedFrame, stacks_of
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import Vector

__all__ = [
    "Frame",
    "Index",
    "MomentFrame",
    "MomentVector",
    "PathFrame",
    "PathVector",
    "RoundFrame",
    "StackedFrame",
    "Vector",
    "common_steps",
    "frames_at",
    "moment_frames",
    "of_a_round",
    "path_frames",
    "point_frames",
    "probes",
    "round_frames",
    "stacks_at",
    "step_frames",
]

_BUILDERS: dict[str, Callable[[Run], Iterator[Frame]]] = {
    "step": step_frames,
    "path": path_frames,
    "round": round_frames,
    "points": point_frames,
}
_KEPT_NUMBERS = 100_000
"""Size of a run's frames, in numbers for one vector at all steps, up to which they are kept for the next claim."""


def frames_at(place: str, run: Run) -> Iterable[Frame]:
    """The frames of a run for statements about local steps, sampled paths, outcomes of a round, or free points."""
    _require_steps(place, run)
    return _kept_frames(place, run) if _are_few(run) else _BUILDERS[place](run)


def stacks_at(place: str, run: Run) -> Iterable[Frame]:
    """The same places in the same order, taken together as far as frames are kept."""
    _require_steps(place, run)
    return _kept_stacks(place, run) if _are_few(run) else _BUILDERS[place](run)


def _require_steps(place: str, run: Run) -> None:
    if place != "points":
        run.algorithm.require_update_rule("vectors have values at the local steps of the update rule")


def _are_few(run: Run) -> bool:
    steps = run.algorithm.rounds * max(run.algorithm.work.steps)
    return steps * (run.problem.clients * run.problem.dimension) ** 2 <= _KEPT_NUMBERS


@lru_cache(maxsize=8)
def _kept_frames(place: str, run: Run) -> tuple[Frame, ...]:
    return tuple(_BUILDERS[place](run))


@lru_cache(maxsize=8)
def _kept_stacks(place: str, run: Run) -> tuple[Frame, ...]:
    frames = _kept_frames(place, run)
    return frames if place == "points" else stacks_of(frames)
