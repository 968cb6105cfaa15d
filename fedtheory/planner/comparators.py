"""The comparator of a run as a function of step size, number of local steps and rounds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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


class Comparators(ABC):
    """The comparator of a run for each length s = eta tau T: it minimises ``F(y) + |x^0 - y|^2 / (2s)``."""

    def __init__(self) -> None:
        self._measured: dict[float, dict[str, float]] = {}

    def numbers(self, length: float) -> Mapping[str, float]:
        """Return the numbers of the comparator, by name; cached."""
        if length not in self._measured:
            self._measured[length] = self._measure(length)
        return self._measured[length]

    def compute_values(self, length: float) -> ComparatorValues:
        """Return the values of the comparator that are displayed."""
        numbers = self.numbers(length)
        return ComparatorValues(numbers[GAP], numbers[DISTANCE] ** 2)

    @abstractmethod
    def _measure(self, length: float) -> dict[str, float]:
        """Compute the numbers of the comparator, by name."""


class QuadraticComparators(Comparators):
    """``y(s) = x* + (1 + s H)^-1 (x^0 - x*)`` in floats, in coordinates in which the Hessian H of F is diagonal.

    Clients' curvatures are computed if a name needs them.
    """

    def __init__(self, run: Run, names: frozenset[str] = NAMES) -> None:
        super().__init__()
        run = run.as_floats()
        curvatures, axes = np.linalg.eigh(plain_floats(run.problem.hessian))
        rotation = np.eye(len(axes) + 1)
        rotation[1:, 1:] = axes
        self._curvatures = np.maximum(curvatures, 0)
        self._start = axes.T @ run.problem.centred.start
        # Squared values at the comparator, by name, as forms in (1, x - x*), (d+1, d+1).
        self._forms = {name: rotation.T @ form @ rotation for name, form in _list_squares(run, names)}

    def _measure(self, length: float) -> dict[str, float]:
        point = self._start / (1 + length * self._curvatures)
        lifted, away = np.concatenate([[1.0], point]), self._start - point
        squares = {DISTANCE: away @ away, **{name: lifted @ form @ lifted for name, form in self._forms.items()}}
        gap = float(self._curvatures @ point**2) / 2
        return {GAP: gap, **{name: math.sqrt(max(float(square), 0.0)) for name, square in squares.items()}}


def _list_squares(run: Run, names: frozenset[str]) -> Iterator[tuple[str, Array]]:
    """Yield client averages of forms in (1, x - x*), (d+1, d+1), by name."""
    weights, noise, deviations = run.problem.weights, run.noise_forms, run.gradient_forms.deviations
    yield NOISE, sum_with_weights(weights, noise)
    yield DISSIMILARITY, sum_with_weights(weights, deviations)
    if names & CURVED:
        yield CURVED_NOISE, sum_with_weights(weights * run.client_smoothness, noise)
        yield CURVED_DISSIMILARITY, sum_with_weights(weights * run.client_smoothness, deviations)
