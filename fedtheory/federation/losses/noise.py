"""Two-point noise: one fair coin for each client and local step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, arithmetic_of
from fedtheory.federation.oracles import ExactOracle
from fedtheory.federation.oracles.base import Draws, Oracle, StepBound


@dataclass(frozen=True, eq=False)
class TwoPointNoise(Oracle):
    """``g_i = grad F_i + s_i (1, .., 1)`` or ``grad F_i - s_i (1, .., 1)``, with probability 1/2 each.

    The variance is ``s_i^2 d``.
    """

    sizes: Array = field(repr=False)
    """s_i, (M,), not negative."""
    depends_on_model = False

    def covariances(self, moments: Array, gradients: Array) -> Array:
        covariances: Array = (self.sizes * self.sizes)[:, None, None] + arithmetic_of(moments).zeros(*gradients.shape)
        return covariances

    def pull_back(self, forms: Array, gradients: Array) -> Array:
        constant = gradients - gradients
        constant[:, 0, 0] = forms.sum(axis=(1, 2)) * self.sizes * self.sizes
        return constant

    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        signs = generator.choice([-1.0, 1.0], size=(*points.shape[:-1], 1))
        return np.asarray(signs * self.sizes[:, None] + np.zeros_like(points))

    def outcome(self, client: int, point: Array, generator: np.random.Generator) -> Array:
        noise: Array = point - point + self.sizes[client] * (1 if generator.random() < 0.5 else -1)
        return noise

    def draws(self, client: int, linear: Array) -> Draws:
        arithmetic, size = arithmetic_of(linear), linear.shape[1]
        if self.sizes[client] == 0:
            return ExactOracle().draws(client, linear)
        maps = arithmetic.zeros(2, size, size + 1)
        maps[0, :, 0], maps[1, :, 0] = self.sizes[client], -self.sizes[client]
        return Draws(arithmetic.array([1, 1]) / 2, maps)

    def step_bound(self, hessians: Array, linear: Array) -> StepBound:
        without = ExactOracle().step_bound(hessians, linear)
        largest = self.sizes.max()
        reach = arithmetic_of(hessians).upper_sqrt(largest * largest * linear.shape[1])
        return replace(without, push=without.push + reach)

    def select_clients(self, clients: Sequence[int]) -> TwoPointNoise:
        return TwoPointNoise(self.sizes[list(clients)])

    def as_floats(self) -> TwoPointNoise:
        return TwoPointNoise(FLOAT.array(self.sizes))
