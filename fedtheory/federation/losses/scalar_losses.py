"""Scalar losses phi(u) of a width w: smooth, with bounded derivatives, unlike quadratics.

A term of an objective is ``a phi(x[c] - b)``.  The derivative of a convex loss increases
from one limit to the other, and its curvature is largest at ``u = 0`` and decreases
on both sides.  Hampel's loss is bounded and not convex.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.enclosures import enclose_numbers


class LossFamily(ABC):
    """A family of scalar losses; `u` and `width` broadcast, entries of `u` may be infinite in floats."""

    name: str
    kinks: tuple[int, ...] = ()
    """Multiples of w, up to sign, at which a piecewise linear derivative has its kinks.

    All values are rational then.
    """
    is_convex = True
    can_reflect: bool
    """Whether phi(-u) is another function; a negative width denotes it."""

    @property
    def is_piecewise(self) -> bool:
        """Whether the derivative is piecewise linear."""
        return bool(self.kinks)

    @abstractmethod
    def value(self, u: Array, width: Array) -> Array:
        """Return phi(u)."""

    @abstractmethod
    def derivative(self, u: Array, width: Array) -> Array:
        """Return phi'(u), which is non-decreasing if phi is convex."""

    @abstractmethod
    def curvature(self, u: Array, width: Array) -> Array:
        """Return phi''(u), if it exists; else the larger of the one-sided values."""


class Huber(LossFamily):
    """``u^2/2`` for ``|u| <= w``, ``w|u| - w^2/2`` beyond."""

    name = "huber"
    kinks = (1,)
    can_reflect = False

    def value(self, u: Array, width: Array) -> Array:
        inside = self.derivative(u, width)
        # With s = clip(u) both branches are s u - s^2/2.
        values: Array = inside * u - inside * inside / 2
        return values

    def derivative(self, u: Array, width: Array) -> Array:
        return np.asarray(np.maximum(np.minimum(u, width), -width))

    def curvature(self, u: Array, width: Array) -> Array:
        return np.asarray(abs(u) <= width).astype(int)


class Hampel(LossFamily):
    """``u^2/2`` for ``|u| <= w``, ``w^2 - (2w - |u|)^2/2`` up to ``2w``, ``w^2`` beyond: bounded, and not convex.

    Its derivative redescends: it increases to w at ``u = w``, and decreases to zero at ``u = 2w``.  It is Hampel's
    three-part loss (Hampel et al. 1986, Robust Statistics, section 2.6) with the parts w, w, 2w.
    """

    name = "hampel"
    kinks = (1, 2)
    is_convex = False
    can_reflect = False

    def value(self, u: Array, width: Array) -> Array:
        inside, falling = self._clip_to_width(u, width), self._measure_falling_part(u, width)
        # The integral of the derivative over the two parts of |u|, each of length at most w.
        return np.asarray(inside * inside / 2 + width * falling - falling * falling / 2)

    def derivative(self, u: Array, width: Array) -> Array:
        steep = self._clip_to_width(u, width) - self._measure_falling_part(u, width)
        return np.asarray(np.where(u > 0, steep, -steep))

    def curvature(self, u: Array, width: Array) -> Array:
        size = abs(u)
        rising, falling = np.asarray(size <= width), np.asarray((size > width) & (size < 2 * width))
        return np.asarray(rising.astype(int) - falling.astype(int))

    def _clip_to_width(self, u: Array, width: Array) -> Array:
        """Return min(|u|, width), the part of |u| where the derivative rises."""
        return np.asarray(np.minimum(abs(u), width))

    def _measure_falling_part(self, u: Array, width: Array) -> Array:
        """Return the length of the part of |u| where the derivative falls."""
        return np.asarray(np.minimum(np.maximum(abs(u) - width, width - width), width))


class SmoothKind(LossFamily):
    """Losses whose derivatives are ``k + c tanh(u/s)``, with c and s positive; exact arguments give enclosures."""

    @abstractmethod
    def tanh_form(self, width: Array) -> tuple[Array, Array, Array]:
        """Return k, c and s; rational if the width is."""

    def derivative(self, u: Array, width: Array) -> Array:
        offset, amplitude, scale = self.tanh_form(width)
        slopes: Array = offset + amplitude * np.tanh(enclose_numbers(u) / scale)
        return slopes

    def curvature(self, u: Array, width: Array) -> Array:
        _, amplitude, scale = self.tanh_form(width)
        decay = np.exp(-2 * abs(enclose_numbers(u) / scale))
        curvatures: Array = amplitude / scale * (4 * decay / (1 + decay) ** 2)
        return curvatures


class LogCosh(SmoothKind):
    """``w^2 log cosh(u/w)``."""

    name = "log-cosh"
    can_reflect = False

    def value(self, u: Array, width: Array) -> Array:
        scaled = abs(enclose_numbers(u) / width)
        # log cosh v = v + log((1 + exp(-2v)) / 2) for v >= 0
        values: Array = width * width * (scaled + np.log1p(np.expm1(-2 * scaled) / 2))
        return values

    def tanh_form(self, width: Array) -> tuple[Array, Array, Array]:
        return width - width, width, width


class Softplus(SmoothKind):
    """``w log(1 + exp(u/w))``; with a negative width the reflected ``|w| log(1 + exp(-u/|w|))``."""

    name = "softplus"
    can_reflect = True

    def value(self, u: Array, width: Array) -> Array:
        scaled = enclose_numbers(u) / width
        positive_part = (scaled + abs(scaled)) / 2
        return np.asarray(abs(width) * (positive_part + np.log1p(np.exp(-abs(scaled)))))

    def tanh_form(self, width: Array) -> tuple[Array, Array, Array]:
        half = width / abs(width) / 2
        return half, abs(half), 2 * abs(width)


KINDS: dict[str, LossFamily] = {kind.name: kind for kind in (Huber(), LogCosh(), Softplus(), Hampel())}
