"""The comparator of a run as a function of step size, number of local steps and rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from fedtheory.arithmetic import Array, plain_floats, sum_with_weights
from fedtheory.engine.run import Run
from fedtheory.language import quantities as q

GAP, DISTANCE, NOISE, DISSIMILARITY = (
    quantity.name
    for quantity in (q.comparator_suboptimality, q.comparator_distance, q.comparator_noise, q.comparator_dissimilarity)
)
CURVED_NOISE, CURVED_DISSIMILARITY = q.comparator_curved_noise.name, q.comparator_curved_dissimilarity.name
CURVED = frozenset({CURVED_NOISE, CURVED_DISSIMILARITY})
"""Names of the numbers that need the curvature of every client."""
NAMES = frozenset({GAP, DISTANCE, NOISE, DISSIMILARITY}) | CURVED


@dataclass(frozen=True)
class ComparatorValues:
    """The comparator y of a bound."""

    suboptimality: float
    """F(y) - F*."""
    distance_sq: float
    """|x^0 - y|^2."""


@dataclass(frozen=True, eq=False)
class Comparators:
    """``y(s) = x* + (1 + s H)^-1 (x^0 - x*)`` for s = eta tau T, in the coordinates in which H is diagonal."""

    curvatures: Array
    """Eigenvalues of the Hessian of F, (d,)."""
    start: Array
    """x^0 - x*, (d,)."""
    forms: Mapping[str, Array]
    """Squared values at the comparator, by name, as forms in (1, x - x*), (d+1, d+1)."""
    found: dict[float, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run, names: frozenset[str] = NAMES) -> Comparators:
        """Return the comparators of a run on quadratics, in floats.

        Clients' curvatures are computed if a name needs them.
        """
        run = run.as_floats()
        curvatures, axes = np.linalg.eigh(plain_floats(run.problem.hessian))
        turned = np.eye(len(axes) + 1)
        turned[1:, 1:] = axes
        forms = {name: turned.T @ form @ turned for name, form in _list_squares(run, names)}
        return cls(np.maximum(curvatures, 0), axes.T @ run.problem.centred.start, forms)

    def numbers(self, time: float) -> Mapping[str, float]:
        """Return the numbers of the comparator, by name."""
        if time not in self.found:
            self.found[time] = self._at(time)
        return self.found[time]

    def compared_with(self, time: float) -> ComparatorValues:
        """Return the values of the comparator that are displayed."""
        numbers = self.numbers(time)
        return ComparatorValues(numbers[GAP], numbers[DISTANCE] ** 2)

    def _at(self, time: float) -> dict[str, float]:
        """Return the quantities of the comparator at this time of the gradient flow."""
        point = self.start / (1 + time * self.curvatures)
        lifted, away = np.concatenate([[1.0], point]), self.start - point
        squares = {DISTANCE: away @ away, **{name: lifted @ form @ lifted for name, form in self.forms.items()}}
        gap = float(self.curvatures @ point**2) / 2
        return {GAP: gap, **{name: math.sqrt(max(float(square), 0.0)) for name, square in squares.items()}}


def _list_squares(run: Run, names: frozenset[str]) -> Iterator[tuple[str, Array]]:
    """Yield client averages of forms in (1, x - x*), (d+1, d+1), by name."""
    weights, noise, apart = run.problem.weights, run.noise_forms, run.gradient_forms.deviations
    yield NOISE, sum_with_weights(weights, noise)
    yield DISSIMILARITY, sum_with_weights(weights, apart)
    if names & CURVED:
        yield CURVED_NOISE, sum_with_weights(weights * run.client_smoothness, noise)
        yield CURVED_DISSIMILARITY, sum_with_weights(weights * run.client_smoothness, apart)
