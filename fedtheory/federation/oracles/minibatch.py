"""Mini-batches of a client's own data: multiplicative noise with exact second moments."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array, Number, arithmetic_of, product
from fedtheory.errors import NotApplicable
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles.base import Draws, Oracle, StepBound

_MOST_BATCHES = 1000


def _weighted_squares(vectors: Array, weights: Array) -> Array:
    """``4/n sum_j weights_j v_j v_j'`` of the vectors v_j (n, a) with weights (..., n), (..., a, a)."""
    squares: Array = 4 * product(vectors.T, weights[..., None] * vectors) / len(vectors)
    return squares


def _counts(chosen: Array, samples: int) -> Array:
    """How often each sample is among those that are `chosen` (R, B), (R, n)."""
    places = chosen + samples * np.arange(len(chosen))[:, None]
    return np.bincount(places.ravel(), minlength=len(chosen) * samples).reshape(len(chosen), samples)


@dataclass(frozen=True)
class MiniBatch(Oracle):
    """Mini-batches of a client's own data, for ``F_i(w) = (1/n_i) sum_j (w'x_ij - y_ij)^2``.

    The gradient of one sample is ``2 x_j (w'x_j - y_j)``.  A batch of B samples
    has the covariance of one sample divided by B, times ``(n-B)/(n-1)`` when
    drawn without replacement.  The gradient of a ridge is the same for all
    samples, and no noise.
    """

    data: ClientData = field(repr=False)
    batch: int
    replacement: bool
    depends_on_model = True

    def covariances(self, moments: Array, gradients: Array) -> Array:
        per_sample = np.empty_like(gradients)
        for client, residuals in enumerate(self._residuals):
            squares = (product(residuals, moments[..., client, :, :]) * residuals).sum(axis=-1)
            per_sample[..., client, :, :] = _weighted_squares(residuals[:, 1:], squares)
        return (per_sample - self._of_samples(moments, gradients, self._mean_maps)) * self._shrinkages

    def pulled_back(self, forms: Array, gradients: Array) -> Array:
        per_sample = np.empty_like(gradients)
        for client, residuals in enumerate(self._residuals):
            inputs = residuals[:, 1:]
            lengths = (product(inputs, forms[client]) * inputs).sum(axis=1)
            per_sample[client] = _weighted_squares(residuals, lengths)
        pushes = self._mean_maps.transpose(0, 2, 1)
        return (per_sample - self._of_samples(forms, gradients, pushes)) * self._shrinkages

    def _of_samples(self, moments: Array, gradients: Array, maps: Array) -> Array:
        """What of the squared full gradients belongs to the mean over samples: without a ridge all of it."""
        return gradients if self.data.ridge == 0 else maps @ moments @ maps.transpose(0, 2, 1)

    @cached_property
    def _mean_maps(self) -> Array:
        """Of each client's samples, the mean gradient as a map of (1, x), (M, d, d+1)."""
        return np.stack([2 * product(residuals[:, 1:].T, residuals) / len(residuals) for residuals in self._residuals])

    @cached_property
    def _residuals(self) -> list[Array]:
        """Of each client's samples, as linear forms in (1, x), (n_i, d+1)."""
        return [np.column_stack([-outputs, inputs]) for inputs, outputs in self.data]

    @cached_property
    def _shrinkages(self) -> Array:
        """Of all clients, (M, 1, 1)."""
        arithmetic = arithmetic_of(self.data.inputs[0])
        return arithmetic.array([self.shrinkage(n, arithmetic) for n in range(len(self.data.inputs))])[:, None, None]

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
            # How much more each sample counts than in the mean over all of them.
            counts = _counts(self._draw(len(outputs), len(at), generator), len(outputs))
            weights = counts / self.batch - 1 / len(outputs)
            found = 2 * (weights * (at @ inputs.T - outputs)) @ inputs
            noise[..., client, :] = found.reshape(points[..., client, :].shape)
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

    def draws(self, client: int, linear: Array) -> Draws:
        inputs, outputs = self.data.inputs[client], self.data.outputs[client]
        count = len(outputs)
        # With replacement, batches of equal content in another order are counted together.
        batches = count**self.batch if self.replacement else math.comb(count, self.batch)
        if batches > _MOST_BATCHES:
            raise NotApplicable(f"client {client} has more than {_MOST_BATCHES} mini-batches to enumerate")
        ordered = itertools.product(range(count), repeat=self.batch)
        sets = itertools.combinations(range(count), self.batch)
        chosen = Counter(tuple(sorted(batch)) for batch in (ordered if self.replacement else sets))
        gradients = 2 * inputs[:, :, None] * np.column_stack([-outputs, inputs])[:, None, :]
        mean = gradients.sum(axis=0) / count
        maps = np.stack([gradients[list(batch)].sum(axis=0) / self.batch - mean for batch in chosen])
        arithmetic = arithmetic_of(linear)
        return Draws(arithmetic.array(list(chosen.values())) / arithmetic.number(chosen.total(), "batches"), maps)

    def translated(self, origin: Array) -> MiniBatch:
        return replace(self, data=self.data.translated(origin))

    def of(self, clients: Sequence[int]) -> MiniBatch:
        return replace(self, data=self.data.of(clients))

    def step_bound(self, hessians: Array, linear: Array) -> StepBound:
        # A batch's step is an average of single samples' steps, each with curvature 2|x_j|^2 along x_j.
        arithmetic = arithmetic_of(hessians)
        # A ridge adds its curvature to every step.
        arithmetic, ridge = arithmetic_of(hessians), self.data.ridge
        steepest = max((inputs * inputs).sum(axis=1).max() for inputs, _ in self.data)
        gradients = [self._gradients_at_zero(client, linear[client]) for client in range(len(linear))]
        return StepBound(
            curvature=2 * steepest + ridge,
            push=arithmetic.upper_sqrt(max((g * g).sum(axis=1).max() for g in gradients)),
            contraction=arithmetic.number(0, "zero") + (0 if self.data.free else ridge),
        )

    def _gradients_at_zero(self, client: int, linear: Array) -> Array:
        """Of each sample of a client with b_i = `linear` (d,), the gradient at zero with the ridge's part, (n_i, d)."""
        inputs, outputs = self.data.inputs[client], self.data.outputs[client]
        gradients: Array = -2 * outputs[:, None] * inputs
        return gradients if self.data.ridge == 0 else gradients - gradients.sum(axis=0) / len(outputs) - linear

    def as_floats(self) -> MiniBatch:
        return replace(self, data=self.data.as_floats())
