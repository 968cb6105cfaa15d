"""Vectors with the present noise sample of each client at several points, which are independent of the sample.

A client's stochastic gradient at x is grad F_i(x) + n_i(x), with n_i affine in x and random.  Noises of different
clients are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fedtheory.arithmetic import Array
from fedtheory.engine.frames.base import Frame
from fedtheory.engine.frames.moment import MomentVector
from fedtheory.engine.frames.outcomes import RoundFrame
from fedtheory.engine.frames.path import PathFrame
from fedtheory.engine.frames.stacks import StackedPaths
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import LinearMaps, Vector
from fedtheory.errors import Misplaced

Parts = tuple[tuple[Array, Vector], ...]
"""Coefficients c_i, (..., 1 or M), and points x_i, of a sum of terms  c_i n_i(x_i)."""


@dataclass(frozen=True, eq=False)
class SampledVector(Vector):
    """A vector for each client: its expectation over the present samples, and its noise terms."""

    mean: Vector
    own: Parts = ()
    """Noise terms of the client itself."""
    shared: Parts = ()
    """Noise terms that are summed over all clients."""

    def __post_init__(self) -> None:
        if isinstance(self.mean, MomentVector) and any(key[0] == 1 for key in _find_noises(self.mean)):
            raise ValueError(
                "a vector has either the stochastic gradient of a step or gradients of its draws at points"
            )

    def __add__(self, other: Vector) -> SampledVector:
        if not isinstance(other, SampledVector):
            return replace(self, mean=self.mean + other)
        return SampledVector(self.mean + other.mean, self.own + other.own, self.shared + other.shared)

    __radd__ = __add__

    def scale(self, factor: Array) -> SampledVector:
        own, shared = (tuple((factor * c, at) for c, at in parts) for parts in (self.own, self.shared))
        return SampledVector(self.mean.scale(factor), own, shared)

    def transform(self, maps: LinearMaps) -> Vector:
        del maps
        raise Misplaced("gradients of the present draws are not mapped by matrices")

    def average(self, weights: Array) -> SampledVector:
        if self.shared:
            raise Misplaced("a sum over clients of what has the draws of all clients is not known")
        each = weights[..., None, :] if weights.ndim < 3 else weights
        return SampledVector(self.mean.average(weights), shared=tuple((each * c, at) for c, at in self.own))


def _find_noises(vector: MomentVector) -> list[tuple[int, ...]]:
    """Return the keys of the noise terms of a vector; each begins with the kind of its noise."""
    return [*vector.noise.own, *vector.noise.shared]  # type: ignore[list-item]


def sample_at(frame: Frame, point: Vector) -> Vector:
    """Return each client's stochastic gradient, with the present sample, at a point independent of the sample."""
    gradient = frame.client_objectives.gradient(frame, point)
    if not (frame.select_of_run(_compute_noise_forms) != 0).any():
        return gradient
    if isinstance(frame, PathFrame | RoundFrame | StackedPaths):
        raise Misplaced("gradients of the present draw at other points have expectations at place='step' only")
    return SampledVector(gradient, ((frame.arithmetic.identity(1), point),))


def _compute_noise_forms(run: Run) -> Array:
    """Return E|n_i(x)|^2 as forms in (1, x), (M, d+1, d+1)."""
    return run.noise_forms


def expect_inner_product(frame: Frame, left: Vector, right: Vector) -> Array:
    """Return the expected inner product of two vectors, including the samples that they share."""
    if not (isinstance(left, SampledVector) and isinstance(right, SampledVector)):
        one, other = (each.mean if isinstance(each, SampledVector) else each for each in (left, right))
        # A vector without samples is uncorrelated with noise, which has zero mean.
        return frame.inner(one, other)
    found = frame.inner(left.mean, right.mean)
    pairs = ((left.own, right.own), (left.own, right.shared), (left.shared, right.own))
    for one_parts, other_parts in pairs:
        if one_parts and other_parts:
            found = found + _measure_noise(frame, one_parts, other_parts)
    if left.shared and right.shared:
        found = found + _measure_noise(frame, left.shared, right.shared).sum(axis=-1, keepdims=True)
    return found


def _measure_noise(frame: Frame, left: Sequence[tuple[Array, Vector]], right: Sequence[tuple[Array, Vector]]) -> Array:
    """Return the expected inner products of each client's noise terms, (..., M)."""
    total = None
    for c, at in left:
        for d, other in right:
            part = c * d * _measure_covariance(frame, at, other)
            total = part if total is None else total + part
    assert total is not None
    return total


def _measure_covariance(frame: Frame, at: Vector, other: Vector) -> Array:
    """Return E<n_i(x), n_i(y)>, (..., M)."""
    forms = frame.select_of_run(_compute_noise_forms)
    linear, constant = frame.constant(forms[..., 0, 1:]), forms[..., 0, 0]
    curved = frame.inner(
        at, other.transform(frame.memo.compute_once(_measure_covariance, lambda: LinearMaps(forms[..., 1:, 1:])))
    )
    found: Array = curved + frame.inner(linear, at) + frame.inner(linear, other) + constant
    return found
