"""Exact errors over the rounds: the number of rounds to a target, and the step size that minimises it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array, plain_float
from fedtheory.errors import InputError, NotApplicable, Unresolved
from fedtheory.language import quantities as q
from fedtheory.language.quantities import RunQuantity
from fedtheory.planner.closed_rounds import ClosedRounds, RoundsInEigenbasis, has_closed_rounds
from fedtheory.planner.deterministic_runs import is_deterministic
from fedtheory.planner.error_curves import ErrorCurve, measure_curve
from fedtheory.planner.error_limits import compute_limit
from fedtheory.planner.exact_optimum import BASE, ExactErrors
from fedtheory.planner.margins import keep_margin
from fedtheory.planner.outcomes import ErrorAtStepSize, PlannedAndBest
from fedtheory.planner.run_costs import count_operations
from fedtheory.planner.stability import find_divergence_edge, has_one_map

FINAL, AVERAGE = "final", "average"
ERRORS: dict[str, RunQuantity] = {FINAL: q.final_suboptimality, AVERAGE: q.average_suboptimality}
"""Errors: of the last model, or the average over all local steps of the run."""
MARGIN = 0.1
"""Default relative distance of step sizes from the edge of divergence."""

_LONGER = 4
"""Factor by which the rounds are increased if a target is not reached."""
_PATIENCE = 1e10
"""Limit on the operations of one run beyond the planned rounds: about a second."""
_MOST_LISTED = 2 * 10**7
"""Limit on the numbers of a run whose rounds are listed."""
_FALLS = 0.95
"""If the final error is below this fraction of that after half of the rounds, it is still decreasing."""
_SPAN, _DENSE = 1e3, 240
"""Ratio of the largest to the smallest step size of the dense search, and their number."""
_LEAST = 1e-7
"""Fraction of the edge down to which the search continues if no step size reaches the target."""
_BETWEEN = 33
"""Number of step sizes between the best one and a neighbour."""
_QUICK = 1e10
"""Number of operations of a run above which fewer step sizes are tried."""
_WIDE_RATIO, _IMPATIENT = 2.0, 2
"""For such runs: ratio of neighbouring step sizes, and number of worse ones that ends the search."""
_RATIO, _MANY, _PATIENT = 1.4, 20, 4
"""Search if each step size needs a run: ratio, least number of step sizes, and number of worse ones that end it."""

_CHEAP = 1e8
"""Number of operations of a run below which every step size is tried."""
_FAR_OUT = 3.0
"""Exponent of the largest step size for losses with bounded derivatives, to be divided by the curvature of F."""
_SEEN = 0.25
"""Fraction of the tried rounds over which an error must stay below the target if rounds are not alike: with clocks
errors oscillate in every cycle."""
_JUMP = 2.0
"""Ratio of an error to an earlier one of the last rounds from which the last error is a matter of luck."""
_EXPLODES = 100.0
"""Ratio of the largest error of a run to those of its first and last round from which the step size is too large."""
_FALLS_AGAIN = 3
"""Number of times that an error may exceed the target again and fall below it later."""
_NEAR = (2.0, 1.4, 1.0, 1 / 1.4, 1 / 2, 1 / 4)
"""Fractions of the closest step size that are tried with more rounds."""


class RoundsNeeded:
    """Results of a run at any step size, for one error and one target."""

    def __init__(self, errors: ExactErrors, error: RunQuantity, accuracy: float | None, margin: float = MARGIN) -> None:
        self.errors, self.error, self.accuracy, self.margin = errors, error, accuracy, margin
        self._curves: dict[tuple[float, int], ErrorCurve] = {}

    @property
    def planned_rounds(self) -> int:
        """The rounds of the run as planned."""
        return self.errors.run.algorithm.rounds

    @cached_property
    def closed(self) -> ClosedRounds | None:
        """Final errors in closed form; None if the run has none."""
        is_closed = self.error is q.final_suboptimality and has_closed_rounds(self.errors.run)
        return ClosedRounds(self.errors.run) if is_closed else None

    @cached_property
    def diverges_from(self) -> float:
        """The step size from which the run diverges; infinite if none is known."""
        closed = ClosedRounds(self.errors.run) if has_closed_rounds(self.errors.run) else None
        return find_divergence_edge(self.errors, closed)

    @property
    def largest(self) -> float:
        """The largest step size that keeps the margin."""
        largest = (1 - self.margin) * self.diverges_from
        if not self.errors.run.problem.is_quadratic:
            # With bounded derivatives a run diverges late, if at all: the best step sizes are far below.
            return min(largest, self._farthest)
        return max(self.errors.planned, self.errors.grid[-1]) if math.isinf(largest) else largest

    @property
    def _farthest(self) -> float:
        """Return the largest step size of the search for losses with bounded derivatives.

        A client with few rows may have a large curvature and a small weight: the curvature of F counts.
        """
        return max(self.errors.planned, float(BASE**_FAR_OUT) / plain_float(self.errors.run.objective_smoothness))

    @property
    def _likely_edge(self) -> float:
        """Return a step size above which few runs converge: the largest one of the search, or 4 over F's curvature."""
        return self.largest if self.errors.run.problem.is_quadratic else self._farthest / BASE ** (_FAR_OUT - 1)

    def curve(self, step_size: float, rounds: int) -> ErrorCurve:
        """Return the error after 1 .. `rounds` rounds."""
        if (step_size, rounds) not in self._curves:
            planned = rounds == self.errors.run.algorithm.rounds
            run = self.errors.run_with(step_size)
            self._curves[step_size, rounds] = measure_curve(run if planned else run.with_rounds(rounds), self.error)
        return self._curves[step_size, rounds]

    def outcome(self, step_size: float, rounds: int) -> ErrorAtStepSize:
        """Compute the error of the run in at most `rounds` rounds."""
        if self.closed is not None:
            return self._evaluate_closed_form(
                step_size, self.closed.scale_steps(step_size / self.errors.planned), rounds
            )
        measured = self.curve(step_size, rounds)
        curve, needed = measured.errors, self._find_first_below(measured)
        last = rounds if needed is None else needed
        error, half = float(curve[last - 1]), float(curve[last // 2 - 1]) if last > 1 else math.inf
        falls = math.isfinite(error) and error < _FALLS * half
        seen = curve[math.floor((1 - _SEEN) * len(curve)) :]
        highest = None if self._has_equal_rounds and not _jumps(seen) else float(seen.max())
        return ErrorAtStepSize(
            step_size,
            last,
            error,
            needed is not None,
            falls,
            highest=highest,
            half_width=float(measured.half_widths[last - 1]),
            followed=None if self._has_equal_rounds else len(curve),
            explodes=bool(curve.max() > _EXPLODES * max(curve[0], curve[-1])),
        )

    def confirm_outcome(self, step_size: float, rounds: int) -> ErrorAtStepSize:
        """Compute the error of the run; if it reaches the target, also whether it stays below it in later rounds."""
        found = self.outcome(step_size, rounds)
        return self._confirm_later(found) if found.reached and self.closed is None else found

    def _find_first_below(self, curve: ErrorCurve) -> int | None:
        """Return the first round from which the error stays at most the target; None if there is none."""
        if self.accuracy is None:
            return None
        first = curve.find_first_below(self.accuracy)
        is_kept = first is not None and (self._has_equal_rounds or first <= (1 - _SEEN) * len(curve.errors))
        return first if is_kept else None

    @property
    def _has_equal_rounds(self) -> bool:
        """Return whether participation has the same law in all rounds, so that errors have no cycle."""
        return self.errors.run.algorithm.clock.is_synchronous

    def _evaluate_closed_form(
        self, step_size: float, rounds: RoundsInEigenbasis, most: int, *, is_asked: bool = True
    ) -> ErrorAtStepSize:
        """Return the result for a step size by the closed form of its final errors."""
        needed = None if self.accuracy is None or not is_asked else rounds.first_below(self.accuracy)
        last = most if needed is None else needed
        half, error = (float(one) for one in rounds.errors(np.array([last // 2, last])))
        falls = math.isfinite(error) and (last == 1 or error < _FALLS * half)
        floor = rounds.noise_floor if rounds.is_stable else None
        return ErrorAtStepSize(step_size, last, error, needed is not None, falls, rounds.limit, floor)

    def best(self) -> ErrorAtStepSize:
        """Return the step size that reaches the target in the fewest rounds, or with the smallest last error.

        Step sizes keep the margin from the edge of divergence.
        """
        if self.closed is None:
            found = self._search_by_runs()
            return found if self.errors.run.problem.is_quadratic else keep_margin(self, found)
        best = self._search_densely(self.closed)
        self._require_digits(best)
        return best

    def _require_digits(self, best: ErrorAtStepSize) -> None:
        """Raise `InputError` if the recursion of moments loses the digits of the closed form."""
        try:
            _ = self.errors.run_with(best.step_size).with_rounds(best.rounds).trajectory.final_suboptimality
        except Unresolved as reason:
            raise InputError("problem", str(reason)) from None

    def _search_densely(self, closed: ClosedRounds) -> ErrorAtStepSize:
        """Search densely, with closed forms."""
        sizes = _space_step_sizes(self.largest / _SPAN, self.largest, _DENSE)
        found = self._compute_errors(closed, sizes)
        while self.accuracy is not None and not any(one.reached for one in found) and sizes[0] > _LEAST * self.largest:
            further = _space_step_sizes(sizes[0] / 10, sizes[0], _DENSE // 3)[:-1]
            sizes, found = [*further, *sizes], [*self._compute_errors(closed, further), *found]
        for _ in range(2):
            place = min(range(len(found)), key=lambda n: self._make_rank(found[n]))
            ends = sizes[max(place - 1, 0)], sizes[min(place + 1, len(sizes) - 1)]
            sizes = _space_step_sizes(*ends, _BETWEEN)
            found = [*self._compute_errors(closed, sizes), found[place]]
            sizes.append(found[-1].step_size)
            order = np.argsort(sizes)
            sizes, found = [sizes[n] for n in order], [found[n] for n in order]
        return min(found, key=self._make_rank)

    def _compute_errors(self, closed: ClosedRounds, sizes: list[float]) -> list[ErrorAtStepSize]:
        """Return the exact errors at the step sizes."""
        planned, rounds, fewest = self.errors.planned, self.errors.run.algorithm.rounds, None
        each = zip(sizes, closed.scale_steps_by_each([size / planned for size in sizes]), strict=True)
        found: list[ErrorAtStepSize] = []
        # Large step sizes usually need the fewest rounds: most others are then known to need more.
        for size, one in reversed(list(each)):
            most = rounds if fewest is None else fewest
            needs_more = fewest is not None and self.accuracy is not None and not one.error(fewest) <= self.accuracy
            found.append(self._evaluate_closed_form(size, one, most, is_asked=not needs_more))
            if found[-1].reached:
                fewest = min(most, found[-1].rounds) if fewest is not None else found[-1].rounds
        return found[::-1]

    def _search_by_runs(self) -> ErrorAtStepSize:
        """Search with one run per step size; more rounds than planned are tried if they are cheap."""
        rounds = self.errors.run.algorithm.rounds
        found = self._sort_lasting(self._try_step_sizes(rounds))
        while self.accuracy is not None and not any(one.reached for one in found):
            if not self._is_affordable(_LONGER * rounds):
                break
            rounds *= _LONGER
            nearest = min(found, key=self._make_rank).step_size
            sizes = [nearest * factor for factor in _NEAR if nearest * factor <= self.largest]
            found = self._sort_lasting([self.outcome(size, rounds) for size in sizes])
        best = min(found, key=self._make_rank)
        for between in (_RATIO**0.5, _RATIO**0.25) if self._is_quick else (_RATIO, _RATIO**0.5):
            sizes = [size for size in (best.step_size / between, best.step_size * between) if size <= self.largest]
            best = min(
                [best, *(self.outcome(size, self._limit_rounds(best, rounds)) for size in sizes)], key=self._make_rank
            )
        return self._choose_lasting(best, found)

    def _try_step_sizes(self, rounds: int) -> list[ErrorAtStepSize]:
        """Return results for step sizes from the largest down until several in a row are worse and too small.

        A step size is too small if its error still falls at the end: smaller ones get less far.  Errors that have
        settled do not end the search: drift, noise or oscillation keeps them up, and smaller steps may lower them
        again.  Above the likely edge a path may oscillate and return to its start.  With momentum it oscillates at
        smaller step sizes, too: cheap runs are tried at all of them.
        """
        ratio, patient = (_RATIO, _PATIENT) if self._is_quick else (_WIDE_RATIO, _IMPATIENT)
        sizes = [self.largest]
        while len(sizes) < _MANY or sizes[-1] > self.errors.grid[0]:
            sizes.append(sizes[-1] / ratio)
        if self.errors.planned <= self.largest:
            sizes = sorted([*sizes, self.errors.planned], reverse=True)
        found: list[ErrorAtStepSize] = []
        for size in sizes:
            best = min(found, key=self._make_rank, default=None)
            found.append(self.outcome(size, rounds if best is None else self._limit_rounds(best, rounds)))
            late = found[-patient:]
            is_worse = best is not None and math.isfinite(best.error) and len(late) == patient and best not in late
            if is_worse and not self._is_cheap and size <= self._likely_edge and all(one.still_falls for one in late):
                break
        return found

    @property
    def _is_quick(self) -> bool:
        """Return whether a run is cheap enough for a fine grid of step sizes."""
        return count_operations(self.errors.run, self.planned_rounds) <= _QUICK

    @property
    def _is_cheap(self) -> bool:
        """Return whether a run is cheap enough for every step size of the grid."""
        return count_operations(self.errors.run, self.planned_rounds) <= _CHEAP

    def _limit_rounds(self, best: ErrorAtStepSize, rounds: int) -> int:
        """Return the number of rounds that are worth simulating: those of the best result.

        With clocks, and if runs are cheap, all rounds are simulated: errors may exceed the target again in later ones.
        """
        return best.rounds if best.reached and self._has_equal_rounds and not self._is_cheap else rounds

    def _choose_lasting(self, best: ErrorAtStepSize, others: list[ErrorAtStepSize]) -> ErrorAtStepSize:
        """Return the best result whose error stays below the target also in later rounds."""
        lasting: list[ErrorAtStepSize] = []
        for one in sorted([best, *others], key=self._make_rank):
            if lasting and self._make_rank(lasting[0]) <= self._make_rank(one):
                break
            limit = compute_limit(self.errors.run_with(one.step_size), self.error)
            if self.accuracy is None or not one.reached:
                return replace(one, limit=limit)
            later = self._confirm_later(one) if limit is None or limit <= self.accuracy else None
            if later is not None and later.reached:
                lasting = [min([*lasting, replace(later, limit=limit)], key=self._make_rank)]
        return lasting[0] if lasting else replace(best, reached=False)

    def _sort_lasting(self, found: list[ErrorAtStepSize]) -> list[ErrorAtStepSize]:
        """Return the results, the best first; with clocks, one that exceeds the target later counts as missed."""
        checked: list[ErrorAtStepSize] = []
        for one in sorted(found, key=self._make_rank):
            is_first = one.reached and not self._has_equal_rounds and not any(other.reached for other in checked)
            checked.append(self._confirm_later(one) if is_first else one)
        return checked

    def _confirm_later(self, one: ErrorAtStepSize) -> ErrorAtStepSize:
        """Return a result that reaches the target, corrected by simulating later rounds."""
        return self._confirm(one) if self._has_equal_rounds else self._follow_cycles(one)

    def _confirm(self, one: ErrorAtStepSize) -> ErrorAtStepSize:
        """Return the result after four times the rounds: the error may exceed the target again."""
        for _ in range(_FALLS_AGAIN):
            if not self._is_affordable(_LONGER * one.rounds):
                break
            later = self.outcome(one.step_size, _LONGER * one.rounds)
            if not later.reached or later.rounds == one.rounds:
                return later
            one = later
        return one

    def _follow_cycles(self, one: ErrorAtStepSize) -> ErrorAtStepSize:
        """Return the result, as missed if its error exceeds the target again in later cycles of a clock."""
        for factor in (_LONGER, _LONGER**2, _LONGER**3):
            if not self._is_affordable(factor * one.rounds):
                break
            later = self.outcome(one.step_size, factor * one.rounds)
            if later.rounds != one.rounds:
                return replace(later, reached=False)
            one = replace(one, followed=later.followed)
        return one

    def _is_affordable(self, rounds: int) -> bool:
        run, size = self.errors.run, self.errors.run.problem.dimension + 1
        if not run.algorithm.work.has_sizes_until(rounds):
            return False
        return count_operations(run, rounds) <= _PATIENCE and (
            rounds * size**2 <= _MOST_LISTED or is_deterministic(run)
        )

    def _make_rank(self, outcome: ErrorAtStepSize) -> tuple[bool, int, float]:
        """Return a sorting key, smaller is better: the rounds if the target is kept, else the error."""
        if outcome.explodes or not math.isfinite(outcome.error):
            return True, 0, math.inf
        # An error that is small only temporarily, before a large limit or in a cycle, does not count.
        error = outcome.error if outcome.reached else outcome.comparable_error
        if self.accuracy is not None and not outcome.reached:
            error = max(error, outcome.limit or 0.0)
        return not outcome.reached, outcome.rounds if outcome.reached else 0, error

    def reason(self, best: ErrorAtStepSize) -> str | None:
        """Return the reason why no step size reaches the target; None if one does."""
        if self.accuracy is None or best.reached:
            return None
        run = self.errors.run
        closed = self.closed or (ClosedRounds(run) if has_one_map(run) else None)
        smallest = None if closed is None else closed.scale_steps(_LEAST * self.largest / self.errors.planned)
        if smallest is not None and smallest.bias > self.accuracy:
            unequal = "unequal local steps" if run.algorithm.work.common_steps is None else "unequal steps or weights"
            return (
                f"small steps tend to a model with error {smallest.bias:.6g}, because {unequal} of unlike clients "
                "minimise another average of their objectives"
            )
        if self.closed is None or smallest is None:
            return "the stationary error is above it, or it takes more rounds than were tried"
        part = "gradient noise" if smallest.noise_floor > smallest.bias else "drift of unlike clients"
        return f"{part} keeps the limit at {smallest.limit:.6g} down to the step size {_LEAST * self.largest:.3g}"


def _jumps(errors: Array) -> bool:
    """Return whether errors of a run rise by a clear factor, as those of a path that jumps about the minimiser."""
    if not np.isfinite(errors).all():
        return False
    return bool((errors > _JUMP * np.minimum.accumulate(errors)).any())


def _space_step_sizes(least: float, largest: float, count: int) -> list[float]:
    """Return step sizes with equal ratios."""
    return [float(size) for size in np.geomspace(least, largest, count)]


def find_planned_and_best(
    errors: ExactErrors, name: str, accuracy: float | None, margin: float = MARGIN
) -> PlannedAndBest | None:
    """Return the requested error of the run as planned and at its best step size.

    Without averaged iterates the error is that of the last model.  Returns None if no exact error is known.
    """
    for error in (ERRORS[name], q.final_suboptimality):
        search = RoundsNeeded(errors, error, accuracy, margin)
        try:
            best = search.best()
            rounds = max(best.rounds if not best.reached else 0, errors.run.algorithm.rounds)
            planned = search.confirm_outcome(errors.planned, rounds)
        except NotApplicable:
            continue
        return PlannedAndBest(error, planned, best, search.diverges_from, margin, search.reason(best))
    return None
