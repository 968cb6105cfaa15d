"""The exact expectations of a run of T equal rounds for large T.

They are rational functions of T, up to exponentially small terms.
The moments of the server's model tend to a limit S faster than any power of T, so that T of them sum up to
``T S + X``, with X the sum of their differences from S.  With ``T = 1/h`` for an infinitesimal h, quantities of whole
runs follow from these two matrices as those of a finite run follow from its moments.
"""

from __future__ import annotations

from functools import cached_property

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.germs import INFINITESIMAL
from fedtheory.engine.moments.doubling import ManyRounds
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.stationary import compute_stationary_moment, sum_excess
from fedtheory.engine.moments.steady_trajectory import SteadyTrajectory
from fedtheory.errors import NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem


class EndlessTrajectory(SteadyTrajectory):
    """The expectations after T rounds for large T; moments of single rounds are not available."""

    def __init__(self, problem: Problem, algorithm: Algorithm, recursion: Recursion) -> None:
        """Store the recursion of a round; its limit is computed at first use, and may not exist."""
        self.problem, self.algorithm, self.recursion = problem, algorithm, recursion
        self.divergence = None

    @cached_property
    def _last(self) -> Array:
        """Return the stationary second moment."""
        return compute_stationary_moment(self.recursion)

    @cached_property
    def _before_last(self) -> Array:
        """Return the stationary second moment."""
        return self._last

    @cached_property
    def _after_all_rounds(self) -> ManyRounds:
        """Return the moments of infinitely many rounds."""
        total = self._last * (1 / INFINITESIMAL) + sum_excess(self.recursion)
        return ManyRounds(self.algorithm.rounds, self._last - self._last, self._last, total)

    @cached_property
    def moments(self) -> Array:
        """Raise `NotApplicable`: rounds without an end have no list of moments."""
        raise NotApplicable("the limit for infinitely many rounds has no values of single rounds")
