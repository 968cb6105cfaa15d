"""Errors of the server's model, computed from its second moments."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.engine.expectations import Divergence, Expectations

_FEW, _GROWN = 16, 2
"""Number of rounds before growth counts, and the growth of E|x - x*|^2 that counts as divergence."""


def describe_growth(radius: float) -> str:
    """Return a sentence on a spectral radius above one."""
    return f"each round multiplies distances by up to {radius:.4g} (the spectral radius of its mean map)"


class ServerTrajectory(Expectations):
    """Second moments of the server's model over n = 0 .. T, and quantities that follow from them."""

    def _measure_moments(self, measure: Callable[[Array], Array]) -> Array:
        """Apply a function to the moments, (N, d+1, d+1): one entry for each."""
        return measure(self.moments)

    def _measure_form(self, form: Array) -> Array:
        """Return E (1, x - c)' form (1, x - c) of the server's model for a form (d+1, d+1), (T+1,)."""
        return self._measure_moments(partial(evaluate_functional, form))

    def _measure_square(self, form: Array) -> Array:
        """Return E (x - c)' form (x - c) for a form (d, d), (T+1,)."""
        return self._measure_moments(lambda moments: evaluate_functional(form, moments[:, 1:, 1:]))

    @cached_property
    def server_mean(self) -> Array:
        return self._measure_moments(lambda moments: moments[:, 1:, 0]) + self.problem.centre

    @cached_property
    def server_suboptimality(self) -> Array:
        form = self.problem.about_optimum.hessian
        return self.problem.require_digits(self._measure_square(form) / 2, form, self._distances_sq)

    @cached_property
    def server_distance_sq(self) -> Array:
        _ = self.problem.about_optimum
        return self._distances_sq

    @cached_property
    def _distances_sq(self) -> Array:
        """E|x^n - c|^2, (T+1,)."""
        return self._measure_moments(lambda moments: moments[:, 1:, 1:].trace(axis1=1, axis2=2))

    @cached_property
    def server_gradient_sq(self) -> Array:
        form = self.problem.gradient_form
        return self.problem.require_digits(self._measure_form(form), form, self._distances_sq)

    @cached_property
    def total_descent(self) -> Any:
        return self._measure_descent(self.moments[-1])

    def _measure_descent(self, last: Array) -> Any:
        """Return F(x^0) - E F of a model with this second moment, (d+1, d+1)."""
        point = np.concatenate([last[:1, 0], self.problem.centred.start])
        return ((np.outer(point, point) - last) * self.problem.value_form).sum()

    @property
    def _cause_of_divergence(self) -> str:
        """Return why a run with these moments diverges."""
        return "the step size is too large" if self.problem.is_bounded_below else "F is unbounded below"

    def growing(self) -> Divergence | None:
        """Return the divergence, if the distances keep growing; used if rounds are not alike."""
        distances = plain_floats(self._distances_sq)
        if len(distances) < _FEW:
            return None
        late, later = (part.max() for part in np.array_split(distances[len(distances) // 2 :], 2))
        if later <= _GROWN * max(late, distances[0]):
            return None
        name = "x*" if self.problem.stationary_point is not None else "x^0"
        grown = f"E|x - {name}|^2 is {later / max(distances[0], 1e-300):.4g} times that of the start"
        return Divergence(None, f"{grown}, and still grows: {self._cause_of_divergence}")


def evaluate_functionals(forms: Array, moments: Array) -> Array:
    """Return ``trace(forms[c]' moments[n])`` for each n and c.

    The shape is (N, C) from (N, a, a), or (N, K, C) from (N, K, a, a).
    """
    size = forms[0].size
    values: Array = moments.reshape(*moments.shape[:-2], size) @ forms.reshape(-1, size).T
    return values


def evaluate_functional(form: Array, moments: Array) -> Array:
    """Return ``trace(form' moments[n])`` for each n: (N,) from (N, a, a), or (N, K) from (N, K, a, a)."""
    size = form.size
    return moments.reshape(*moments.shape[:-2], size) @ form.reshape(size)
