"""The recursion of second moments over server updates.

The server's new model is

    z^{n+1} = z^n + eta_g sum_i w_i(n) (A_i z^{rho_i(n)} + noise_i - z^{rho_i(n)}),

with weights independent of all models and fresh noise, so the joint second moment of the live models is a linear
function of the previous one.  Client operators do not depend on the round.  If all clients start from the newest model,
their averages are computed once, and with model-independent noise a round then costs O(d^3) for any number of clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, Number, plain_floats, product, sum_with_weights
from fedtheory.engine.memo import Memo
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.local import (
    Clients,
    LocalSteps,
    embed_covariances,
    propagate_local_steps,
    propagate_noise,
)
from fedtheory.engine.moments.noise_maps import NoiseMaps, ServerNoise
from fedtheory.engine.moments.round_maps import RoundMaps, average_maps, find_displacements
from fedtheory.engine.moments.row_spaces import RowSpace, find_row_spaces, list_clients_outside
from fedtheory.federation import Algorithm
from fedtheory.federation.clock import Update
from fedtheory.federation.oracles import ExactOracle
from fedtheory.federation.participation import WeightMoments
from fedtheory.federation.problem import Problem

MOST_MAPPED = 2**21
"""Limit on the size of the linear maps of all clients' noise."""
_BLOCK = 2**19
"""Size of the blocks of clients' covariances, whose memory is reused."""
_MOST_UPDATES = 512
"""Number of cached values of updates; schedules with rational times repeat fewer."""
_ROUNDING = 1e-13
"""Relative difference below which two floats count as equal up to rounding."""


@dataclass(frozen=True, eq=False)
class RoundNoise:
    """Gradient noise that one update adds to the server's model."""

    server: Array
    """sum_i E[w_i^2] C_i^{K_i}, (d, d): covariance that enters the server's model, per eta_g^2."""
    largest: float = 0.0
    """Largest entry, in floats, of its summands."""

    @property
    def server_moment(self) -> Array:
        """`server` as a contribution (d+1, d+1) to a second moment."""
        return embed_covariances(self.server)


