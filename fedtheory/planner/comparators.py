"""The comparator of a run at any step size, number of local steps and rounds: numbers that follow from these three."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.engine.run import Run
from fedtheory.federation.problem.quadratic import weighted_sum
from fedtheory.language import quantities as q

GAP, DISTANCE, NOISE, DISSIMILARITY = (
    notion.name
    for notion in (q.comparator_suboptimality, q.comparator_distance, q.comparator_noise, q.comparator_dissimilarity)
)
NAMES = frozenset({GAP, DISTANCE, NOISE, DISSIMILARITY})


@dataclass(frozen=True)
class ComparedWith:
    """The point y that a bound compares a run with."""

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
    noise: Array
    """sum_i p_i E|g_i - grad F_i|^2 as a form in (1, x - x*), (d+1, d+1)."""
    dissimilarity: Array
    """sum_i p_i |grad F_i - grad F|^2, likewise."""
    found: dict[float, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run) -> Comparators:
        """Those of a run on quadratics, in floats."""
        run = run.as_floats()
        curvatures, axes = np.linalg.eigh(plain_floats(run.problem.hessian))
        turned = np.eye(len(axes) + 1)
        turned[1:, 1:] = axes
        forms = (run.noise_forms, run.gradient_forms.apart)
        noise, apart = (turned.T @ weighted_sum(run.problem.weights, form) @ turned for form in forms)
        return cls(np.maximum(curvatures, 0), axes.T @ run.problem.centred.start, noise, apart)

    def numbers(self, time: float) -> Mapping[str, float]:
        """The numbers of the comparator, by name."""
        if time not in self.found:
            self.found[time] = self._at(time)
        return self.found[time]

    def compared_with(self, time: float) -> ComparedWith:
        """The comparator as people are shown it."""
        numbers = self.numbers(time)
        return ComparedWith(numbers[GAP], numbers[DISTANCE] ** 2)

    def _at(self, time: float) -> dict[str, float]:
        point = self.start / (1 + time * self.curvatures)
        lifted, away = np.concatenate([[1.0], point]), self.start - point
        squares = (away @ away, lifted @ self.noise @ lifted, lifted @ self.dissimilarity @ lifted)
        roots = (math.sqrt(max(float(square), 0.0)) for square in squares)
        gap = float(self.curvatures @ point**2) / 2
        return dict(zip((GAP, DISTANCE, NOISE, DISSIMILARITY), (gap, *roots), strict=True))
