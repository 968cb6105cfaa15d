"""The surrogate objective of a run on scalar losses."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.surrogate import Surrogate
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.losses.line import minimiser
from fedtheory.federation.losses.problem import LossProblem


class LossSurrogate(Surrogate):
    """The objectives of a run's updates, for sums of scalar losses."""

    def __init__(self, problem: LossProblem, algorithm: Algorithm) -> None:
        super().__init__(problem, algorithm)
        self.problem: LossProblem = problem
        self._centred = problem.centred

    def _minimise(self, weights: Array, near: Array) -> Array:
        given = self.problem.given
        is_multiple = weights[0] > 0 and (weights * given.weights[0] == given.weights * weights[0]).all()
        if is_multiple and not given.terms.kind.is_piecewise:
            # A multiple of F has the same minimiser as F.
            return near - near
        try:
            return np.asarray(minimiser(given.terms.mix(weights), near + given.optimum) - given.optimum)
        except InputError:
            raise NotApplicable("a weighted sum of the clients' objectives has no minimizer") from None

    def mixed_value(self, weights: Array, point: Array) -> Number:
        return self._centred.terms.mix(weights).values(point[None])[0]

    def mixed_gradient(self, weights: Array, point: Array) -> Array:
        slope: Array = self._centred.terms.mix(weights).gradients(point[None])[0]
        return slope

    def client_values(self, points: Array) -> Array:
        clients = self._centred.clients
        return self._centred.terms.values(np.repeat(points[..., None, :], clients, axis=-2))

    @cached_property
    def least_client_values(self) -> Array:
        return self._centred.terms.values(self._centred.client_optima)

    @cached_property
    def types(self) -> Array:
        """Index of the first client with the same terms, for each client, (M,)."""
        # The uncentred objectives are compared, because centring adds rounding errors.
        terms = self.problem.given.terms
        each = zip(terms.owners, terms.coordinates, terms.weights, terms.centres, terms.widths, strict=True)
        rows = list(each)
        sets = [sorted(row[1:] for row in rows if row[0] == client) for client in range(self._centred.clients)]
        return np.array([sets.index(own) for own in sets])
