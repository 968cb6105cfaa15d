"""State of a search: all evaluated runs, the best one so far, and the condition for the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic, plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.check import Check, check
from verify.check.escalation import check_decided
from verify.effort import measure_work, spend_a_try
from verify.falsify.run_tables import (
    STEP_SIZE,
    CheckedRun,
    Table,
    change,
    choose_fast_arithmetic,
    count_clients,
    count_rows,
    count_steps,
    evaluate_run,
    find_most_steps,
    get,
    get_dimension,
    iterate_numbers,
    list_features,
    make_working_table,
    scale,
    with_clients,
    write_table,
)
from verify.falsify.score import NOTHING, score

_CONFIRMED = 8_000_000
"""Largest number of multiplications of short numbers for which a float violation is checked exactly."""
_LIGHT = 200_000
"""Number of such multiplications that take negligible time."""
MOST_ITERATES = 2**18
"""Largest number of local steps of all clients in all rounds; a claim may have terms at each of them."""
_LENGTH = 64
"""Number of steps after which the cost of a multiplication has doubled."""
_MOVES = 1 / 16
"""Step size times curvature, summed over the steps of a run, above which its ratio is informative."""
_DECAY = 0.8
"""Decay of the estimated cost of a long evaluation with each following one."""
_POOL = 24
"""Number of runs that are kept as starting points."""


class SearchDone(Exception):
    """Raised when a violation is confirmed, or the budget is spent."""


@dataclass(frozen=True)
class Reach:
    """Size limits of the runs in a search."""

    arithmetic: Arithmetic
    steps: int
    """Largest number of local steps in all rounds."""
    cost: int
    """Largest number of multiplications, see `estimate_cost`."""


NEAR = Reach(RATIONAL, 128, 1_500)
"""Limit for exact runs: rationals grow with every step, and are as fast as floats while they are short."""
FAR = Reach(FLOAT, 4_096, 400_000)
"""Limit for long horizons, on which initially small terms grow; synchronous clients are averaged at no cost."""
AROUND = Reach(FLOAT, 128, 100_000)
"""Limit for claims about every step or about stale models: many clients and any sizes, but short horizons."""
_CLEAR = 1e-6
"""Float score above which a violation is checked exactly."""
_MARGIN = 0.01
"""Float score that a cheaper run must keep."""


@dataclass(frozen=True)
class SearchPoint:
    """A run and its score."""

    table: Table
    score: float


@dataclass(frozen=True)
class CheckedPoint(SearchPoint):
    """A run and its check."""

    found: Check


class SearchState:
    """One search for a violation of one claim."""

    def __init__(self, claim: Claim, budget: float, on_tick: Callable[[], None] = lambda: None) -> None:
        self.claim = claim
        self.looked = 0
        """Runs that were tried."""
        self.applicable = 0
        """Number of these to which the claim applies."""
        self.violation: CheckedRun | None = None
        """A violation that exact arithmetic confirms; its table has the format of a run file."""
        self.best: CheckedPoint | None = None
        """The largest score of a run on which the claim holds."""
        self.left_open = 0
        """Runs that violate the claim in floats and that no exact check decides: too long for exact arithmetic."""
        self.fresh: list[SearchPoint] = []
        """The best runs of families from which no local search has started, the best one first."""
        self.reached: list[SearchPoint] = []
        """The best results of local searches, the best one first."""
        self.setting: set[str] = set()
        """The features of the runs on which the claim is tried; a run with others is outside what it is about."""
        self.reach = NEAR
        self.moved: int | None = None
        """The term that scores move to the other side, see `score`."""
        self.budget = budget
        """Seconds of work until the search ends."""
        self._begin = measure_work()
        self._last, self._usual_cost = self._begin, 0.0
        self._on_tick = on_tick

    @property
    def seconds(self) -> float:
        """Return the seconds of work since the search began."""
        return measure_work() - self._begin

    def look(self, table: Table) -> float:
        """Return the score of a run; raises `SearchDone` when the search ends with it."""
        self.tick()
        if not self.is_within_reach(table) or not list_features(table) <= self.setting:
            return NOTHING
        found = evaluate_run(self.claim, table, self._choose_arithmetic(table))
        if found is None or not found.applicable:
            return NOTHING
        if found.arithmetic.is_rigorous:
            self._record(table, found)
        elif found.holds is False and score(found) > _CLEAR:
            self._confirm(halve_while_clear(table, self._is_clear, _LIGHT))
        return score(found, self.moved)

    def _choose_arithmetic(self, table: Table) -> Arithmetic:
        """Return rationals for short runs, and floats for long ones, such as the ladders of rates."""
        if self.claim.rate is not None:
            return FLOAT
        return choose_fast_arithmetic(table) if self.reach is NEAR else self.reach.arithmetic

    def start_from(self, run: Run, in_floats: bool) -> None:
        """Try a run of a family, exactly or first in floats, and keep it as a starting point."""
        self.tick()
        try:
            found = check_decided(self.claim, run, run.as_floats() if in_floats else None)
        except LookupError:
            # A quantity may need a feature that runs of other families lack, such as a second client.
            return
        if not found.applicable:
            return
        table = make_working_table(run)
        if not list_features(table) <= self.setting:
            return
        place = SearchPoint(table, self._record(table, found))
        if place.score > NOTHING and self.is_within_reach(table):
            self.fresh = _choose_best([*self.fresh, place])

    def keep(self, place: SearchPoint) -> None:
        """Keep the result of a local search for the largest ratio, to continue from it later."""
        if self.moved is not None:
            return
        if place.score > NOTHING:
            self.reached = _choose_best([*self.reached, place])

    def is_within_reach(self, table: Table) -> bool:
        """Return whether a run is within the size limits of the search."""
        if count_steps(table) * count_clients(table) > MOST_ITERATES:
            return False
        return count_steps(table) <= self.reach.steps and estimate_cost(table) <= self.reach.cost

    def tick(self) -> None:
        """Count an evaluated run; raises `SearchDone` if another run of similar cost exceeds the budget."""
        self.looked += 1
        spend_a_try()
        self._on_tick()
        now = measure_work()
        # The estimate is the longest recent evaluation; the first ones, which include imports, decay quickly.
        self._usual_cost = max(now - self._last, _DECAY * self._usual_cost)
        self._last = now
        if self.seconds + self._usual_cost >= self.budget:
            raise SearchDone

    def _record(self, table: Table, found: Check) -> float:
        """Count an applicable run, confirm a violation, else keep the largest score; return the run's score."""
        self.applicable += 1
        is_better = found.holds is not False and score(found) > self._best_score
        if found.arithmetic is FLOAT and is_better and self.claim.rate is None:
            # The best run is checked exactly where affordable; ladders of rates are too long for this.
            exact = evaluate_run(self.claim, table) if _is_confirmable(table) else None
            found = found if exact is None else exact
        if found.holds is False:
            self._confirm(table)
            return NOTHING
        place = CheckedPoint(table, score(found), found)
        if (found.holds or _rises(found)) and _rank(place) > _rank(self.best):
            self.best = place
        return place.score

    @property
    def _best_score(self) -> float:
        return NOTHING if self.best is None else self.best.score

    def _is_clear(self, table: Table) -> bool:
        """Return whether floats see a violation with a margin."""
        if not list_features(table) <= self.setting:
            return False
        found = evaluate_run(self.claim, table, FLOAT)
        return found is not None and found.applicable and found.holds is False and score(found) > _MARGIN

    def _confirm(self, table: Table) -> None:
        """Count a violation only if the run file violates the claim in exact arithmetic."""
        if self.claim.rate is None and not _is_confirmable(table):
            self.left_open += 1
            return
        try:
            printed = write_table(table)
        except InputError:
            # Floats accept runs that exact arithmetic rejects, such as very long ones.
            self.left_open += 1
            return
        found = check(self.claim, parse_run(printed, RATIONAL))
        if found.holds is False:
            self.violation = CheckedRun(printed, found)
            raise SearchDone
        self.left_open += found.holds is None


