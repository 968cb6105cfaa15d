"""Scalar losses phi(u) of a width w: convex, smooth, and with bounded slopes, which quadratics do not have.

A term of an objective is ``a phi(x[c] - b)``; its slope grows from one limit to
the other, and its curvature is largest at ``u = 0`` and falls off on both sides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from fedtheory.arithmetic import Array


class Kind(ABC):
    """A family of scalar losses; `u` and `width` broadcast, entries of `u` may be infinite in floats."""

    name: str
    is_piecewise: bool
    """Whether the slope is piecewise linear, with kinks at ``u = -w`` and ``u = w``: then all of it is rational."""
    can_reflect: bool
    """Whether phi(-u) is another function; a negative width stands for it."""

    @abstractmethod
    def value(self, u: Array, width: Array) -> Array:
        """phi(u)."""

    @abstractmethod
    def slope(self, u: Array, width: Array) -> Array:
        """phi'(u), which never falls."""

    @abstractmethod
    def curvature(self, u: Array, width: Array) -> Array:
        """phi''(u), where it exists; the larger of the one-sided values elsewhere."""


class Huber(Kind):
    """``u^2/2`` for ``|u| <= w``, ``w|u| - w^2/2`` beyond."""

    name = "huber"
    is_piecewise = True
    can_reflect = False

    def value(self, u: Array, width: Array) -> Array:
        inside = self.slope(u, width)
        # With s = clip(u) both branches are s u - s^2/2.
        values: Array = inside * u - inside * inside / 2
        return values

    def slope(self, u: Array, width: Array) -> Array:
        return np.asarray(np.maximum(np.minimum(u, width), -width))

    def curvature(self, u: Array, width: Array) -> Array:
        return np.asarray(abs(u) <= width).astype(int)


class LogCosh(Kind):
    """``w^2 log cosh(u/w)``."""

    name = "log-cosh"
    is_piecewise = False
    can_reflect = False

    def value(self, u: Array, width: Array) -> Array:
        scaled = np.abs(u / width)
        values: Array = width * width * (scaled + np.log1p(np.exp(-2 * scaled)) - np.log(2))
        return values

    def slope(self, u: Array, width: Array) -> Array:
        slopes: Array = width * np.tanh(u / width)
        return slopes

    def curvature(self, u: Array, width: Array) -> Array:
        decay = np.exp(-2 * np.abs(u / width))
        curvatures: Array = 4 * decay / (1 + decay) ** 2
        return curvatures


class Softplus(Kind):
    """``w log(1 + exp(u/w))``; with a negative width the reflected ``|w| log(1 + exp(-u/|w|))``."""

    name = "softplus"
    is_piecewise = False
    can_reflect = True

    def value(self, u: Array, width: Array) -> Array:
        return np.asarray(np.abs(width) * np.logaddexp(0, u / width))

    def slope(self, u: Array, width: Array) -> Array:
        slopes: Array = np.sign(width) * (1 + np.tanh(u / width / 2)) / 2
        return slopes

    def curvature(self, u: Array, width: Array) -> Array:
        decay = np.exp(-np.abs(u / width))
        curvatures: Array = decay / (1 + decay) ** 2 / np.abs(width)
        return curvatures


KINDS: dict[str, Kind] = {kind.name: kind for kind in (Huber(), LogCosh(), Softplus())}