class Recursion:
    """The effect of one update after another, in the problem's arithmetic.

    Known parts may be passed: maps and the noise of all clients, which a batch computes, and the noise as maps of
    second moments, which runs with the same local work share.
    """

    def __init__(
        self,
        problem: Problem,
        algorithm: Algorithm,
        maps: RoundMaps | None = None,
        noise: RoundNoise | None = None,
        noise_maps: NoiseMaps | ServerNoise | None = None,
    ) -> None:
        self.problem = problem
        self.algorithm = algorithm
        self.centred = problem.centred
        self.work = algorithm.work
        prepare_oracle(problem, algorithm)
        self.server_step_size = algorithm.aggregation.server_step_size
        self.participation: WeightMoments = algorithm.aggregation.moments(problem.weights)
        self.is_synchronous = algorithm.clock.is_synchronous
        self._noise_maps = noise_maps
        self._has_fixed_weights = self.participation.is_fixed
        self._weights, self._noises, self._moves = Memo(_MOST_UPDATES), Memo(_MOST_UPDATES), Memo(_MOST_UPDATES)
        """Values of updates, by the work of the update: the reporting clients, each with its staleness."""
        if noise is not None:
            self._noise_of_all = noise
        if maps is None:
            maps = average_maps(self.centred, self.work, self.participation.mean, self.server_step_size)
        self.average_maps, self.round_map, self._known_displacements = maps.average, maps.mean, maps.displacements

    @cached_property
    def _displacements(self) -> Array:
        """A_i^{K_i} - I, (M, d+1, d+1)."""
        known = self._known_displacements
        return find_displacements(self.centred, self.work) if known is None else known

    @cached_property
    def _identity(self) -> Array:
        """Return the identity matrix for homogeneous coordinates."""
        return self.problem.arithmetic.identity(self.problem.dimension + 1)

    @cached_property
    def start(self) -> Array:
        """Second moment (d+1, d+1) of the start, in homogeneous coordinates relative to the centre."""
        point = np.concatenate([self.problem.arithmetic.identity(1)[0], self.centred.start])
        return np.outer(point, point)

    def iterate_weights(self, update: Update) -> Array:
        """Return v_i, (M,): weights of the clients in the virtual iterate of an update.

        These are the client weights p_i if the server waits for its participants, so that the virtual iterate is
        the averaged iterate; ``eta_g w_i(n)`` otherwise (fraboni2022, eq. 7).
        """
        if self.is_synchronous:
            return self.problem.weights

        def scale() -> Array:
            weights: Array = self.server_step_size * self.algorithm.expected_weights(update, self.problem.weights)
            return weights

        return self._weights.compute_once(update.work, scale)

    @cached_property
    def multiplicities(self) -> Array:
        """Number of clients that each client of the problem stands for, (M,)."""
        counts = self.algorithm.aggregation.participation.multiplicities(self.problem.clients)
        return self.problem.arithmetic.array(list(counts))

    @cached_property
    def single_weights(self) -> Array:
        """p_i of one client, (M,), also if a client of the problem stands for all clients of a type."""
        return self.algorithm.aggregation.participation.select_single_weights(self.problem.weights)

    @property
    def squared_client_weights(self) -> Array:
        """Sum of p_i^2 over the clients that each client of the problem stands for, (M,)."""
        squares: Array = self.problem.weights * self.single_weights
        return squares

    def _square_weights(self, update: Update) -> Array:
        """Return E[w_i^2], (M,), of one update."""
        if self.is_synchronous:
            return self.participation.squares
        weights = self.algorithm.expected_weights(update, self.problem.weights)
        return weights * weights

    def noise(self, live: LiveModels, update: Update) -> RoundNoise:
        """Return the second moments that the gradients' noise adds in one update from the live models."""
        if self.problem.oracle.depends_on_model:
            return self._measure_noise(update, self._find_bases(live, update))
        # The noise is the same for all models, among them the start.
        if self.is_synchronous:
            return self._noise_of_all
        return self._noises.compute_once(update.work, lambda: self._measure_noise(update, self.start))

    @cached_property
    def _noise_of_all(self) -> RoundNoise:
        """Return the noise of a round in which all clients report."""
        return self._measure_noise(self.algorithm.clock.round, self.start)

    def _find_bases(self, live: LiveModels, update: Update) -> Array:
        """Return second moments of the models that the reporting clients started from, (d+1, d+1) or (C, d+1, d+1)."""
        if self.is_synchronous or not update.reports:
            return live.newest_moment
        return live.moments([live.newest - update.staleness[client] for client in update.reports])

    def _measure_noise(self, update: Update, bases: Array) -> RoundNoise:
        """Return the noise of the reports of an update, given the moments of the models they began from."""
        size, reports = self.problem.dimension, update.reports
        if not reports or isinstance(self.problem.oracle, ExactOracle):
            return RoundNoise(self.problem.arithmetic.zeros(size, size))
        squares = self._square_weights(update)
        clients: Clients = slice(None) if len(reports) == self.problem.clients else list(reports)
        if isinstance(self._noise_maps, ServerNoise):
            return RoundNoise(*self._noise_maps.noise(bases))
        if self._noise_maps is not None:
            moments = self._noise_maps.noise(bases, clients)
            return RoundNoise(sum_with_weights(squares[clients], moments), float(np.abs(moments).max()))
        if self._row_spaces and len(reports) == self.problem.clients and bases.ndim == 2:
            return self._measure_noise_in_row_spaces(bases, squares)
        return self._measure_noise_in_all_dimensions(clients, bases, squares[clients])

    def _measure_noise_in_all_dimensions(self, clients: Clients, bases: Array, squares: Array) -> RoundNoise:
        """Return the noise of these clients, computed with all coordinates."""
        if not self.problem.oracle.depends_on_model:
            return self._measure_constant_noise(clients, squares)
        moments = propagate_local_steps(self.centred, self.work, bases, clients)
        maps = (self._displacements[clients] + self._identity)[:, 1:, :]
        server = sum_with_weights(squares, moments)[1:, 1:]
        server = server - sum_with_weights(squares, product(product(maps, bases), maps.transpose(0, 2, 1)))
        return RoundNoise(server, _measure_largest(moments))

    def _measure_constant_noise(self, clients: Clients, squares: Array) -> RoundNoise:
        """Return the noise if it does not depend on the models, one block of clients after the other."""
        numbers, most = range(self.problem.clients), max(1, _BLOCK // self.problem.dimension**2)
        blocks: list[Clients] = [clients]
        if isinstance(clients, slice) and len(numbers) > most:
            blocks = [slice(first, first + most) for first in numbers[::most]]
        server, largest = self.problem.arithmetic.zeros(self.problem.dimension, self.problem.dimension), 0.0
        for block in blocks:
            moments = propagate_noise(self.centred, self.work, block)
            own = squares[block] if len(blocks) > 1 else squares
            server, largest = server + sum_with_weights(own, moments), max(largest, _measure_largest(moments))
        return RoundNoise(server, largest)

    @cached_property
    def _row_spaces(self) -> list[RowSpace]:
        """Return the spaces spanned by the rows of clients with few rows."""
        return find_row_spaces(self.centred, self.work)

    @cached_property
    def _outside_row_spaces(self) -> list[int]:
        """Clients that belong to none of the row spaces."""
        return list_clients_outside(self._row_spaces, self.problem.clients)

    def _measure_noise_in_row_spaces(self, moment: Array, squares: Array) -> RoundNoise:
        """Return the noise of all clients, computed in the spaces of their rows where possible."""
        each = [RoundNoise(*space.noise(moment, squares)) for space in self._row_spaces]
        if outside := self._outside_row_spaces:
            each.append(self._measure_noise_in_all_dimensions(outside, moment, squares[outside]))
        return RoundNoise(np.sum([one.server for one in each], axis=0), max(one.largest for one in each))

    def noise_over_steps(self, moment: Array) -> Iterator[Array]:
        """Yield sum_i E[w_i^2] C_i^k, (d, d), after k = 0 .. K local steps of all clients from a model.

        `moment` is the second moment of that model, (d+1, d+1).
        """
        squares, size = self.participation.squares, self.problem.dimension
        if isinstance(self.problem.oracle, ExactOracle):
            yield from repeat(self.problem.arithmetic.zeros(size, size), max(self.work.steps) + 1)
            return
        if self._row_spaces and not self._outside_row_spaces:
            each = [space.noise_over_steps(moment, squares) for space in self._row_spaces]
            yield from sum(each[1:], each[0])
            return
        for step in LocalSteps(self.centred, self.work).start_from(moment):
            yield sum_with_weights(squares, step.covariances)

    def advance(self, live: LiveModels, update: Update, noise: RoundNoise) -> None:
        """Add the server's next model."""
        squared = self.server_step_size * self.server_step_size
        added = squared * noise.server_moment
        if self.is_synchronous and not self._has_fixed_weights:
            added = added + squared * self._compute_weight_covariance(live.newest_moment)
        live.advance(self._compute_maps(live, update), added, self._find_versions_in_use(live, update))

    def _compute_maps(self, live: LiveModels, update: Update) -> Mapping[int, Array]:
        """Return the expected contribution of each live version to the next one, (d+1, d+1) each."""
        if self.is_synchronous:
            return {live.newest: self.round_map}
        moves = self._moves.compute_once(update.work, lambda: self._compute_moves(self._displacements, update))
        return _index_by_version(moves, live)

    def maps_after(self, displacements: Array, live: LiveModels, update: Update) -> Mapping[int, Array]:
        """Return expected contributions to the virtual iterate after k steps, from A_i^k - I, (M, d+1, d+1)."""
        return _index_by_version(self._compute_moves(displacements, update), live)

    def _compute_moves(self, displacements: Array, update: Update) -> Mapping[int, Array]:
        """Return contributions of versions to the virtual iterate, by the number of updates since each was made."""
        maps, weights = {0: self._identity}, self.iterate_weights(update)
        for client, staleness in update.work:
            moved = weights[client] * displacements[client]
            maps[staleness] = maps[staleness] + moved if staleness in maps else moved
        return maps

    def _find_versions_in_use(self, live: LiveModels, update: Update) -> set[int]:
        """Return the versions on which non-reporting clients work."""
        if self.is_synchronous:
            return set()
        begun = set(update.receivers)
        if len(begun) == self.problem.clients:
            return set()
        return {live.newest - staleness for client, staleness in enumerate(update.staleness) if client not in begun}

    @cached_property
    def _round(self) -> Update:
        """Return the update of a synchronous round."""
        self.algorithm.require_synchronous("a round is the same for all rounds")
        return next(self.algorithm.updates())

    def round_noise(self, moment: Array) -> RoundNoise:
        """Return the noise of one round in which all start from a model with second moment `moment` (d+1, d+1)."""
        return self.noise(LiveModels(moment), self._round)

    def propagate_round(self, moment: Array, noise: RoundNoise) -> Array:
        """The second moment (d+1, d+1) of the server's model after a round that all start from the newest model."""
        live = LiveModels(moment)
        self.advance(live, self._round, noise)
        return live.newest_moment

    def _compute_weight_covariance(self, moment: Array) -> Array:
        """Return the covariance of the displacements that random weights add, per eta_g^2."""
        spread = self._sum_individual_squares(moment)
        for scale, together in self._joint_displacements:
            spread = spread + scale * (together @ moment @ together.T)
        return spread

    @cached_property
    def _joint_displacements(self) -> list[tuple[Number, Array]]:
        """Sums of displacements (d+1, d+1) whose squares enter the covariance of random weights, with their factors."""
        weights, displacements = self.participation, self._displacements
        parts = [(weights.pairing - 1, weights.mean), *weights.directions]
        return [(scale, sum_with_weights(vector, displacements)) for scale, vector in parts]

    def _sum_individual_squares(self, moment: Array) -> Array:
        """The squares of single displacements D_i, ``sum_i v_i D_i S D_i'``, v_i their factors from the weights."""
        if self._spread_map is not None:
            found: Array = (self._spread_map @ moment.ravel()).reshape(moment.shape)
            return found
        each = self._displacements @ moment @ self._displacements.transpose(0, 2, 1)
        return sum_with_weights(self.participation.diagonal, each)

    @cached_property
    def _spread_map(self) -> Array | None:
        """The same sum as a map of S, (a^2, a^2) with a = d+1: its cost does not depend on the number of clients."""
        size = len(self._identity)
        # It costs a^4 for each client once, and a^4 in each round instead of a^3 for each client.
        pays = min(self.problem.clients, self.algorithm.rounds) > size and size**4 <= MOST_MAPPED
        if self.problem.arithmetic is not FLOAT or not pays:
            return None
        flat, weights = self._displacements.reshape(-1, size * size), self.participation.diagonal
        total, step = np.zeros((size * size, size * size)), max(1, MOST_MAPPED // (size * size))
        for first in range(0, len(flat), step):
            some = flat[first : first + step]
            total += (weights[first : first + step, None] * some).T @ some
        return total.reshape(size, size, size, size).swapaxes(1, 2).reshape(size * size, size * size)

    @cached_property
    def spectral_radius(self) -> float:
        """Return the largest modulus of an eigenvalue of the mean round map: above one, the expectations diverge."""
        linear = plain_floats(self.round_map[1:, 1:])
        if not np.isfinite(linear).all():
            return np.inf
        # Steps of symmetric Hessians are symmetric, and so are their averages, up to rounding.
        is_symmetric = np.abs(linear - linear.T).max() <= _ROUNDING * np.abs(linear).max()
        values = np.linalg.eigvalsh(linear) if is_symmetric else np.linalg.eigvals(linear)
        return float(np.abs(values).max())

    def growth(self, moment: Array, iterations: int = 40) -> float:
        """The factor by which the linear part of a round multiplies second moments, by power iteration in floats."""
        floats = self if moment.dtype != object else Recursion(self.problem.as_floats(), self.algorithm.as_floats())
        state, factor = plain_floats(moment / moment[1:, 1:].trace()), 1.0
        for _ in range(iterations):
            # With a zero in place of the constant 1, only the linear part acts.
            state = embed_covariances(state[1:, 1:] / state[1:, 1:].trace())
            state = floats.propagate_round(state, floats.round_noise(state))
            factor = float(state[1:, 1:].trace())
        return factor


def prepare_oracle(problem: Problem, algorithm: Algorithm) -> None:
    """Precompute fourth moments or other data that make the noise of all local steps of a run cheaper."""
    problem.centred.oracle.prepare(algorithm.rounds * max(algorithm.work.steps))


def _index_by_version(moves: Mapping[int, Array], live: LiveModels) -> Mapping[int, Array]:
    """Return maps by version, from maps by the number of updates since the version was made."""
    return {live.newest - staleness: moved for staleness, moved in moves.items()}


def _measure_largest(moments: Array) -> float:
    """Return the largest modulus of moments in floats, which detects divergence."""
    return 0.0 if moments.dtype == object else float(np.abs(moments).max())