def is_moving(table: Table) -> bool:
    """Return whether a run moves; with tiny steps both sides of a contraction bound keep their initial values."""
    return measure_movement(table) >= _MOVES


def measure_movement(table: Table) -> float:
    """Return step size times curvature, summed over all steps of a run; infinite without Hessians."""
    hessians = get(table, "problem.hessians")
    step_sizes = list(iterate_numbers(get(table, STEP_SIZE)))
    if hessians is None or not step_sizes:
        return math.inf
    curvature = max(abs(entry) for entry in iterate_numbers(hessians))
    return plain_float(max(step_sizes) * curvature * count_steps(table))


def _rank(place: CheckedPoint | None) -> tuple[bool, bool, float]:
    """Return a sort key: evidence against a rate comes first, then runs that move, then the score."""
    if place is None:
        return False, False, NOTHING
    return _rises(place.found), is_moving(place.table), place.score


def _rises(found: Check) -> bool:
    """Return whether the ratio to the order of a rate rises on a ladder that does not decide it."""
    return found.holds is None and found.rate is not None and any(one.is_rising for one in found.rate.ladders)


def _choose_best(places: list[SearchPoint]) -> list[SearchPoint]:
    return sorted(places, key=lambda place: -place.score)[:_POOL]


def _is_confirmable(table: Table) -> bool:
    """Return whether an exact check takes seconds; the size of numbers grows with every step."""
    return estimate_exact_cost(table) <= _CONFIRMED


