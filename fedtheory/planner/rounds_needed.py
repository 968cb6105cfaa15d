"""Exact errors over the rounds: how many it takes to a target, and at which step size they are fewest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.engine.moments import rounds_repeat
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.federation.losses import LossProblem
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.planner.exact import BASE, GRID, ExactErrors, lowest

FINAL, AVERAGE = "final", "average"
ERRORS: dict[str, Quantity] = {FINAL: q.final_suboptimality, AVERAGE: q.average_suboptimality}
"""What a user may ask for: of the last model, or the mean over all local steps of the run."""

_LONGER = 4
"""Factor by which the rounds are raised where a target is not reached."""
_PATIENCE = 2e9
"""Operations of one run that is tried beyond the planned rounds: about a second."""
_OVERHEAD = 5e5
"""What a local step costs besides, in the same unit."""
_MOST_LISTED = 2 * 10**7
"""Numbers of a run whose rounds are listed."""
_REACHED = -1e3
"""Added to scores of step sizes that reach the target: any of them is better than one that does not."""
_FALLS = 0.95
"""An error below this part of that after half of the rounds still falls."""


@dataclass(frozen=True)
class Outcome:
    """How far a run gets at a step size."""

    step_size: float
    rounds: int
    """To the target; without one, or where it is not reached, all that were run."""
    error: float
    """The exact error after these rounds; infinite where the run diverges."""
    reached: bool
    """Whether the target is reached; false without one."""
    still_falls: bool
    """Whether the error after half of the rounds was clearly larger."""


def errors_over_rounds(run: Run, error: Quantity) -> Array:
    """The exact error after 1 .. T rounds, (T,); infinite where the run diverges.

    `error` is one of `ERRORS`; `NotApplicable` where the run has no such error.
    """
    with np.errstate(all="ignore"):
        try:
            if error is q.final_suboptimality:
                return plain_floats(run.trajectory.server_suboptimality[1:])
            per_round = plain_floats(np.asarray(q.round_suboptimality.on(run))).reshape(-1)
        except Diverging:
            return np.full(run.algorithm.rounds, math.inf)
    means: Array = np.cumsum(per_round) / np.arange(1, len(per_round) + 1)
    return means


class RoundsNeeded:
    """Outcomes of a run at any step size, for one error and one target."""

    def __init__(self, errors: ExactErrors, error: Quantity, accuracy: float | None) -> None:
        self.errors, self.error, self.accuracy = errors, error, accuracy
        self._known: dict[tuple[float, int], Array] = {}

    def curve(self, step_size: float, rounds: int) -> Array:
        """The exact error after 1 .. `rounds` rounds, (rounds,)."""
        if (step_size, rounds) not in self._known:
            planned = rounds == self.errors.run.algorithm.rounds
            run = self.errors.at(step_size)
            self._known[step_size, rounds] = errors_over_rounds(run if planned else run.with_rounds(rounds), self.error)
        return self._known[step_size, rounds]

    def outcome(self, step_size: float, rounds: int) -> Outcome:
        """How far the run gets in at most so many rounds."""
        curve = self.curve(step_size, rounds)
        below = np.flatnonzero(curve <= self.accuracy) if self.accuracy is not None else np.array([], dtype=int)
        needed = int(below[0]) + 1 if len(below) else rounds
        error = float(curve[needed - 1])
        half = float(curve[needed // 2 - 1]) if needed > 1 else math.inf
        return Outcome(step_size, needed, error, bool(len(below)), bool(math.isfinite(error) and error < _FALLS * half))

    def best(self) -> Outcome:
        """The step size that reaches the target in the fewest rounds, or whose error after all rounds is smallest.

        Where no step size reaches it in the planned rounds, more rounds are tried as far as they are affordable.
        """
        planned = self.outcome(self.errors.planned, self.errors.run.algorithm.rounds)
        # No more rounds are of interest than the planned step size needs.
        rounds = planned.rounds
        exponent = self._best_in(rounds, GRID)
        while self.accuracy is not None and not planned.reached and not self._at(exponent, rounds).reached:
            if not self._is_affordable(_LONGER * rounds):
                break
            rounds *= _LONGER
            exponent = self._best_in(rounds, (exponent - 1, exponent, exponent + 1))
        if not planned.reached:
            planned = self.outcome(self.errors.planned, rounds)
        return min(
            self._at(exponent, rounds),
            planned,
            key=lambda outcome: (not outcome.reached, outcome.rounds, outcome.error),
        )

    def _at(self, exponent: float, rounds: int) -> Outcome:
        return self.outcome(self.errors.step(exponent), rounds)

    def _best_in(self, rounds: int, coarse: Sequence[float]) -> float:
        found = lowest(lambda exponent: self._score(self.curve(self.errors.step(exponent), rounds)), coarse)
        # Where the error only falls with the step size, the planned one is as good as any.
        return math.log(self.errors.planned / self.errors.step(0), BASE) if found is None else found[0]

    def _is_affordable(self, rounds: int) -> bool:
        run, size = self.errors.run, self.errors.run.problem.dimension + 1
        return operations(run, rounds) <= _PATIENCE and rounds * size**2 <= _MOST_LISTED

    def _score(self, curve: Array) -> float:
        """What is to be small: the log of the rounds to the target, or of the last error."""
        last = math.log(max(float(curve[-1]), 1e-300)) if curve[-1] < math.inf else math.inf
        if self.accuracy is None or not (below := np.flatnonzero(curve <= self.accuracy)).size:
            return last
        first = int(below[0])
        # Between two rounds, so that the score has no steps.
        before = self.accuracy if first == 0 else float(curve[first - 1])
        drop = math.log(before / max(float(curve[first]), 1e-300)) if first else 1.0
        part = 1.0 if first == 0 or not drop > 0 else math.log(before / self.accuracy) / drop
        return _REACHED + math.log(first + part)


def operations(run: Run, rounds: int) -> float:
    """About how many operations the errors of a run take after so many rounds."""
    steps, size = rounds * max(run.algorithm.work.steps), run.problem.dimension + 1
    repeats = not isinstance(run.problem, LossProblem) and rounds_repeat(run.problem, run.algorithm)
    return rounds * size**2 if repeats else steps * (_OVERHEAD + 10 * run.problem.clients * size**3)


def planned_and_best(
    errors: ExactErrors, name: str, accuracy: float | None
) -> tuple[Quantity, Outcome, Outcome] | None:
    """The error that is asked for, and how far the run gets as planned and at its best step size.

    Without averaged iterates the error is that of the last model; None where no exact error is known.
    """
    for error in (ERRORS[name], q.final_suboptimality):
        search = RoundsNeeded(errors, error, accuracy)
        try:
            best = search.best()
            rounds = max(best.rounds if not best.reached else 0, errors.run.algorithm.rounds)
            planned = search.outcome(errors.planned, rounds)
        except NotApplicable:
            continue
        return error, planned, best
    return None
