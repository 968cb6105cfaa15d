"""Final errors for many step sizes in closed form, if all rounds are alike.

Local steps with symmetric Hessians are symmetric maps, and so is their weighted average R over clients.  In its
eigenbasis the expectation of the model after n rounds is ``c + lambda^n a``, c its limit, and the covariance of
constant noise adds up to ``G (1 - (lambda_j lambda_l)^n)``.  The error after any number of rounds costs d^2 operations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.moments import rounds_repeat
from fedtheory.engine.moments.local import Clients, select_oracle
from fedtheory.engine.moments.round_maps import split_clients
from fedtheory.engine.run import Run
from fedtheory.federation.problem import Problem
from fedtheory.planner.client_sums import SumsByPolynomials, SumsOverClients

_FLAT = 1e-13
"""Distance of eigenvalues of R from one below which no client moves the model in their direction."""
_FEWEST_FOR_POLYNOMIALS = 256
"""Ratio of the number of all clients' curvatures to twice the local steps from which polynomials cost less."""
_LISTED = 256
"""Number of rounds that are evaluated one by one; beyond it, a subset is evaluated first."""
_MOST = 2**22
"""Limit on the largest array of a batch."""


def has_closed_rounds(run: Run) -> bool:
    """Return whether final errors of a run have this closed form."""
    problem = run.problem
    if not problem.is_quadratic or problem.arithmetic is not FLOAT or not problem.is_bounded_below:
        return False
    return rounds_repeat(problem, run.algorithm)


@dataclass(frozen=True, eq=False)
class RoundsInEigenbasis:
    """Rounds of a run at one step size, in the eigenbasis of the round map; d directions."""

    eigenvalues: Array
    """lambda, (d,)."""
    limit_mean: Array
    """c, (d,): the limit of the expected model, relative to x*."""
    away: Array
    """a, (d,): the start, relative to c."""
    half_hessian: Array
    """Half of the Hessian of F, (d, d)."""
    noise: Array
    """G, (d, d): half of the Hessian times the limit of the covariance, entry by entry."""

    @cached_property
    def radius(self) -> float:
        """The spectral radius of the round map; one if it fixes some directions."""
        return float(np.abs(self.eigenvalues).max(initial=0.0))

    @property
    def bias(self) -> float:
        """The error of the limit of the expectation, caused by drift and unequal work."""
        return float(self.limit_mean @ self.half_hessian @ self.limit_mean)

    @property
    def noise_floor(self) -> float:
        """The limiting error that gradient noise adds."""
        return float(self.noise.sum())

    @property
    def limit(self) -> float:
        """The limit of the error as the number of rounds tends to infinity; infinite if the run diverges."""
        return self.bias + self.noise_floor if self.is_stable else math.inf

    @property
    def is_stable(self) -> bool:
        """Whether the run does not diverge."""
        return self.radius <= 1 + 1e-9

    def errors(self, rounds: Array) -> Array:
        """Return E F(x^n) - F* after n rounds, (N,), for n in `rounds` (N,)."""
        with np.errstate(all="ignore"):
            powers = self.eigenvalues[None, :] ** np.asarray(rounds, dtype=float)[:, None]
            points = self.limit_mean + powers * self.away
            values = ((points @ self.half_hessian) * points).sum(axis=1)
            if self.noise.any():
                values = values + self.noise_floor - ((powers @ self.noise) * powers).sum(axis=1)
        return np.where(np.isfinite(values), np.maximum(values, 0.0), math.inf)

    def error(self, rounds: int) -> float:
        """Return the error after a number of rounds."""
        return float(self.errors(np.array([rounds]))[0])

    def first_below(self, accuracy: float) -> int | None:
        """Return the first round from which the error stays at most `accuracy`; None if there is none."""
        if not self.limit <= accuracy:
            return None
        rounds = self._list_rounds_to_check(accuracy)
        above = np.flatnonzero(self._exceeds(rounds, accuracy))
        if not len(above):
            return 1
        if above[-1] + 1 == len(rounds):
            # The limit equals the target, and is approached from above.
            return None
        low, high = int(rounds[above[-1]]), int(rounds[above[-1] + 1])
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._exceeds(np.array([middle]), accuracy).item() else (low, middle)
        return max(high, 1)

    def _exceeds(self, rounds: Array, accuracy: float) -> Array:
        """Return whether the error is above `accuracy` after some rounds or after one more, (N,).

        If steps overshoot, errors of even and of odd rounds decrease separately, but not together.
        """
        return (self.errors(rounds) > accuracy) | (self.errors(rounds + 1) > accuracy)

    def _list_rounds_to_check(self, accuracy: float) -> Array:
        """Return rounds up to one from which the error is certainly small: all of them, or a subset."""
        once = 2 * float(np.abs((self.half_hessian @ self.limit_mean) * self.away).sum())
        twice = float(np.abs(self.half_hessian * np.outer(self.away, self.away)).sum())
        moving = np.abs(self.eigenvalues)[self.away != 0]
        rate = float(moving[moving < 1 - _FLAT].max(initial=0.0))
        room = accuracy - self.limit
        if rate <= 0 or once + twice <= room:
            return np.arange(3)
        part = 2 * room / (once + math.sqrt(once * once + 4 * twice * room)) if room > 0 else 1e-15
        last = math.ceil(math.log(max(part, 1e-15)) / math.log(rate)) + 1
        if last <= _LISTED:
            return np.arange(last + 1)
        return np.unique(np.geomspace(1, last, _LISTED).astype(np.int64))


