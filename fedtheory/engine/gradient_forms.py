"""The clients' gradients of a quadratic problem as forms in (1, x), x relative to x*.

Second moments, noise and dissimilarity are quadratic in x: their suprema and
their expectations are computed from these forms.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, Number, map_equal_rows, product, sum_with_weights
from fedtheory.engine.expected_smoothness import find_noise_smoothness
from fedtheory.engine.memo import Memo
from fedtheory.engine.moments.local import Clients, select_oracle
from fedtheory.engine.moments.round_maps import split_clients
from fedtheory.engine.region import bound_suprema_on_ball, bound_supremum_on_ball, may_be_largest
from fedtheory.federation.problem import Problem

Found = TypeVar("Found")
_LEFT_BY_ROUNDING = 1e-13
_FEW = 64
"""Number of forms up to which the suprema of all are computed."""


@dataclass(frozen=True, eq=False)
class GradientForms:
    """Forms of a problem; all but the maps have the shape (M, d+1, d+1)."""

    problem: Problem

    @cached_property
    def maps(self) -> Array:
        """grad F_i as maps of (1, x), (M, d, d+1)."""
        return self.problem.centred.gradient_maps

    @cached_property
    def squares(self) -> Array:
        """|grad F_i(x)|^2."""
        return _square_maps(self.maps)

    @cached_property
    def noise(self) -> Array:
        """E|g_i(x) - grad F_i(x)|^2."""
        problem = self.problem
        if not problem.oracle.depends_on_model:
            # Noise does not depend on the gradients, which are not linear maps for other losses.
            size, identities = problem.dimension + 1, self._list_identities(problem.clients)
            return problem.oracle.pull_back(identities, problem.arithmetic.zeros(problem.clients, size, size))
        blocks = [self._find_noise(clients) for clients in split_clients(problem)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _find_noise(self, clients: Clients) -> Array:
        """Return the noise of some clients as forms, (C, d+1, d+1)."""
        squares = self.squares[clients]
        forms = select_oracle(self.problem.centred, clients).pull_back(self._list_identities(len(squares)), squares)
        if self.problem.arithmetic is not FLOAT:
            return forms
        # If all samples give the same gradient, E|g_i|^2 minus its square is rounding error.
        sizes = np.sqrt(np.maximum((squares + forms).diagonal(axis1=1, axis2=2), 0))
        return np.where(np.abs(forms) <= _LEFT_BY_ROUNDING * sizes[:, :, None] * sizes[:, None, :], 0.0, forms)

    def _list_identities(self, count: int) -> Array:
        return np.stack([self.problem.arithmetic.identity(self.problem.dimension)] * count)

    @cached_property
    def noise_smoothness(self) -> Number:
        """The smallest l that bounds the noise of one sample by the curvature of every client."""
        return find_noise_smoothness(self.problem, self.noise)

    @cached_property
    def stochastic(self) -> Array:
        """E|g_i(x)|^2."""
        forms: Array = self.squares + self.noise
        return forms

    @cached_property
    def deviations(self) -> Array:
        """Forms of |grad F_i(x) - grad F(x)|^2, one for each client."""
        return _square_maps(self.maps - sum_with_weights(self.problem.weights, self.maps))

    def growth(self, factor: Number) -> Array:
        """sum_i p_i |grad F_i(x)|^2 - factor^2 |grad F(x)|^2, one form."""
        weights = self.problem.weights
        shared = _square_maps(sum_with_weights(weights, self.maps)[None])
        forms: Array = sum_with_weights(weights, self.squares)[None] - factor * factor * shared
        return forms

    def largest_supremum(self, forms: Array, radius: Number) -> Number:
        """Return the largest of `suprema`; in floats, only forms that may attain it are computed."""
        if forms.dtype == object or len(forms) <= _FEW:
            return max(self.suprema(forms, radius))

        def find() -> Number:
            curvatures = self._compute_once("curvatures", forms, lambda: FLOAT.largest_eigenvalues(forms[:, 1:, 1:]))
            return max(bound_suprema_on_ball(forms[may_be_largest(forms, curvatures, radius)], radius))

        return self._compute_once(("largest", radius), forms, find)

    def suprema(self, forms: Array, radius: Number) -> Array:
        """Return the supremum of each of the forms over the points within a radius of x*, (M,), cached."""

        def bound_on_ball(form: Array) -> Number:
            return bound_supremum_on_ball(form[1:, 1:], form[1:, 0], form[0, 0], radius)

        def find() -> Array:
            if forms.dtype != object and len(forms) > _FEW:
                return bound_suprema_on_ball(forms, radius)
            return self.problem.arithmetic.array(map_equal_rows(bound_on_ball, forms))

        return self._compute_once(("suprema", radius), forms, find)

    def are_constant(self, forms: Array) -> bool:
        """Return whether none of the forms depends on x, up to rounding in floats, cached."""

        def find() -> bool:
            parts = (forms[:, 1:, 1:], forms[:, 1:, :1])
            if forms.dtype == object:
                return all(bool((part == 0).all()) for part in parts)
            rounding = (_LEFT_BY_ROUNDING * np.abs(self.problem.hessian).max()) ** 2
            return all(bool(np.abs(part).max() <= rounding) for part in parts)

        return self._compute_once("constant", forms, find)

    @cached_property
    def _memo(self) -> Memo:
        return Memo()

    def _compute_once(self, what: Hashable, forms: Array, find: Callable[[], Found]) -> Found:
        """Return the value of these forms, computed at first use; forms are kept, so that their identities differ."""
        return self._memo.compute_once((what, id(forms)), lambda: (forms, find()))[1]


def evaluate_forms(forms: Array, points: Array) -> Array:
    """Forms in (1, x), (C, d+1, d+1), at centred points (..., d): (..., C)."""
    one = np.ones_like(points[..., :1])
    homogeneous = np.concatenate([one, points], axis=-1)[..., None, :]
    lifted = product(forms, homogeneous[..., None])[..., 0]
    values: Array = (lifted * homogeneous).sum(axis=-1)
    return values


def _square_maps(maps: Array) -> Array:
    """|map (1, x)|^2 as forms: (M, d+1, d+1) from (M, d, d+1)."""
    return product(maps.transpose(0, 2, 1), maps)