def estimate_exact_cost(table: Table) -> int:
    """Estimate the multiplications of short numbers in an exact run."""
    return estimate_cost(table) * (1 + count_steps(table) // _LENGTH)


def halve_while_clear(table: Table, is_clear: Callable[[Table], bool], light: int) -> Table:
    """Halve clients, rounds or steps of a violation while it stays clear, down to `light` exact multiplications."""
    while estimate_exact_cost(table) > light:
        half = next(filter(is_clear, list_halves(table)), None)
        if half is None:
            break
        table = half
    return table


def list_halves(table: Table) -> Iterator[Table]:
    """Yield the run with half of its clients, rounds or local steps; fewer steps are also tried with larger sizes."""
    if count_clients(table) > 1:
        yield with_clients(table, list(range(count_clients(table) // 2)))
    rounds, steps = get(table, "algorithm.rounds"), get(table, "algorithm.local_steps")
    if not isinstance(rounds, int) or not isinstance(steps, int):
        return
    for longer in (1, 2) if rounds > 1 else ():
        yield scale(change(table, {"algorithm.rounds": rounds // 2}), {STEP_SIZE: fmpq(longer)})
    for more in (1, 2):
        fewer = change(table, {"algorithm.local_steps": steps // (2 * more), "algorithm.rounds": rounds * more})
        for longer in (1, 2, 4) if steps >= 2 * more else ():
            yield scale(fewer, {STEP_SIZE: fmpq(longer)})


def estimate_cost(table: Table) -> int:
    """Estimate the multiplications of a run.

    Stale models are additional vectors. If all clients start from the newest model and noise is equal everywhere, they
    are averaged once.
    """
    waits = get(table, "algorithm.clock.policy") in (None, "sync")
    if waits and get(table, "problem.batch") is None:
        steps = find_most_steps(table) * count_clients(table) + count_steps(table)
    else:
        steps = count_steps(table) * count_clients(table) * (1 if waits else count_clients(table) + 1)
    return int((steps + count_rows(table)) * (get_dimension(table) + 1) ** 3)
