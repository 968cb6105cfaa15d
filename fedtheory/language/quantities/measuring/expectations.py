"""Exact expectations at each local step (n, k), and what becomes of them on the axes of a quantity.

Frames may be several local steps together: numbers at a frame have the axes
(places, 1, clients), one place for a single step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, StackedFrame, Vector, certain_stacks, common_steps
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities.quantity import RunQuantity

_Built = TypeVar("_Built")


def once(build: Callable[[Frame], _Built]) -> Callable[[Frame], _Built]:
    """Build a value once at each frame, for all quantities that use it."""

    @wraps(build)
    def built(frame: Frame) -> _Built:
        return frame.memo.once(build, lambda: build(frame))

    return built


def minus(vector: Vector, other: Vector, frame: Frame) -> Vector:
    """Difference of two vectors at a frame."""
    return vector + other.scaled(-frame.arithmetic.identity(1)[0])


def _expectation(frame: Frame, found: Array) -> Array:
    """E of scalars with the axes (outcomes or places, 1, clients), the leading ones left out where there is nothing."""
    return frame.expected(frame.expand_axes(found))


def expected(frame: Frame, left: Vector, right: Vector) -> Array:
    """E<u, v>, (places, 1, 1 or M)."""
    return _expectation(frame, frame.inner(left, right))


def square(frame: Frame, vector: Vector) -> Array:
    """E|v|^2, (places, 1, 1 or M)."""
    return expected(frame, vector, vector)


def values_at(frame: Frame, model: Vector) -> Array:
    """E L_i(x) of each client at a model, (places, 1, M)."""
    return _expectation(frame, frame.client_objectives.value(frame, model))


def zero_at_optimum(run: Run) -> Array:
    """x* in the coordinates of frames, (1, d); `NoMinimiser` where F has none."""
    return run.arithmetic.zeros(1, run.problem.about_optimum.dimension)


@once
def virtual_values(frame: Frame) -> Array:
    """E L_i(theta^{n,k}), (places, 1, M)."""
    return values_at(frame, frame.virtual)


def shares_at(frame: Frame) -> Array:
    """q~_i(n) = q_i(n) / q(n) at a frame, (M,), of several places (places, M)."""
    return frame.of_round(frame.run.surrogate.shares)


def weights_at(frame: Frame) -> Array:
    """q_i(n) at a frame, (M,), of several places (places, M)."""
    return frame.of_round(frame.run.surrogate.weights)


def sum_over_clients(weights: Array, values: Array) -> Array:
    """Weighted sums of numbers (places, 1, M) with weights (M,) or (places, M): (places, 1, 1)."""
    total: Array = (values * weights[..., None, :]).sum(axis=-1, keepdims=True)
    return total


Value = Callable[[Frame], Array]
"""Function that returns the values (places, 1, 1 or M) at a frame."""


@dataclass(frozen=True)
class AtSteps:
    """The measure of what is made of values at each local step, (N, K, 1 or M)."""

    value: Value
    made: Callable[[Run, Array], Array]

    def __call__(self, run: Run) -> Array:
        """Compute the quantity from the values on a run."""
        return self.made(run, run.memo.once(self.value, lambda: _at_each_step(run, [self.value])[0]))


def _at_each_step(run: Run, values: Sequence[Value]) -> list[Array]:
    """Values at each local step, found in one go: a large run does not keep its frames."""
    shape = run.algorithm.rounds, common_steps(run), -1
    at_frames = [[_repeat_at_places(frame, value(frame)) for value in values] for frame in certain_stacks(run)]
    return [np.concatenate(found).reshape(shape) for found in zip(*at_frames, strict=True)]


def measure_several(quantities: Iterable[RunQuantity], run: Run) -> None:
    """Find what several quantities are made of at local steps; `FedtheoryError` where one of them has no value."""
    unknown = [quantity for quantity in quantities if not quantity.is_known_of(run)]
    values = [one.measure.value for one in unknown if isinstance(one.measure, AtSteps)]
    missing = [value for value in dict.fromkeys(values) if value not in run.memo]
    try:
        for value, found in zip(missing, _at_each_step(run, missing) if missing else [], strict=True):
            run.memo.store(value, found)
    except NotApplicable:
        # Asked alone, the quantity that has no value says so by its name.
        for quantity in unknown:
            quantity.on(run)
        raise


def _repeat_at_places(frame: Frame, values: Array) -> Array:
    """Repeat a value at all places of a frame."""
    places = len(frame.members) if isinstance(frame, StackedFrame) else 1
    return np.broadcast_to(values, (places, *values.shape[1:]))


def measure_at_each_step(value: Value) -> AtSteps:
    """The measure of the values themselves: (N, K, 1 or M)."""
    return AtSteps(value, lambda _run, values: values)
