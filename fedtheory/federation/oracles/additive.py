"""Full gradients, and full gradients with additive noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, arithmetic_of
from fedtheory.federation.oracles.base import Draws, Oracle, StepBound


@dataclass(frozen=True)
class ExactOracle(Oracle):
    """Full gradients, no noise."""

    depends_on_model = False

    def covariances(self, moments: Array, gradients: Array) -> Array:
        return arithmetic_of(moments).zeros(*gradients.shape)

    def pull_back(self, forms: Array, gradients: Array) -> Array:
        return gradients - gradients

    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        return np.zeros_like(points)

    def outcome(self, client: int, point: Array, generator: np.random.Generator) -> Array:
        return point - point

    def draws(self, client: int, linear: Array) -> Draws:
        arithmetic, size = arithmetic_of(linear), linear.shape[1]
        return Draws(arithmetic.array([1]), arithmetic.zeros(1, size, size + 1))

    def step_bound(self, hessians: Array, linear: Array) -> StepBound:
        arithmetic = arithmetic_of(hessians)
        smallest = min(arithmetic.smallest_eigenvalues(hessians))
        largest = max(arithmetic.largest_eigenvalues(hessians))
        return StepBound(
            curvature=max(largest, -smallest),
            push=arithmetic.upper_sqrt((linear * linear).sum(axis=1).max()),
            contraction=max(arithmetic.number(0, "zero"), smallest),
        )


@dataclass(frozen=True)
class AdditiveNoise(Oracle):
    """Isotropic noise of variance ``E|g_i - grad F_i|^2 = variances[i]``, independent in every step.

    Moments depend on the variance only.  Single outcomes, and a law of bounded support, are a random axis with a random
    sign, of norm ``sqrt(variances[i])``.
    """

    variances: Array = field(repr=False)
    depends_on_model = False

    def covariances(self, moments: Array, gradients: Array) -> Array:
        size = gradients.shape[-1]
        isotropic = arithmetic_of(moments).identity(size)
        covariances: Array = self.variances[:, None, None] * isotropic / size
        return covariances

    def pull_back(self, forms: Array, gradients: Array) -> Array:
        constant = gradients - gradients
        constant[:, 0, 0] = self.variances * (forms.trace(axis1=1, axis2=2) / forms.shape[-1])
        return constant

    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        deviations = np.sqrt(self.variances / points.shape[-1])
        noise: Array = generator.standard_normal(points.shape) * deviations[:, None]
        return noise

    def outcome(self, client: int, point: Array, generator: np.random.Generator) -> Array:
        noise = point - point
        sign = 1 if generator.random() < 0.5 else -1
        noise[generator.integers(len(point))] = sign * arithmetic_of(point).upper_sqrt(self.variances[client])
        return noise

    def draws(self, client: int, linear: Array) -> Draws:
        # The noise is a random axis with a random sign and a rational norm: an irrational deviation is rounded up, and
        # the noise is zero with the probability that keeps the variance exact.
        arithmetic, size = arithmetic_of(linear), linear.shape[1]
        variance = self.variances[client]
        if variance == 0:
            return ExactOracle().draws(client, linear)
        length = arithmetic.upper_sqrt(variance)
        moved = variance / (length * length)
        if arithmetic is FLOAT and moved > 1 - 1e-12:
            # A probability below this is rounding error.
            moved = arithmetic.number(1, "one")
        signed = length * np.concatenate(
            [arithmetic.identity(size), -arithmetic.identity(size), arithmetic.zeros(1, size)]
        )
        maps = arithmetic.zeros(len(signed), size, size + 1)
        maps[:, :, 0] = signed
        probabilities = arithmetic.array([moved / (2 * size)] * (2 * size) + [1 - moved])
        possible = probabilities > 0
        return Draws(probabilities[possible], maps[possible])

    def step_bound(self, hessians: Array, linear: Array) -> StepBound:
        without = ExactOracle().step_bound(hessians, linear)
        reach = arithmetic_of(hessians).upper_sqrt(self.variances.max())
        return replace(without, push=without.push + reach, law="for noise of bounded support with these moments, ")

    def select_clients(self, clients: Sequence[int]) -> AdditiveNoise:
        return AdditiveNoise(self.variances[list(clients)])

    def as_floats(self) -> AdditiveNoise:
        return AdditiveNoise(FLOAT.array(self.variances))
