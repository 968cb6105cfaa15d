"""Mini-batches of a client's own data: multiplicative noise with exact second moments."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import FLOAT, Arithmetic, Array, Number, arithmetic_of, product
from fedtheory.errors import NotApplicable
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles.base import Draws, Oracle, StepBound
from fedtheory.federation.oracles.fourth_moments import MOST_NUMBERS, FourthMoments, are_cheaper, count_fourth_moments

_MOST_BATCHES = 1000
_FEW_ROWS = 64
"""Number of rows up to which clients with equally many rows are computed together."""


def _weigh_squares(vectors: Array, weights: Array) -> Array:
    """Return ``4/n sum_j weights_j v_j v_j'`` of the vectors v_j (..., n, a) with weights (..., n), (..., a, a)."""
    squares: Array = 4 * product(vectors.swapaxes(-1, -2), weights[..., None] * vectors) / vectors.shape[-2]
    return squares


def _count_samples(chosen: Array, samples: int) -> Array:
    """Count each sample among the `chosen` ones (R, B); returns (R, n)."""
    places = chosen + samples * np.arange(len(chosen))[:, None]
    return np.bincount(places.ravel(), minlength=len(chosen) * samples).reshape(len(chosen), samples)


@dataclass(frozen=True)
class MiniBatch(Oracle):
    """Mini-batches of a client's own data, for ``F_i(w) = (1/n_i) sum_j (w'x_ij - y_ij)^2``.

    The gradient of one sample is ``2 x_j (w'x_j - y_j)``.  A batch of B samples
    has the covariance of one sample divided by B, times ``(n-B)/(n-1)`` if
    drawn without replacement.  The gradient of a ridge is the same for all
    samples, and adds no noise.
    """

    data: ClientData = field(repr=False)
    batch: int
    replacement: bool
    depends_on_model = True

    def covariances(self, moments: Array, gradients: Array) -> Array:
        per_sample = np.empty_like(gradients)
        for clients, residuals in self._stacks:
            weights = (product(residuals, moments[..., clients, :, :]) * residuals).sum(axis=-1)
            per_sample[..., clients, :, :] = _weigh_squares(residuals[..., 1:], weights)
        for client in self._not_in_stacks:
            per_sample[..., client, :, :] = self._compute_sample_moments(client, moments[..., client, :, :])
        return (per_sample - self._compute_sample_share(moments, gradients, lambda: self._mean_maps)) * self._shrinkages

    def pull_back(self, forms: Array, gradients: Array) -> Array:
        per_sample = np.empty_like(gradients)
        for clients, residuals in self._stacks:
            inputs = residuals[..., 1:]
            per_sample[clients] = _weigh_squares(residuals, (product(inputs, forms[clients]) * inputs).sum(axis=-1))
        for client in self._not_in_stacks:
            per_sample[client] = self._pull_back_one(client, forms[client])
        share = self._compute_sample_share(forms, gradients, lambda: self._mean_maps.transpose(0, 2, 1))
        return (per_sample - share) * self._shrinkages

    def _compute_sample_moments(self, client: int, moments: Array) -> Array:
        """Return second moments (..., d, d) of one sample's gradient at points with second moments (..., d+1, d+1)."""
        if client in self.fourth_moments:
            return self.fourth_moments[client].compute_gradient_moments(moments)
        residuals = self._build_residuals(client)
        return _weigh_squares(residuals[:, 1:], (product(residuals, moments) * residuals).sum(axis=-1))

    def _pull_back_one(self, client: int, form: Array) -> Array:
        """Return the expectation of a form (d, d) in one sample's gradient, as a form in (1, x), (d+1, d+1)."""
        if client in self.fourth_moments:
            return self.fourth_moments[client].pull_back(form)
        residuals = self._build_residuals(client)
        inputs = residuals[:, 1:]
        return _weigh_squares(residuals, (product(inputs, form) * inputs).sum(axis=1))

    @property
    def sample_products(self) -> int:
        dimension = int(self.data.inputs[0].shape[1])
        each = dimension * dimension + (dimension + 1) * (dimension + 1)
        return each * sum(map(len, self.data.outputs))

    def prepare(self, evaluations: int) -> MiniBatch:
        dimension = self.data.inputs[0].shape[1]
        is_float = arithmetic_of(self.data.inputs[0]) is FLOAT
        room = MOST_NUMBERS // count_fourth_moments(dimension) - len(self.fourth_moments) if is_float else 0
        counts = {client: len(outputs) for client, outputs in enumerate(self.data.outputs)}
        unknown = sorted(counts.keys() - self.fourth_moments.keys(), key=counts.__getitem__, reverse=True)
        for client in unknown[:room]:
            if are_cheaper(counts[client], dimension, evaluations):
                self.fourth_moments[client] = FourthMoments.from_rows(
                    self.data.inputs[client], self.data.outputs[client]
                )
        return self

    @cached_property
    def fourth_moments(self) -> dict[int, FourthMoments]:
        """Cached fourth moments, by client."""
        return {}

    def _compute_sample_share(self, moments: Array, gradients: Array, find_maps: Callable[[], Array]) -> Array:
        """Return the part of the squared full gradients in the sample average: all of it without a ridge."""
        if self.data.ridge == 0:
            return gradients
        maps = find_maps()
        return maps @ moments @ maps.transpose(0, 2, 1)

    @cached_property
    def _mean_maps(self) -> Array:
        """Return the average gradient of each client's samples as a map of (1, x), (M, d, d+1)."""
        return np.stack([2 * product(x.T, np.column_stack([-y, x])) / len(y) for x, y in self.data])

    def _build_residuals(self, client: int) -> Array:
        """Return a client's samples as linear forms in (1, x), (n_i, d+1)."""
        if client not in self._residual_cache:
            self._residual_cache[client] = np.column_stack([-self.data.outputs[client], self.data.inputs[client]])
        return self._residual_cache[client]

    @cached_property
    def _residual_cache(self) -> dict[int, Array]:
        """Cached residuals of each client's rows."""
        return {}

    @cached_property
    def _stacks(self) -> list[tuple[list[int], Array]]:
        """In floats, groups of clients with equally few rows, and their residuals (G, n, d+1)."""
        if arithmetic_of(self.data.inputs[0]) is not FLOAT:
            return []
        by_rows: dict[int, list[int]] = {}
        for client, own in enumerate(self.data.outputs):
            if len(own) <= _FEW_ROWS and client not in self.fourth_moments:
                by_rows.setdefault(len(own), []).append(client)
        alike = [clients for clients in by_rows.values() if len(clients) > 1]
        inputs, outputs = self.data.inputs, self.data.outputs
        return [
            (some, np.dstack([-np.stack([outputs[i] for i in some]), np.stack([inputs[i] for i in some])]))
            for some in alike
        ]

    @cached_property
    def _not_in_stacks(self) -> list[int]:
        """The clients that are computed one by one."""
        stacked = {client for clients, _ in self._stacks for client in clients}
        return [client for client in range(len(self.data.outputs)) if client not in stacked]

    @cached_property
    def _shrinkages(self) -> Array:
        """The `shrinkage` of each client, (M, 1, 1)."""
        arithmetic = arithmetic_of(self.data.inputs[0])
        return arithmetic.array([self.shrinkage(n, arithmetic) for n in range(len(self.data.inputs))])[:, None, None]

    def shrinkage(self, client: int, arithmetic: Arithmetic) -> Number:
        """Return the ratio of the variance of a client's batch average to the variance of one sample."""
        count = len(self.data.outputs[client])
        one = arithmetic.number(1, "one")
        if self.replacement:
            return one / self.batch
        return one * (count - self.batch) / (self.batch * max(count - 1, 1))

    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        noise = np.empty_like(points)
        for client, (inputs, outputs) in enumerate(self.data):
            at = points[..., client, :].reshape(-1, points.shape[-1])
            # Deviation of each sample's weight from its expectation.
            counts = _count_samples(self._draw(len(outputs), len(at), generator), len(outputs))
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
        # With replacement, batches with equal content in different order are counted together.
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

    def translate(self, origin: Array) -> MiniBatch:
        return replace(self, data=self.data.translate(origin))

    def select_clients(self, clients: Sequence[int]) -> MiniBatch:
        some = replace(self, data=self.data.select_clients(clients))
        known = enumerate(clients)
        some.fourth_moments.update({i: self.fourth_moments[c] for i, c in known if c in self.fourth_moments})
        return some

    def step_bound(self, hessians: Array, linear: Array) -> StepBound:
        # A batch's step is an average of single samples' steps, each with curvature 2|x_j|^2 along x_j and the ridge's;
        # the average of their gradients at zero is -b_i, ridge included.
        arithmetic, ridge = arithmetic_of(hessians), self.data.ridge
        steepest = max((inputs * inputs).sum(axis=1).max() for inputs, _ in self.data)
        gradients = [-2 * outputs[:, None] * inputs for inputs, outputs in self.data]
        if ridge != 0:
            gradients = [g - g.sum(axis=0) / len(g) - b for g, b in zip(gradients, linear, strict=True)]
        return StepBound(
            curvature=2 * steepest + ridge,
            push=arithmetic.upper_sqrt(max((g * g).sum(axis=1).max() for g in gradients)),
            contraction=arithmetic.number(0, "zero") + (0 if self.data.free else ridge),
        )

    def as_floats(self) -> MiniBatch:
        return replace(self, data=self.data.as_floats())
