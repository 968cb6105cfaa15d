"""Certified intervals for runs whose rounds are all alike: the rounds are composed by doubling, in high precision.

A matrix product widens intervals by a factor that does not depend on their width.  Doubling takes about log T
products, so that after millions of rounds a few hundred bits are still more precise than floats.
The local steps in a round, and quantities measured in them, are enclosed in floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import CERTIFIED, RATIONAL, Array, MidpointRadius, group_equal_rows, product, sum_with_weights
from fedtheory.arithmetic.enclosures import ENCLOSURE_BITS, convert_to_balls, precise_enclosures
from fedtheory.engine.moments.certified import NO_ENCLOSED_VECTORS
from fedtheory.engine.moments.doubling import ManyRounds, compose_rounds
from fedtheory.engine.moments.equal_rounds import compose_first_rounds
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.local import compute_step_maps, embed_covariances
from fedtheory.engine.moments.powers import accumulate_noise, raise_each
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.steady_trajectory import SteadyTrajectory
from fedtheory.errors import Unresolved
from fedtheory.federation import Algorithm
from fedtheory.federation.clock import Update
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.interval_problem import EnclosedProblem

_BITS = (ENCLOSURE_BITS, 4 * ENCLOSURE_BITS)
"""Precisions in bits, tried one after the other until the intervals are narrower than a float's rounding."""
_NARROW = 2**50
"""Required ratio of a second moment to its radius."""
_MOST_NUMBERS = 3 * 10**7
"""Limit on the stored numbers of single rounds and steps."""


@dataclass(frozen=True, eq=False)
class RoundInBalls:
    """One of equal rounds ``S -> R S R' + C``, and their start, in intervals of the working precision."""

    map: Array
    """R, (d+1, d+1)."""
    noise: Array
    """C, (d+1, d+1)."""
    start: Array
    """S_0, (d+1, d+1)."""

    @classmethod
    def from_algorithm(cls, problem: Problem, algorithm: Algorithm) -> RoundInBalls:
        """Return a round on a rational problem; the local steps of equal clients are computed once."""
        centred, work = problem.centred, algorithm.work
        steps, sizes = compute_step_maps(centred, work), work.step_sizes[:, None, None]
        nothing = RATIONAL.zeros(*steps[:, 1:, 1:].shape)
        fresh = sizes * sizes * centred.oracle.covariances(steps, nothing)
        first, kinds = group_equal_rows(steps, fresh, np.array(work.steps))
        counts, one_step = np.array(work.steps)[first], convert_to_balls(steps[first])
        displacements = raise_each(one_step, counts) - RATIONAL.identity(steps.shape[-1])
        covariances = accumulate_noise(one_step[:, 1:, 1:], convert_to_balls(fresh[first]), counts)
        server, step = algorithm.aggregation.moments(problem.weights), algorithm.aggregation.server_step_size
        moved = step * sum_with_weights(_sum_weights_by_kind(server.mean, kinds), displacements)
        added = step * step * sum_with_weights(_sum_weights_by_kind(server.squares, kinds), covariances)
        point = np.concatenate([RATIONAL.identity(1)[0], centred.start])
        return cls(
            RATIONAL.identity(len(point)) + moved, embed_covariances(added), convert_to_balls(np.outer(point, point))
        )

    def repeat(self, rounds: int) -> ManyRounds:
        """Compose `rounds` of these rounds, at least one."""
        return compose_rounds(self.map, self.noise, self.start, rounds)


def _sum_weights_by_kind(weights: Array, kinds: list[int]) -> Array:
    """Sum the weights of clients over each class of equal clients."""
    total = RATIONAL.zeros(max(kinds) + 1)
    for weight, kind in zip(weights, kinds, strict=True):
        total[kind] += weight
    return total


