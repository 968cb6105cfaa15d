"""Mini-batches of a client's own data: multiplicative noise with exact second moments."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array, Number, arithmetic_of
from fedtheory.errors import NotApplicable
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles.base import Draws, Oracle, StepBound

_MOST_BATCHES = 1000


def _weighted_squares(vectors: Array, weights: Array) -> Array:
    """``4/n sum_j weights_j v_j v_j'`` of the vectors v_j (n, a), (a, a)."""
    squares: Array = 4 * (vectors.T @ (weights[:, None] * vectors)) / len(vectors)
    return squares


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

    def covariances(self, moments: Array, gradients: Array) -> Array:
        per_sample = np.empty_like(gradients)
        for client, residuals in enumerate(self._residuals):
            squares = ((residuals @ moments[client]) * residuals).sum(axis=1)
            per_sample[client] = _weighted_squares(residuals[:, 1:], squares)
        return (per_sample - gradients) * self._shrinkages

    def pulled_back(self, forms: Array, gradients: Array) -> Array:
        per_sample = np.empty_like(gradients)
        for client, residuals in enumerate(self._residuals):
            inputs = residuals[:, 1:]
            lengths = ((inputs @ forms[client]) * inputs).sum(axis=1)
            per_sample[client] = _weighted_squares(residuals, lengths)
        return (per_sample - gradients) * self._shrinkages

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
        lengths = [(inputs * inputs).sum(axis=1) for inputs, _ in self.data]
        gradients = [4 * n * y * y for n, (_, y) in zip(lengths, self.data, strict=True)]
        return StepBound(
            curvature=max(2 * n.max() for n in lengths),
            push=arithmetic.upper_sqrt(max(g.max() for g in gradients)),
            contraction=arithmetic.number(0, "zero"),
        )

    def as_floats(self) -> MiniBatch:
        return replace(self, data=self.data.as_floats())
