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
    "Vector",
    "common_steps",
    "frames_at",
    "moment_frames",
    "of_a_round",
    "path_frames",
    "point_frames",
    "probes",
    "round_frames",
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
    if place != "points":
        run.algorithm.require_update_rule("vectors have values at the local steps of the update rule")
    steps = run.algorithm.rounds * max(run.algorithm.work.steps)
    numbers = steps * (run.problem.clients * run.problem.dimension) ** 2
    return _kept_frames(place, run) if numbers <= _KEPT_NUMBERS else _BUILDERS[place](run)


@lru_cache(maxsize=8)
def _kept_frames(place: str, run: Run) -> tuple[Frame, ...]:
    return tuple(_BUILDERS[place](run))
