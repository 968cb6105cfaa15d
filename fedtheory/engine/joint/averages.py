"""Client averages of the clients' vectors, and the distance of each client from the average."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array, Number, sum_with_weights
from fedtheory.engine.joint.layout import VectorLayout
from fedtheory.engine.joint.moments import ClientVectors, Joint, compute_excess, correlate_sum
from fedtheory.engine.joint.parameters import RoundParameters
from fedtheory.engine.moments.local import embed_covariances
from fedtheory.kernel.expressions import Average


@dataclass(frozen=True, eq=False)
class Averaged:
    """``vbar = sum_i p_i v_i`` of ``v_i = shared @ (1, s) + own @ c_i`` plus independent noise of each client."""

    joint: Joint
    totals: Array
    """Sum of p_i over the clients of each class, (G,)."""
    shares: Array
    """p_i of one client of each class, (G,)."""
    each: ClientVectors
    """v_i, d rows."""
    shared: Array
    """Coefficients of (1, s) in the average, (d, a)."""
    noise: Array | None = None
    """Covariances of the noise in v_i, (G, d, d); None without noise."""

    @cached_property
    def moment(self) -> Array:
        """E (1, vbar)(1, vbar)', (d+1, d+1)."""
        shared, known = self.shared, self.shared @ self.joint.shared
        second, first = known @ shared.T, known[:, 0]
        if self.each.own.size:
            crossed = self._sum.shared[0]
            second, first = second + crossed @ shared.T + shared @ crossed.T, first + crossed[:, 0]
        moment = embed_covariances(
            second if self._single_moments is None else second + self._sum_single_moments(self._single_moments)
        )
        moment[0, 0] = self.joint.shared[0, 0]
        moment[1:, 0] = moment[0, 1:] = first
        return moment

    @cached_property
    def deviations(self) -> Array:
        """E|v_i - vbar|^2 for each class of clients, (G,)."""
        away = self.each.shared - self.shared
        distances: Array = ((away @ self.joint.shared) * away).sum(axis=(1, 2))
        own = self.each.own
        if own.size:
            crossed = own @ self.joint.cross - self._sum.shared[0]
            squares = own @ self.joint.same_kind @ own.transpose(0, 2, 1) - 2 * self._cross_moments
            distances = distances + 2 * (crossed * away).sum(axis=(1, 2)) + _compute_traces(squares)
        if self._single_moments is not None:
            own_second = self._sum_single_moments(self._single_moments).trace()
            distances = distances + own_second + (1 - 2 * self.shares) * _compute_traces(self._single_moments)
        return distances

    @property
    def spread(self) -> Number:
        """E sum_i p_i |v_i - vbar|^2."""
        return self.totals @ self.deviations

    @cached_property
    def _sum(self) -> ClientVectors:
        """The average of the terms own @ c_i, in its correlations with (1, s) and with each client."""
        nothing = self.each.shared[:1] - self.each.shared[:1]
        return correlate_sum(self.joint, ClientVectors(nothing, self.each.own), self.totals, nothing[0])

    @cached_property
    def _cross_moments(self) -> Array:
        """E of the average's term own @ c times that of another client of each class, (G, d, d)."""
        beside: Array = self._sum.own @ self.each.own.transpose(0, 2, 1)
        return beside

    @cached_property
    def _single_moments(self) -> Array | None:
        """The second moment of v_i that is not shared with other clients of the class, (G, d, d)."""
        own = self.each.own
        if not own.size:
            return self.noise
        alone = compute_excess(self.joint, own, own)
        return alone if self.noise is None else alone + self.noise

    def _sum_single_moments(self, alone: Array) -> Array:
        """Return the second moment of the average that comes from single clients, (d, d)."""
        found = sum_with_weights(self.totals * self.shares, alone)
        return found + sum_with_weights(self.totals, self._cross_moments) if self.each.own.size else found


def find_model_maps(parameters: RoundParameters, layout: VectorLayout) -> tuple[Array, Array]:
    """Return the coefficients of (1, s), (d, a), and of each c_i, (G, d, b), in the model relative to the centre."""
    definition, arithmetic, d = parameters.definition, parameters.arithmetic, layout.dimension
    shared, own = arithmetic.zeros(d, layout.shared), arithmetic.zeros(len(parameters.kinds.counts), d, layout.own)
    numbers = parameters.evaluate(0, 0, dict.fromkeys(definition.coins, 0))
    for part, scale in layout.parts(definition.model, definition.model).items():
        factor = parameters.value(scale, numbers)
        inside = layout.parts(part, part.args[0]) if isinstance(part, Average) else {part: 1}
        for vector, share in inside.items():
            block = factor * parameters.value(share, numbers) * arithmetic.identity(d)
            place = layout.places[vector]
            if vector in definition.server:
                shared[:, place] = shared[:, place] + block
            else:
                moved = slice(place.start - layout.shared, place.stop - layout.shared)
                own[:, :, moved] = own[:, :, moved] + block
    off = layout.offset(definition.model, definition.model) - 1
    if off != 0:
        shared[:, 0] = shared[:, 0] + parameters.value(off, numbers) * parameters.problem.centre
    return shared, own


def _compute_traces(matrices: Array) -> Array:
    """Return the traces (G,) of matrices (G, d, d)."""
    traces: Array = np.trace(matrices, axis1=1, axis2=2)
    return traces
