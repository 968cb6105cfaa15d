"""Exact expectations at each local step (n, k), and what becomes of them on the axes of a quantity."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, Vector, common_steps, frames_at
from fedtheory.engine.run import Run

_Built = TypeVar("_Built")


def once(build: Callable[[Frame], _Built]) -> Callable[[Frame], _Built]:
    """What is built once at each frame, for all quantities that are made of it."""

    @wraps(build)
    def built(frame: Frame) -> _Built:
        if build not in frame.known:
            frame.known[build] = build(frame)
        kept: _Built = frame.known[build]
        return kept

    return built


def minus(vector: Vector, other: Vector, frame: Frame) -> Vector:
    """Difference of two vectors at a frame."""
    return vector + other.scaled(-frame.run.arithmetic.identity(1)[0])


def _expectation(frame: Frame, found: Array) -> Array:
    """E of scalars with the axes (outcomes, steps, clients), the leading ones left out where there is nothing: (C,)."""
    values: Array = frame.expected(found.reshape((1,) * (3 - found.ndim) + found.shape))[0, 0]
    return values


def expected(frame: Frame, left: Vector, right: Vector) -> Array:
    """E<u, v>, (1 or M,)."""
    return _expectation(frame, frame.inner(left, right))


def square(frame: Frame, vector: Vector) -> Array:
    """E|v|^2, (1 or M,)."""
    return expected(frame, vector, vector)


def values_at(frame: Frame, model: Vector) -> Array:
    """E L_i(x) of each client at a model, (M,)."""
    return _expectation(frame, frame.run.client_objectives.value(frame, model))


@once
def virtual_values(frame: Frame) -> Array:
    """E L_i(theta^{n,k}), (M,)."""
    return values_at(frame, frame.virtual)


def shares_at(frame: Frame) -> Array:
    """q~_i(n) = q_i(n) / q(n) at a frame, (M,)."""
    shares: Array = frame.run.surrogate.shares[int(frame.index["round"])]
    return shares


def weights_at(frame: Frame) -> Array:
    """q_i(n) at a frame, (M,)."""
    weights: Array = frame.run.surrogate.weights[int(frame.index["round"])]
    return weights


def over_shares(frame: Frame, values: Array) -> Array:
    """sum_i q~_i(n) of numbers of clients (M,), (1,)."""
    mean: Array = (values * shares_at(frame)).sum(keepdims=True)
    return mean


@once
def mean_gradient(frame: Frame) -> Vector:
    """sum_i q~_i g_i."""
    return frame.gradient.averaged(shares_at(frame))


@once
def selected_gradient(frame: Frame) -> Vector:
    """sum_i w_i g_i."""
    return frame.selected(frame.gradient)


def at_each_step(value: Callable[[Frame], Array]) -> Callable[[Run], Array]:
    """The measure of what has the values (1 or M,) at each local step: (N, K, 1 or M)."""

    def measure(run: Run) -> Array:
        values = np.stack([value(frame) for frame in frames_at("step", run)])
        return values.reshape(run.algorithm.rounds, common_steps(run), -1)

    return measure


def mean_over_steps(value: Callable[[Frame], Array]) -> Callable[[Run], Array]:
    """The measure of its means over the local steps of each update: (N, 1, 1 or M)."""
    return lambda run: (
        at_each_step(value)(run).sum(axis=1, keepdims=True) / run.arithmetic.number(common_steps(run), "K")
    )


def at_step(number: int, value: Callable[[Frame], Array]) -> Callable[[Run], Array]:
    """The measure of its values at one local step of each update, numbered as lists are: (N, 1, 1 or M)."""

    def measure(run: Run) -> Array:
        asked = number % common_steps(run)
        values = [value(frame) for frame in frames_at("step", run) if frame.index["step"] == asked]
        return np.stack(values)[:, None, :]

    return measure


def before_each_step(value: Callable[[Frame], Array]) -> Callable[[Run], Array]:
    """The measure of sums over the local steps l < k: (N, K, 1 or M)."""

    def measure(run: Run) -> Array:
        values = at_each_step(value)(run)
        return np.asarray(values.cumsum(axis=1) - values)

    return measure