def _measure_variances(problem: Problem, clients: Clients) -> Array:
    """Return the variance of some clients' gradients at the optimum in one direction, (C,), averaged over all."""
    linear = problem.linear[clients]
    at_optimum = np.zeros((len(linear), linear.shape[1] + 1, linear.shape[1] + 1))
    at_optimum[:, 0, 0] = 1.0
    covariances = select_oracle(problem, clients).covariances(at_optimum, linear[:, :, None] * linear[:, None, :])
    variances: Array = covariances.diagonal(axis1=1, axis2=2).mean(axis=1)
    return variances


class ClosedRounds:
    """The rounds of a run at any multiple of its step sizes."""

    def __init__(self, run: Run) -> None:
        self.run, problem, algorithm = run, run.problem.about_optimum, run.algorithm
        self._moments = algorithm.aggregation.moments(run.problem.weights)
        self._server = float(algorithm.aggregation.server_step_size)
        self._sizes, self._steps = algorithm.work.step_sizes, np.array(algorithm.work.steps)
        self._curvatures, self._vectors = np.linalg.eigh(problem.hessians)
        variances = np.concatenate([_measure_variances(problem, clients) for clients in split_clients(problem)])
        self._is_noisy = bool(variances.any())
        self._sums = self._choose_sums(problem.linear, self._moments.squares * variances)
        self._start, self._half = problem.start, problem.hessian / 2

    def _choose_sums(self, linear: Array, variances: Array) -> SumsOverClients | SumsByPolynomials:
        """Return sums client by client, or by polynomials if many clients do the same work."""
        parts = (self._curvatures, self._vectors, linear, self._moments.mean, variances)
        steps = int(self._steps.max())
        is_alike = len(set(self._steps.tolist())) == 1 and len(set(self._sizes.tolist())) == 1
        if is_alike and 2 * steps * _FEWEST_FOR_POLYNOMIALS <= self._curvatures.size:
            return SumsByPolynomials(*parts, float(self._sizes[0]), steps)
        return SumsOverClients(*parts, self._sizes, self._steps)

    def scale_steps(self, factor: float) -> RoundsInEigenbasis:
        """Return the rounds with all step sizes multiplied by a factor."""
        return self.scale_steps_by_each([factor])[0]

    def scale_steps_by_each(self, factors: Sequence[float]) -> list[RoundsInEigenbasis]:
        """Return the rounds with all step sizes multiplied by each of several factors."""
        most = max(1, _MOST // self._vectors.size)
        return [
            rounds
            for first in range(0, len(factors), most)
            for rounds in self._diagonalise(np.array(factors[first : first + most]))
        ]

    def _diagonalise(self, factors: Array) -> list[RoundsInEigenbasis]:
        """Return the rounds at the planned step sizes times some factors, by diagonalising the round maps."""
        with np.errstate(all="ignore"):
            maps, drifts = self._sums.compute_moves(factors)
            noise: Iterable[Array | None] = itertools.repeat(None, len(factors))
            if self._is_noisy:
                noise = self._sums.compute_noise(factors) * self._server**2
            found = zip(maps * self._server, drifts * self._server, noise, strict=True)
            return [self._rotate_to_eigenbasis(*each) for each in found]

    def _rotate_to_eigenbasis(self, change: Array, drift: Array, noise: Array | None) -> RoundsInEigenbasis:
        """Return the recursion of a round in the basis of its eigenvectors."""
        if not (np.isfinite(change).all() and np.isfinite(drift).all()):
            none = np.zeros(1)
            return RoundsInEigenbasis(np.array([math.inf]), none, none, np.zeros((1, 1)), np.zeros((1, 1)))
        changes, basis = np.linalg.eigh((change + change.T) / 2)
        start, shift = self._start @ basis, drift @ basis
        moving = np.abs(changes) > _FLAT
        limit = np.where(moving, -shift / np.where(moving, changes, 1.0), start)
        values, half = 1 + changes, basis.T @ self._half @ basis
        if noise is None:
            return RoundsInEigenbasis(values, limit, start - limit, half, np.zeros_like(half))
        gap = 1 - np.outer(values, values)
        settled = np.where(
            np.abs(gap) > _FLAT, (basis.T @ noise @ basis) / np.where(np.abs(gap) > _FLAT, gap, 1.0), 0.0
        )
        return RoundsInEigenbasis(values, limit, start - limit, half, half * settled)

    @property
    def safe_factor(self) -> float:
        """A factor up to which no direction overshoots, so that the expectation of the run converges."""
        steepest = (self._sizes[:, None] * np.abs(self._curvatures)).max(axis=1)
        together = self._server * float((self._moments.mean * self._steps * steepest).sum())
        alone = float(steepest.max(initial=0.0))
        most = max(together if self._server > 1 else min(together, alone), 1e-300)
        return 2 / most
