"""The exact expectations of a whole run, as linear functionals of its second moments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import Diverging
from fedtheory.federation import Algorithm
from fedtheory.moments.local import unroll
from fedtheory.moments.recursion import NoiseProfile, Recursion
from fedtheory.problem import Problem

_OVERFLOW = 1e200
_STABILITY_SLACK = 1e-9


@dataclass(frozen=True)
class Divergence:
    """Why a run does not settle."""

    round: int | None
    """First server update whose numbers leave double precision; None if all of them fit."""
    reason: str


class Trajectory:
    """Second moments of the server's model over n = 0 .. T, and what follows from them."""

    def __init__(self, problem: Problem, algorithm: Algorithm) -> None:
        self.problem = problem
        self.algorithm = algorithm
        self.recursion = Recursion(problem, algorithm)
        self.divergence: Divergence | None = None
        moments, noise = [self.recursion.start], []
        for n in range(1, algorithm.rounds + 1):
            profile = self.recursion.noise(moments[-1])
            following = self.recursion.advance(moments[-1], profile)
            if _overflows(following):
                self.divergence = Divergence(n, self._reason())
                break
            noise.append(profile)
            moments.append(following)
        else:
            if self.recursion.spectral_radius() > 1 + _STABILITY_SLACK:
                self.divergence = Divergence(None, self._reason())
        self.moments: Array = np.stack(moments)
        """E[(1, x - x*)(1, x - x*)'], (T+1, d+1, d+1)."""
        self.noise: list[NoiseProfile] = noise

    def _reason(self) -> str:
        radius = self.recursion.spectral_radius()
        cause = (
            f"the mean round map has spectral radius {radius:.4g} > 1"
            if radius > 1
            else "noise grows faster than it is damped"
        )
        return f"{cause}: the step size is too large"

    def require_finite(self) -> Trajectory:
        """This trajectory, if all its rounds fit into the arithmetic; else raise `Diverging`."""
        if self.divergence is not None and self.divergence.round is not None:
            raise Diverging(f"the run diverges at round {self.divergence.round}: {self.divergence.reason}")
        return self

    @property
    def _covariances(self) -> Array:
        """E[(x - x*)(x - x*)'] of the server's model, (T+1, d, d)."""
        return self.moments[:, 1:, 1:]

    @cached_property
    def server_mean(self) -> Array:
        """E x^n, (T+1, d)."""
        return self.moments[:, 1:, 0] + self.problem.optimum

    @cached_property
    def server_suboptimality(self) -> Array:
        """E F(x^n) - F*, (T+1,)."""
        return _functional(self.problem.hessian, self._covariances) / 2

    @cached_property
    def server_distance_sq(self) -> Array:
        """E|x^n - x*|^2, (T+1,)."""
        distances: Array = self._covariances.trace(axis1=1, axis2=2)
        return distances

    @cached_property
    def server_gradient_sq(self) -> Array:
        """E|grad F(x^n)|^2, (T+1,)."""
        return _functional(self.problem.hessian @ self.problem.hessian, self._covariances)

    @cached_property
    def local_suboptimality(self) -> Array:
        """E F(xbar^{n,k}) - F* of the averaged iterate, (T, K+1), k = 0 .. K."""
        return self._local(self.problem.hessian) / 2

    @cached_property
    def local_distance_sq(self) -> Array:
        """E|xbar^{n,k} - x*|^2 of the averaged iterate, (T, K+1)."""
        return self._local(self.problem.arithmetic.identity(self.problem.dimension))

    def _local(self, form: Array) -> Array:
        """E (xbar^{n,k} - x*)' form (xbar^{n,k} - x*), (T, K+1)."""
        maps = self.recursion.average_maps[:, 1:, :]
        carried = maps.transpose(0, 2, 1) @ form @ maps
        averages = np.stack([profile.average for profile in self.noise])
        return np.stack([_functional(c, self.moments[:-1]) for c in carried], axis=1) + _functional(form, averages)

    @cached_property
    def drift(self) -> Array:
        """E|x_i^{n,k} - xbar^{n,k}|^2, (T, K+1, M)."""
        traces = np.stack([profile.traces for profile in self.noise])
        shared = np.stack([profile.average for profile in self.noise]).trace(axis1=2, axis2=3)
        noise = traces * (1 - 2 * self.problem.weights) + shared[:, :, None]
        steps = unroll(self.recursion.centred, self.algorithm.work, self.recursion.start)
        by_step = [self._mean_drift(local.maps, local.k) for local in steps]
        drift: Array = np.stack(by_step, axis=1) + noise
        return drift

    def _mean_drift(self, maps: Array, k: int) -> Array:
        """The part of the drift at local step k that the base model carries, (T, M)."""
        apart = (maps - self.recursion.average_maps[k])[:, 1:, :]
        forms = apart.transpose(0, 2, 1) @ apart
        size = forms.shape[-1] ** 2
        carried: Array = self.moments[:-1].reshape(-1, size) @ forms.reshape(-1, size).T
        return carried


def _functional(form: Array, moments: Array) -> Array:
    """``trace(form' moments[n])`` for each n: (N,) from (N, a, a), or (N, K) from (N, K, a, a)."""
    size = form.size
    return moments.reshape(*moments.shape[:-2], size) @ form.reshape(size)


def _overflows(moment: Array) -> bool:
    if moment.dtype == object:
        return False
    return not bool(np.abs(moment).max() < _OVERFLOW)
