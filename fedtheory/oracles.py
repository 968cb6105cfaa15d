"""Gradient oracles: what a client sees when it asks for its gradient.

Each oracle is unbiased, and its noise covariance is an affine function of the
second moment of the point it is asked at, which is what keeps expectations in
closed form.  Points are homogeneous, ``(1, x)``, so that one (d+1, d+1) matrix
holds mean and covariance together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array, Number, arithmetic_of
from fedtheory.client_data import ClientData


class Oracle(ABC):
    """An unbiased stochastic gradient for each of M clients in d dimensions."""

    depends_on_model: bool
    """Whether the noise covariance changes with the point (multiplicative noise)."""

    @abstractmethod
    def covariances(self, moments: Array) -> Array:
        """Noise covariances (M, d, d), averaged over points with second moments `moments` (M, d+1, d+1)."""

    @abstractmethod
    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        """Noise vectors (..., M, d) at float points (..., M, d): one independent draw for each."""

    @abstractmethod
    def outcome(self, client: int, point: Array, generator: np.random.Generator) -> Array:
        """One outcome (d,) of a client's noise at a point, in the point's arithmetic."""

    def translated(self, _origin: Array) -> Oracle:
        """The same oracle in coordinates whose zero is the given point."""
        return self


@dataclass(frozen=True)
class ExactOracle(Oracle):
    """Full gradients, no noise."""

    depends_on_model = False

    def covariances(self, moments: Array) -> Array:
        clients, size, _ = moments.shape
        return arithmetic_of(moments).zeros(clients, size - 1, size - 1)

    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        return np.zeros_like(points)

    def outcome(self, client: int, point: Array, generator: np.random.Generator) -> Array:
        return point - point


@dataclass(frozen=True)
class AdditiveNoise(Oracle):
    """Isotropic noise of variance ``E|g_i - grad F_i|^2 = variance[i]``, fresh at every step.

    Moments need no more than the variance.  Where a single outcome or a bounded
    law is needed, it is: a random axis, a random sign, length ``sqrt(variance)``.
    """

    variances: Array = field(repr=False)
    depends_on_model = False

    def covariances(self, moments: Array) -> Array:
        size = moments.shape[-1] - 1
        isotropic = arithmetic_of(moments).identity(size)
        covariances: Array = self.variances[:, None, None] * isotropic / size
        return covariances

    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        deviations = np.sqrt(self.variances / points.shape[-1])
        noise: Array = generator.standard_normal(points.shape) * deviations[:, None]
        return noise

    def outcome(self, client: int, point: Array, generator: np.random.Generator) -> Array:
        noise = point - point
        sign = 1 if generator.random() < 0.5 else -1
        noise[generator.integers(len(point))] = sign * arithmetic_of(point).upper_sqrt(self.variances[client])
        return noise


@dataclass(frozen=True)
class MiniBatch(Oracle):
    """Mini-batches of a client's own data, for ``F_i(w) = (1/n_i) sum_j (w'x_ij - y_ij)^2``.

    The gradient of one sample is ``2 x_j (w'x_j - y_j)``.  A batch of B samples
    has the covariance of one sample divided by B, times ``(n-B)/(n-1)`` when
    drawn without replacement.
    """

    data: ClientData = field(repr=False)
    batch: int
    replacement: bool
    depends_on_model = True

    def covariances(self, moments: Array) -> Array:
        return np.stack([self._covariance(client, moment) for client, moment in enumerate(moments)])

    def _covariance(self, client: int, moment: Array) -> Array:
        inputs, outputs = self.data.inputs[client], self.data.outputs[client]
        homogeneous = np.column_stack([-outputs, inputs])
        squared_residuals = ((homogeneous @ moment) * homogeneous).sum(axis=1)
        per_sample = 4 * (inputs.T @ (squared_residuals[:, None] * inputs)) / len(inputs)
        gradient = 2 * (inputs.T @ homogeneous) / len(inputs)
        covariance = (per_sample - gradient @ moment @ gradient.T) * self.shrinkage(client, arithmetic_of(moment))
        symmetric: Array = (covariance + covariance.T) / 2
        return symmetric

    def shrinkage(self, client: int, arithmetic: Arithmetic) -> Number:
        """Variance of a client's batch mean over the variance of one sample."""
        count = len(self.data.outputs[client])
        one = arithmetic.number(1, "one")
        if self.replacement:
            return one / self.batch
        return one * (count - self.batch) / (self.batch * max(count - 1, 1))

    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        noise = np.empty_like(points)
        for client, (inputs, outputs) in enumerate(self.data):
            at = points[..., client, :].reshape(-1, points.shape[-1])
            chosen = self._draw(len(outputs), len(at), generator)
            residuals = np.einsum("rbd,rd->rb", inputs[chosen], at) - outputs[chosen]
            gradients = 2 * np.einsum("rb,rbd->rd", residuals, inputs[chosen]) / self.batch
            full = 2 * (at @ inputs.T - outputs) @ inputs / len(outputs)
            noise[..., client, :] = (gradients - full).reshape(points[..., client, :].shape)
        return noise

    def _draw(self, count: int, replicas: int, generator: np.random.Generator) -> Array:
        if self.replacement:
            return generator.integers(count, size=(replicas, self.batch))
        return generator.random((replicas, count)).argpartition(self.batch - 1, axis=1)[:, : self.batch]

    def outcome(self, client: int, point: Array, generator: np.random.Generator) -> Array:
        inputs, outputs = self.data.inputs[client], self.data.outputs[client]
        chosen = self._draw(len(outputs), 1, generator)[0]
        gradients = 2 * (inputs @ point - outputs)[:, None] * inputs
        batch_mean: Array = gradients[chosen].sum(axis=0) / self.batch - gradients.sum(axis=0) / len(outputs)
        return batch_mean

    def translated(self, origin: Array) -> MiniBatch:
        return replace(self, data=self.data.translated(origin))
