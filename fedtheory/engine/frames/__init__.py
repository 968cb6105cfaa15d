"""Frames: the points of a run (such as one local step) at which the vectors of a claim have values.

A frame is one local step in expectation (`moment`), one step on a sampled path (`path`),
one round over all its outcomes (`outcomes`), or a set of free points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice

from fedtheory.engine.frames.base import Frame, Index, read_common_steps
from fedtheory.engine.frames.layout import PlaceLayout
from fedtheory.engine.frames.moment import MomentFrame, MomentVector, iterate_moment_frames, iterate_step_frames
from fedtheory.engine.frames.outcomes import RoundFrame, iterate_round_frames, view_whole_round
from fedtheory.engine.frames.path import PathFrame, PathVector, iterate_path_frames, iterate_point_frames
from fedtheory.engine.frames.probes import list_probe_points
from fedtheory.engine.frames.shared_samples import expect_inner_product, sample_at
from fedtheory.engine.frames.stacks import StackedDraws, StackedFrame, stack_by_kind, stack_repeatedly
from fedtheory.engine.moments import is_deterministic
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import Vector

__all__ = [
    "Frame",
    "Index",
    "MomentFrame",
    "MomentVector",
    "PathFrame",
    "PathVector",
    "PlaceLayout",
    "RoundFrame",
    "StackedDraws",
    "StackedFrame",
    "Vector",
    "count_numbers",
    "count_outcomes",
    "expect_inner_product",
    "iterate_moment_frames",
    "iterate_path_frames",
    "iterate_point_frames",
    "iterate_round_frames",
    "iterate_step_frames",
    "list_frames_at",
    "list_probe_points",
    "list_stacks_at",
    "read_common_steps",
    "sample_at",
    "stack_by_kind",
    "view_whole_round",
]

_BUILDERS: dict[str, Callable[[Run], Iterator[Frame]]] = {
    "step": iterate_step_frames,
    "path": iterate_path_frames,
    "round": iterate_round_frames,
    "points": iterate_point_frames,
}
_KEPT_NUMBERS = 100_000
"""Largest size of a run's frames (numbers for one vector at all steps) that are cached for the next claim."""
_MOST_OUTCOMES = 10**6
"""Largest number of outcomes that is counted; it is more than any frame enumerates."""


def list_frames_at(place: str, run: Run) -> Iterable[Frame]:
    """Return the frames of a run for statements about local steps, paths, outcomes of a round, or free points."""
    _require_steps(place, run)
    return _build_frames(place, run) if _are_few(run) else _BUILDERS[place](run)


def list_stacks_at(place: str, run: Run, times: int = 1) -> Iterable[Frame]:
    """Return the frames of a run in order, stacked into as few frames as fit into the cache.

    Each frame occurs `times` times in a row.
    """
    _require_steps(place, run)
    if _are_few(run, times) or place == "points":
        return _build_stacks(place, run, times)
    several = max(_KEPT_NUMBERS // (times * count_numbers(run)), 1)
    return chain.from_iterable(
        stack_repeatedly(frames, times) for frames in _iterate_batches(_BUILDERS[place](run), several)
    )


def _iterate_batches(frames: Iterator[Frame], several: int) -> Iterator[tuple[Frame, ...]]:
    """Yield the frames in tuples of at most this number."""
    while batch := tuple(islice(frames, several)):
        yield batch


def _require_steps(place: str, run: Run) -> None:
    if place == "round" or (place != "points" and not is_deterministic(run.problem, run.algorithm)):
        run.require_single_clients("at a local step each client has noise of its own")
    if place != "points":
        run.algorithm.require_update_rule("vectors have values at the local steps of the update rule")


def _are_few(run: Run, times: int = 1) -> bool:
    """Return whether the numbers at all local steps of a run, times `times`, are few enough to cache."""
    steps = times * run.algorithm.rounds * max(run.algorithm.work.steps)
    return steps * count_numbers(run) <= _KEPT_NUMBERS


def count_numbers(run: Run) -> int:
    """Return the count of numbers in one vector at one step, including its noise coefficients for all clients.

    With random weights, a vector has a value for each outcome of these.
    """
    clients, dimension = run.problem.clients, run.problem.dimension
    numbers = clients * dimension
    if is_deterministic(run.problem, run.algorithm):
        return numbers
    return numbers * max(numbers, count_outcomes(run) * (dimension + 1))


def count_outcomes(run: Run) -> int:
    """Return the number of values of the random weights of a round; 1 if they are fixed, at most a million."""
    clients = run.problem.clients
    return min(run.algorithm.aggregation.participation.possibilities(clients), _MOST_OUTCOMES)


@lru_cache(maxsize=8)
def _build_frames(place: str, run: Run) -> tuple[Frame, ...]:
    """Build the frames of a run for a kind of place."""
    return tuple(_BUILDERS[place](run))


@lru_cache(maxsize=8)
def _build_stacks(place: str, run: Run, times: int) -> tuple[Frame, ...]:
    """Build the stacked frames of a run for a kind of place."""
    return stack_repeatedly(_build_frames(place, run), times)