class CertifiedSteadyTrajectory(SteadyTrajectory):
    """Intervals for the second moments of a run whose rounds are all alike, computed on demand."""

    def __init__(self, problem: Problem, algorithm: Algorithm) -> None:
        self._exact = problem
        self.problem, self.algorithm = EnclosedProblem.from_problem(problem), algorithm
        self.divergence = None

    @cached_property
    def recursion(self) -> Recursion:
        """The recursion inside a round, in floats with radii."""
        return Recursion(self.problem, self.algorithm)

    @cached_property
    def _ends(self) -> tuple[Array, Array, Array]:
        """The second moments before and after the last round, and the average of those before each round."""
        rounds = self.algorithm.rounds
        for bits in _BITS:
            with precise_enclosures(bits):
                one = RoundInBalls.from_algorithm(self._exact, self.algorithm)
                many = one.repeat(rounds)
                before = one.repeat(rounds - 1).apply(one.start) if rounds > 1 else one.start
                found = before, many.apply(one.start), many.total / rounds
                if all(map(_is_narrow, found)):
                    break
        before, last, mean = map(CERTIFIED.array, found)
        return before, last, mean

    @property
    def _before_last(self) -> Array:
        return self._ends[0]

    @property
    def _last(self) -> Array:
        return self._ends[1]

    @property
    def _mean_moment(self) -> Array:
        return self._ends[2][None]

    @cached_property
    def moments(self) -> Array:
        """E[(1, x - x*)(1, x - x*)'], (T+1, d+1, d+1); raises `Unresolved` if there are too many rounds."""
        self._require_few()
        rounds, size = self.algorithm.rounds, self.problem.dimension + 1
        with precise_enclosures(_BITS[-1]):
            one = RoundInBalls.from_algorithm(self._exact, self.algorithm)
            # There are about as many blocks as rounds in each block.
            length = 1 << (rounds.bit_length() // 2)
            powers, added = compose_first_rounds(one.map, one.noise, length)
            ahead, gained = compose_first_rounds(powers[length - 1], added[length - 1], -(-rounds // length))
            later = product(product(ahead, one.start), ahead.transpose(0, 2, 1)) + gained
            starts = MidpointRadius.enclose(np.concatenate([one.start[None], later]))
            maps, noises = MidpointRadius.enclose(powers), MidpointRadius.enclose(added)
        middle, radius = np.empty((rounds + 1, size, size)), np.empty((rounds + 1, size, size))
        middle[0], radius[0] = starts[0].middle, starts[0].radius
        transposed = maps.transpose(0, 2, 1)
        for block, first in enumerate(range(1, rounds + 1, length)):
            count = min(length, rounds + 1 - first)
            found = maps[:count] @ starts[block] @ transposed[:count] + noises[:count]
            middle[first : first + count], radius[first : first + count] = found.middle, found.radius
        # The constant coordinate is exactly one.
        middle[:, 0, 0], radius[:, 0, 0] = 1, 0
        return MidpointRadius(middle, radius)  # type: ignore[return-value]

    def _require_few(self) -> None:
        """Raise `Unresolved` for more rounds than can be enclosed one by one."""
        size, work = self.problem.dimension + 1, self.algorithm.work
        each = size * size + (max(work.steps) + 1) * self.problem.clients
        most = _MOST_NUMBERS // each
        if self.algorithm.rounds > most:
            expected = f"expected at most {most} rounds for enclosures of single rounds"
            raise Unresolved(f"{expected}, got {self.algorithm.rounds}: use fewer rounds, or --arithmetic float")

    def rounds(self) -> Iterator[tuple[Update, LiveModels]]:
        """Raise `Unresolved`: vectors of single rounds are not enclosed."""
        raise Unresolved(NO_ENCLOSED_VECTORS)


def _is_narrow(moment: Array) -> bool:
    """Return whether the interval of a second moment's trace is narrower than a float's rounding."""
    return all(entry.is_exact() or _NARROW * entry.rad() < abs(entry.mid()) for entry in moment.diagonal())
