"""The recursion of second moments over server updates.

The server's new model is ``z + eta_g sum_i w_i (A_i z + noise_i - z)`` with
weights drawn independently of z, so its second moment is a linear function of
the old one.  Client operators do not depend on the round: their averages are
formed once, and with model-independent noise a round then costs O(d^3) for any
number of clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.federation import Algorithm
from fedtheory.federation.participation import WeightMoments
from fedtheory.moments.local import homogeneous, unroll
from fedtheory.problem import Problem
from fedtheory.problem.quadratic import weighted_sum


@dataclass(frozen=True, eq=False)
class NoiseProfile:
    """What the gradient noise of one round adds, for each local step index k = 0 .. K."""

    average: Array
    """sum_i p_i^2 C_i^k, (K+1, d, d): covariance of the averaged iterate."""
    traces: Array
    """E|noise of x_i^k|^2, (K+1, M)."""
    server: Array
    """sum_i E[w_i^2] C_i^{K_i}, (d, d): covariance that enters the server's model, per eta_g^2."""

    @cached_property
    def server_moment(self) -> Array:
        """`server` as a contribution (d+1, d+1) to a second moment."""
        return homogeneous(self.server)

    @cached_property
    def largest(self) -> float:
        """Largest entry of the averaged covariances and the traces, as a float."""
        return max(float(np.abs(part).max()) for part in (self.average, self.traces))


class Recursion:
    """One round after another for a problem and an algorithm, in the problem's arithmetic."""

    def __init__(self, problem: Problem, algorithm: Algorithm) -> None:
        self.problem = problem
        self._algorithm = algorithm
        self.centred = problem.centred
        self.work = algorithm.work
        self.server_step_size = algorithm.aggregation.server_step_size
        self.participation: WeightMoments = algorithm.aggregation.participation.moments(problem.weights)
        self._has_fixed_weights = self.participation.is_fixed
        self._prepare()

    def _prepare(self) -> None:
        """Average the client operators over clients, once for each local step index."""
        weights, identity = self.problem.weights, self.problem.arithmetic.identity(self.problem.dimension + 1)
        averages, final = [], self.problem.arithmetic.zeros(self.problem.clients, *identity.shape)
        for local in unroll(self.centred, self.work, self.start):
            averages.append(weighted_sum(weights, local.maps))
            finished = np.array(self.work.steps) == local.k
            final[finished] = local.maps[finished]
        self.average_maps: Array = np.stack(averages)
        """sum_i p_i A_i^k, (K+1, d+1, d+1)."""
        self._displacements = final - identity
        self._mean_displacement = weighted_sum(self.participation.mean, self._displacements)
        self.round_map: Array = identity + self.server_step_size * self._mean_displacement
        """Mean of one round, (d+1, d+1)."""

    @cached_property
    def start(self) -> Array:
        """Second moment (d+1, d+1) of the start, in centred homogeneous coordinates."""
        point = np.concatenate([self.problem.arithmetic.identity(1)[0], self.centred.start])
        return np.outer(point, point)

    @cached_property
    def _model_independent_noise(self) -> NoiseProfile:
        return self._noise_profile(self.start)

    def noise(self, moment: Array) -> NoiseProfile:
        """The noise of one round that starts from a model with second moment `moment`."""
        if self.problem.oracle.depends_on_model:
            return self._noise_profile(moment)
        return self._model_independent_noise

    def _noise_profile(self, moment: Array) -> NoiseProfile:
        weights, squares = self.problem.weights, self.participation.squares
        average, traces, server = [], [], self.problem.arithmetic.zeros(self.problem.dimension, self.problem.dimension)
        for local in unroll(self.centred, self.work, moment):
            average.append(weighted_sum(weights * weights, local.covariances))
            traces.append(local.covariances.trace(axis1=1, axis2=2))
            finished = np.array(self.work.steps) == local.k
            if finished.any():
                server = server + weighted_sum(squares[finished], local.covariances[finished])
        return NoiseProfile(np.stack(average), np.stack(traces), server)

    def advance(self, moment: Array, noise: NoiseProfile) -> Array:
        """Second moment (d+1, d+1) of the server's model after one more round."""
        squared = self.server_step_size * self.server_step_size
        after: Array = self.round_map @ moment @ self.round_map.T + squared * noise.server_moment
        if not self._has_fixed_weights:
            after = after + squared * self._spread(moment)
        return after

    def _spread(self, moment: Array) -> Array:
        """What random weights add, per eta_g^2: the displacements' spread around their mean."""
        each = self._displacements @ moment @ self._displacements.transpose(0, 2, 1)
        mean = self._mean_displacement @ moment @ self._mean_displacement.T
        individual = weighted_sum(self.participation.diagonal, each)
        spread: Array = individual + (self.participation.pairing - 1) * mean
        return spread

    def spectral_radius(self) -> float:
        """Largest modulus of an eigenvalue of the mean round map on models: above one, the means diverge."""
        linear = plain_floats(self.round_map[1:, 1:])
        return float(np.abs(np.linalg.eigvals(linear)).max()) if np.isfinite(linear).all() else np.inf

    def growth(self, moment: Array, iterations: int = 40) -> float:
        """Factor by which the linear part of a round multiplies second moments, by power iteration in floats."""
        floats = self if moment.dtype != object else Recursion(self.problem.as_floats(), self._algorithm.as_floats())
        state, factor = plain_floats(moment / moment[1:, 1:].trace()), 1.0
        for _ in range(iterations):
            # With a zero in place of the constant 1 only the linear part acts.
            state = homogeneous(state[1:, 1:] / state[1:, 1:].trace())
            state = floats.advance(state, floats.noise(state))
            factor = float(state[1:, 1:].trace())
        return factor
