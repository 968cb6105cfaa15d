"""The updates of a run, whose noise is precomputed as linear maps of second moments if that is cheaper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import FLOAT
from fedtheory.arithmetic.symmetric_pairs import count_pairs
from fedtheory.engine.moments.noise_maps import NoiseMaps, ServerNoise
from fedtheory.engine.moments.recursion import MOST_MAPPED, Recursion, prepare_oracle
from fedtheory.engine.moments.row_space_maps import estimate_cost_of_maps, estimate_cost_of_round
from fedtheory.engine.moments.row_spaces import find_row_spaces, list_clients_outside
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem

_MANY_ROUNDS = 1000
"""Number of rounds from which a run is prepared for many rounds."""


@dataclass(frozen=True, eq=False)
class Updates:
    """Any number of updates for a problem and an algorithm, computed at first use."""

    problem: Problem
    algorithm: Algorithm
    is_for_many: bool = False
    """Whether so many rounds follow that noise is precomputed as linear maps of second moments, in few dimensions."""

    @cached_property
    def recursion(self) -> Recursion:
        """The effect of one update after another."""
        # Overflow is reported as divergence by the callers.
        with np.errstate(over="ignore", invalid="ignore"):
            return Recursion(
                self.problem, self.algorithm, noise_maps=self._build_noise_maps() if self._has_maps else None
            )

    def _build_noise_maps(self) -> NoiseMaps | ServerNoise:
        """Return one noise map for each client, or one for all if all start from the newest model."""
        centred, work = self.problem.centred, self.algorithm.work
        if self.algorithm.clock.is_synchronous:
            return ServerNoise.from_work(
                centred, work, self.algorithm.aggregation.moments(self.problem.weights).squares
            )
        return NoiseMaps.from_work(centred, work)

    @property
    def _has_maps(self) -> bool:
        size = count_pairs(self.problem.dimension + 1)
        if self.problem.arithmetic is not FLOAT or not self.problem.oracle.depends_on_model:
            return False
        if self.is_for_many and self.problem.clients * size * size <= MOST_MAPPED:
            return True
        return self.algorithm.clock.is_synchronous and size * size <= MOST_MAPPED and self._one_map_pays

    @property
    def _one_map_pays(self) -> bool:
        """Return whether one precomputed noise map of all clients costs less than the noise of all rounds by rows."""
        prepare_oracle(self.problem, self.algorithm)
        spaces = find_row_spaces(self.problem.centred, self.algorithm.work)
        if not spaces or list_clients_outside(spaces, self.problem.clients):
            return False
        rounds = max(self.algorithm.rounds, _MANY_ROUNDS if self.is_for_many else 0)
        return sum(map(estimate_cost_of_maps, spaces)) < rounds * sum(map(estimate_cost_of_round, spaces))
