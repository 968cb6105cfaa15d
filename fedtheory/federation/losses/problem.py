"""A federated problem whose objectives are sums of scalar losses of single coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import ENCLOSED, FLOAT, Arithmetic, Array, Number
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.losses.line import minimiser
from fedtheory.federation.losses.loss_terms import Terms
from fedtheory.federation.losses.noise import TwoPointNoise
from fedtheory.federation.oracles import ExactOracle, Oracle
from fedtheory.federation.problem.checks import require_weights, uniform_weights
from fedtheory.federation.problem.nonquadratic import NonquadraticProblem


class LossProblem(NonquadraticProblem):
    """``F_i(x) = sum_j a_ij phi(x[c_ij] - b_ij)`` of M clients in d dimensions, without constant matrices.

    Attributes that only quadratics have raise `NotApplicable`.
    """

    terms: Terms
    given: LossProblem
    """The problem in its original coordinates, in which all its data are exact."""

    def __init__(self, terms: Terms, weights: Array, start: Array, oracle: Oracle) -> None:
        # Attributes of quadratic problems are not set.
        self.__dict__.update(terms=terms, weights=weights, start=start, oracle=oracle, data=None)
        self.__dict__["description"] = f"{terms.kind.name} losses"
        self.__dict__["given"] = self
        _check(self)

    @property
    def clients(self) -> int:
        """Number of clients M."""
        return len(self.weights)

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the arrays; enclosures if the losses have irrational values."""
        exact = self.terms.arithmetic.is_rigorous
        return ENCLOSED if exact and not self.terms.kind.is_piecewise else self.terms.arithmetic

    @property
    def has_convex_clients(self) -> bool:
        """Whether each F_i is convex, which no sum of bounded losses is."""
        return self.terms.kind.is_convex

    @property
    def stationary_point(self) -> Array:
        """x*, (d,)."""
        return self.optimum

    @cached_property
    def mean_terms(self) -> Terms:
        """F as one objective."""
        return self.terms.mix(self.weights)

    @cached_property
    def optimum(self) -> Array:
        """x*, (d,): the minimiser of F nearest to the start."""
        try:
            return minimiser(self.mean_terms, self.start)
        except InputError:
            raise InputError("problem.terms", "F has no minimiser: a gradient never changes its sign") from None

    def value(self, point: Array) -> Number:
        """Return F at a point (d,)."""
        return self.mean_terms.values(point[None])[0]

    def gradients(self, points: Array) -> Array:
        """Return gradients of F_i, (..., M, d), at points (..., M, d)."""
        return self.terms.gradients(points)

    def gaps(self, points: Array) -> Array:
        """Return F(x) - F*, (...), at points (..., d)."""
        gaps: Array = self.mean_terms.values(points[..., None, :])[..., 0] - self.optimal_value
        return gaps

    def mean_gradients(self, points: Array) -> Array:
        """Return grad F(x), (..., d), at points (..., d)."""
        slopes: Array = self.mean_terms.gradients(points[..., None, :])[..., 0, :]
        return slopes

    @cached_property
    def centred(self) -> LossProblem:
        """Return the problem in coordinates whose origin is the optimum."""
        at = self.optimum
        centred = LossProblem(self.terms.translate(at), self.weights, self.start - at, self.oracle)
        centred.__dict__.update(optimum=at - at, given=self.given)
        return centred

    def without_cache(self) -> LossProblem:
        """Return the problem without cached values."""
        return LossProblem(self.terms, self.weights, self.start, self.oracle)

    @cached_property
    def client_optima(self) -> Array:
        """A minimiser of each F_i, (M, d), the nearest to x*; raise `NotApplicable` if one has none."""
        if self.given is not self:
            return np.asarray(self.given.client_optima - self.given.optimum)
        optima = self.arithmetic.zeros(self.clients, self.dimension)
        try:
            for client in range(self.clients):
                optima[client] = minimiser(self.terms.select_clients([client]), self.optimum)
        except InputError:
            raise NotApplicable("a client's objective has no minimiser") from None
        return optima

    def with_clients(self, clients: Sequence[int], weights: Array) -> LossProblem:
        """Return the problem of the given clients, in that order and possibly repeated, with other weights."""
        return LossProblem(self.terms.select_clients(clients), weights, self.start, self.oracle.select_clients(clients))

    def as_floats(self) -> LossProblem:
        """Return the problem in double precision."""
        if self.arithmetic is FLOAT:
            return self
        weights, start = FLOAT.array(self.weights), FLOAT.array(self.start)
        return LossProblem(self.terms.as_floats(), weights, start, self.oracle.as_floats())


def build_separable(
    terms: Terms, start: Array, *, clients: int, weights: Array | None = None, noise: Array | None = None
) -> LossProblem:
    """Return a validated problem of M clients with full gradients or two-point noise.

    `noise` holds the sizes s_i, (M,); missing weights are uniform.  An `InputError` names the key of an invalid number;
    it is raised as well if F has no minimiser.
    """
    shares = uniform_weights(terms.arithmetic, clients) if weights is None else weights
    oracle = ExactOracle() if noise is None or not any(noise) else TwoPointNoise(noise)
    _expect(len(shares) == clients, "weights", f"expected {clients} numbers, got {len(shares)}")
    problem = LossProblem(terms, shares, start, oracle)
    _ = problem.optimum
    return problem


def _check(problem: LossProblem) -> None:
    terms, weights, oracle = problem.terms, problem.weights, problem.oracle
    require_weights(weights)
    _expect(all(weight > 0 for weight in terms.weights), "terms", "expected positive weights")
    allowed = all(width > 0 or (width < 0 and terms.kind.can_reflect) for width in terms.widths)
    _expect(allowed, "terms", "expected positive widths")
    inside = all(0 <= coordinate < problem.dimension for coordinate in terms.coordinates)
    _expect(inside, "terms", f"expected coordinates from 0 to {problem.dimension - 1}")
    if isinstance(oracle, TwoPointNoise):
        given, clients = len(oracle.sizes), len(weights)
        _expect(given == clients, "noise", f"expected one number or {clients}, got {given}")
        _expect(all(size >= 0 for size in oracle.sizes), "noise", "expected numbers that are not negative")


def _expect(holds: object, key: str, otherwise: str) -> None:
    if not holds:
        raise InputError(f"problem.{key}", otherwise)
