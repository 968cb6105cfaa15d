"""Evaluates exact expectations at each local step (n, k), and reduces them to the axes of a quantity.

A frame may contain several local steps: values at a frame have the axes
(places, 1, clients), with one place for a single step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, StackedDraws, StackedFrame, list_stacks_at, read_common_steps
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities.measuring.reductions import reduce_steps
from fedtheory.language.quantities.quantity import Over, RunQuantity


def zero_at_optimum(run: Run) -> Array:
    """Return x* in the coordinates of frames, (1, d); raise `NoMinimiser` if F has none."""
    return run.arithmetic.zeros(1, run.problem.about_optimum.dimension)


Value = Callable[[Frame], Array]
"""Function that returns the values (places, 1, 1 or M) at a frame."""


@dataclass(frozen=True)
class AtSteps:
    """Computes a quantity by reductions of its values at each local step, (N, K, 1 or M)."""

    value: Value
    over: tuple[Over, ...]

    def __call__(self, run: Run) -> Any:
        """Compute the values on a run, and reduce them."""
        values = run.memo.compute_once(self.value, lambda: _measure_each_step(run, [self.value])[0])
        return reduce_steps(self.over, run, values)


def _measure_each_step(run: Run, values: Sequence[Value]) -> list[Array]:
    """Return the values at each local step, computed in one pass: frames of a large run are not stored."""
    shape = run.algorithm.rounds, read_common_steps(run), -1
    at_frames = [[_repeat_at_places(frame, value(frame)) for value in values] for frame in list_stacks_at("step", run)]
    return [np.concatenate(found).reshape(shape) for found in zip(*at_frames, strict=True)]


def measure_several(quantities: Iterable[RunQuantity], run: Run) -> None:
    """Compute the values of several quantities at local steps together; raise `FedtheoryError` if one is undefined."""
    unknown = [quantity for quantity in quantities if not quantity.is_cached_for(run)]
    values = [one.measure.value for one in unknown if isinstance(one.measure, AtSteps)]
    missing = [value for value in dict.fromkeys(values) if value not in run.memo]
    try:
        for value, found in zip(missing, _measure_each_step(run, missing) if missing else [], strict=True):
            run.memo.store(value, found)
    except NotApplicable:
        # Computed alone, the undefined quantity raises its own error.
        for quantity in unknown:
            quantity.on(run)
        raise


def _repeat_at_places(frame: Frame, values: Array) -> Array:
    """Repeat a value at all places of a frame."""
    places = len(frame.members) if isinstance(frame, StackedFrame) else 1
    if isinstance(frame, StackedDraws) and values.ndim == len(frame.axes):
        # Expectations have one entry on the axis of the outcomes.
        values = values[:, 0]
    return np.broadcast_to(values, (places, *values.shape[1:]))
