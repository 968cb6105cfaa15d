"""Shrink a counterexample to fewer and simpler numbers, as long as exact arithmetic confirms the violation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import ENCLOSED, RATIONAL, Array, find_simplest_between
from fedtheory.errors import NotApplicable
from fedtheory.federation.losses import KINDS
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.check import Check
from verify.check.outcome import rank_unclearness
from verify.effort import measure_work, spend_a_try
from verify.falsify.local_search import apply_scaling
from verify.falsify.run_tables import (
    Table,
    change,
    count_clients,
    evaluate_rigorously,
    get,
    iterate_numbers,
    list_number_keys,
    make_working_table,
    map_entries,
    measure_hand_work,
    read_array,
    write_table,
)
from verify.falsify.scalings import find_scaling, list_scalings, translate
from verify.falsify.score import NOTHING, score
from verify.falsify.search_state import is_moving
from verify.falsify.simple_numbers import list_simpler, measure_length
from verify.falsify.smaller_runs import COUNTS, LARGE, OPTIONAL, remove_keys, remove_parts

_MANY = 16
"""A quarter of the numbers of a key from which on not each of them is tried on its own."""
_TURNS = 6
"""Number of moves towards a clear margin."""
_KEY = 24
"""Weight of an optional key relative to its numbers."""

ReadingEffort = tuple[bool, int, bool, bool, int, int]
Keeps = Callable[[Table, Check], bool]
"""Test that a smaller run must pass."""


def shrink(claim: Claim, table: Table, deadline: float, on_tick: Callable[[], None] = lambda: None) -> Table:
    """Return the smallest counterexample that greedy steps reach from a given one, as the table of a run file.

    `deadline` is a value of the work clock, `verify.effort.measure_work`, and `on_tick` is called before each try. The
    given table has to violate the claim in rationals; every step keeps that, and all assumptions and conditions. A
    table that does not is returned as given.
    """
    return _shrink(claim, table, deadline, _is_violated, on_tick)


def simplify(claim: Claim, table: Table, deadline: float, on_tick: Callable[[], None] = lambda: None) -> Table:
    """Return a simpler run that moves, on which the claim holds with at least the same score."""
    found = evaluate_rigorously(claim, table)
    reached = NOTHING if found is None else score(found)
    lively = is_moving(make_working_table(parse_run(table, RATIONAL)))

    def keeps(other: Table, says: Check) -> bool:
        return says.holds is True and score(says) >= reached and is_moving(other) >= lively

    return _shrink(claim, table, deadline, keeps, on_tick)


def _shrink(claim: Claim, table: Table, deadline: float, keeps: Keeps, on_tick: Callable[[], None]) -> Table:
    start = make_working_table(parse_run(table, RATIONAL))
    begin = _measure_effort(claim, start, keeps)
    if begin is None:
        return table
    return write_table(_Shrinking(claim, start, begin, keeps, _limit_time(deadline, on_tick)).shrink())


def _is_violated(_table: Table, found: Check) -> bool:
    return found.holds is False


def measure_reading_effort(claim: Claim, table: Table) -> ReadingEffort | None:
    """Return the effort of a counterexample for a reader, as a sort key; None for a run that is not one.

    The key compares in turn: rational sides; a clear margin, a small margin, or a side that is zero, which looks like a
    special case; constants on the whole space; linear gradients; the size of the run and the length of its numbers and
    of the two sides.
    """
    return _measure_effort(claim, make_working_table(parse_run(table, RATIONAL)), _is_violated)


def is_clear(claim: Claim, table: Table) -> bool:
    """Return whether a counterexample is rational and clear, with linear gradients and global constants."""
    effort = measure_reading_effort(claim, table)
    return effort is not None and effort[:4] == (False, 0, False, False)


class _TimeIsUp(Exception):
    """Raised when the deadline has passed."""


def _limit_time(deadline: float, on_tick: Callable[[], None]) -> Callable[[int], None]:
    """Return a function to be called before each try, with its number of clients.

    It raises `_TimeIsUp` after the deadline.
    """

    def tick(clients: int) -> None:
        on_tick()
        spend_a_try(clients)
        if measure_work() > deadline:
            raise _TimeIsUp

    return tick


class _Shrinking:
    """A counterexample during shrinking."""

    def __init__(
        self, claim: Claim, table: Table, begin: ReadingEffort, keeps: Keeps, tick: Callable[[int], None]
    ) -> None:
        self._claim, self.table, self._effort, self._keeps, self._tick = claim, table, begin, keeps, tick
        self._checked = {repr(table)}
        """Tables that were kept, or refused: efforts only fall, so that none of them is smaller later."""

    def shrink(self) -> Table:
        """Apply steps of all kinds until none helps or the deadline has passed."""
        kinds = (
            partial(self._repeat, remove_parts),
            self._bisect_counts,
            partial(self._repeat, remove_keys),
            self._change_units,
            self._simplify_numbers,
        )
        with suppress(_TimeIsUp):
            self._clear_margin()
            while sum(kind() for kind in kinds):
                pass
        return self.table

    def _tries(self, table: Table | None) -> bool:
        """Return whether a table is a smaller counterexample, and keep it if so."""
        self._tick(count_clients(self.table))
        if table is None or _measure_table(table) >= self._effort[3:] or repr(table) in self._checked:
            return False
        self._checked.add(repr(table))
        reached = _measure_effort(self._claim, table, self._keeps)
        if reached is None or reached >= self._effort:
            return False
        self.table, self._effort = table, reached
        return True

    def _clear_margin(self) -> None:
        """Try first to get a clear margin, by steps that may make the run larger; small numbers come after it."""
        for _ in range(_TURNS):
            if self._effort[1] == 0:
                return
            reached = [
                (table, effort, gap)
                for table in list_clearer(self.table)
                for effort, gap in self._measure_margins(table)
            ]
            table, effort, gap = min(reached, key=_sort_by_margin, default=(None, None, 0.0))
            if table is None or effort is None or (effort[1] == self._effort[1] and gap <= self._gap()):
                return
            self.table, self._effort = table, effort

    def _measure_margins(self, table: Table) -> Iterator[tuple[ReadingEffort, float]]:
        """Yield the effort and the margin of a table if it is a counterexample."""
        self._tick(count_clients(self.table))
        found = evaluate_rigorously(self._claim, table)
        reached = None if found is None else _measure_effort_of_check(table, found, self._keeps)
        if found is not None and reached is not None:
            yield reached, _compute_margin(found) or 0.0

    def _gap(self) -> float:
        found = evaluate_rigorously(self._claim, self.table)
        return 0.0 if found is None else (_compute_margin(found) or 0.0)

    def _bisect_counts(self) -> bool:
        """Reduce large numbers of rounds and local steps by bisection."""
        helped = False
        for count, with_count in COUNTS:
            low, high = count(self.table) // 2, count(self.table)
            while high > LARGE and high - low > 1:
                middle = (low + high) // 2
                if self._tries(with_count(self.table, middle)):
                    helped, high = True, middle
                else:
                    low = middle
        return helped

    def _change_units(self) -> bool:
        """Change coordinates, units and factors so that numbers become simpler."""
        helped = sum(self._tries(translate(self.table, origin)) for origin in _list_origins(self.table)) > 0
        for scaling in list_scalings(self.table):
            for factor in _list_plain_factors(self.table):
                current = find_scaling(self.table, scaling.name)
                helped |= current is not None and self._tries(apply_scaling(self.table, current, factor))
        return helped

    def _simplify_numbers(self) -> bool:
        """Simplify numbers, first all equal ones of a key at once, then one by one."""
        helped = False
        for key in list_number_keys():
            for value in dict.fromkeys(iterate_numbers(get(self.table, key))):
                helped |= any(self._tries(_replace(self.table, key, value, other)) for other in list_simpler(value))
            places = len(list(iterate_numbers(get(self.table, key))))
            for place in range(places if places <= 4 * _MANY else 0):
                helped |= self._simplify_at(key, place)
        return helped

    def _simplify_at(self, key: str, place: int) -> bool:
        numbers = list(iterate_numbers(get(self.table, key)))
        return place < len(numbers) and any(
            self._tries(_replace_at(self.table, key, place, other)) for other in list_simpler(numbers[place])
        )

    def _repeat(self, smaller: Callable[[Table], Iterator[Table]]) -> bool:
        """Keep the first smaller counterexample, repeat from it, and return whether there was one."""
        helped = False
        while any(self._tries(table) for table in smaller(self.table)):
            helped = True
        return helped


def _sort_by_margin(found: tuple[Table, ReadingEffort, float]) -> tuple[float, ...]:
    """Return a sort key: clear margins first, among them the simplest run; otherwise the largest margin."""
    _, effort, gap = found
    return (0, *effort[3:]) if effort[1] == 0 else (effort[1], -gap)


_AWAY = tuple(fmpq(sign, 4**power) for power in range(12) for sign in (1, -1))
"""Distance from the optimum of a start that counts equally on both sides, about as large as the violation."""
_FARTHER = (fmpq(4), fmpq(1, 4), fmpq(2), fmpq(1, 2))


def list_clearer(table: Table) -> Iterator[Table]:
    """Yield runs on which the violation may be clearer: scaled aspects, more rounds, a start off the optimum."""
    for scaling in list_scalings(table):
        for factor in _FARTHER:
            other = apply_scaling(table, scaling, factor)
            if other is not None:
                yield other
    problem = parse_run(table, RATIONAL).problem
    if (problem.start == problem.centre).all():
        for step in _AWAY:
            near = [sorted((x + step * max(1, abs(x)), x + step * max(1, abs(x)) / 2)) for x in problem.start]
            yield change(table, {"problem.start": [find_simplest_between(low, high) for low, high in near]})


def _measure_effort(claim: Claim, table: Table, keeps: Keeps) -> ReadingEffort | None:
    found = evaluate_rigorously(claim, table)
    return None if found is None else _measure_effort_of_check(table, found, keeps)


def _measure_effort_of_check(table: Table, found: Check, keeps: Keeps) -> ReadingEffort | None:
    """Return the effort of a table with its check."""
    if not found.applicable or not keeps(table, found):
        return None
    unclear = 0 if found.rate is not None or found.holds else rank_unclearness(_compute_margin(found))
    is_loss, parts, numbers = _measure_table(table)
    numbers += _measure_sides(found)
    return found.arithmetic is ENCLOSED, unclear, not found.everywhere, is_loss, parts, numbers


def _measure_sides(found: Check) -> int:
    """Return the length of the two sides, which a reader computes by hand."""
    worst = found.worst
    sides = () if worst is None else (worst.lhs, worst.rhs)
    return sum(measure_length(side) for side in sides if isinstance(side, fmpq))


def _compute_margin(found: Check) -> float | None:
    """Return the larger over the smaller side, the margin of a violation; None if one is zero."""
    ratio = found.ratio
    return None if ratio is None or ratio <= 0 else max(ratio, 1 / ratio)


def _measure_table(table: Table) -> tuple[bool, int, int]:
    """Return whether gradients are nonlinear, the size of the run, and the length of its numbers and keys."""
    numbers = sum(measure_length(value) for key in list_number_keys() for value in iterate_numbers(get(table, key)))
    keys = sum(_KEY for key in OPTIONAL if get(table, key) is not None)
    steps, breaks_ties = get(table, "algorithm.local_steps"), get(table, "algorithm.clock.ties") == "one-by-one"
    is_loss = table["problem"]["kind"] in KINDS
    own_steps = len(steps) if isinstance(steps, list) else 0
    return is_loss, measure_hand_work(table), numbers + keys + own_steps + breaks_ties


def _replace(table: Table, key: str, old: fmpq, new: fmpq) -> Table:
    """Replace all equal numbers of a key."""
    return change(table, {key: map_entries(get(table, key), lambda number: new if number == old else number)})


def _replace_at(table: Table, key: str, place: int, new: fmpq) -> Table:
    """Replace one number of a key; in a Hessian, also its transposed entry."""
    value = get(table, key)
    if not isinstance(value, list):
        return change(table, {key: new})
    if key == "problem.hessians":
        hessians = read_array(table, key)
        client, row, column = np.unravel_index(place, hessians.shape)
        hessians[client, row, column] = hessians[client, column, row] = new
        return change(table, {key: hessians.tolist()})
    places = itertools.count()
    return change(table, {key: map_entries(value, lambda number: new if next(places) == place else number)})


def _list_origins(table: Table) -> list[Array]:
    """Return points that could be moved to zero: the start, the optimum, the minimisers of the clients."""
    problem = parse_run(table, RATIONAL).problem
    points = [problem.start, problem.centre]
    with suppress(NotApplicable):
        points += list(problem.client_optima)
    # Many clients have equal minimisers, and each translation rewrites all of them.
    return list({tuple(point): point for point in points}.values())


def _list_plain_factors(table: Table) -> list[fmpq]:
    """Return small factors, and those that turn a number of the table into one."""
    numbers = {abs(value) for key in list_number_keys() for value in iterate_numbers(get(table, key)) if value != 0}
    rarest = sorted(numbers, key=lambda value: -measure_length(value))[:4]
    small = [*(fmpq(1, n) for n in (2, 3, 4, 5)), fmpq(2), fmpq(4)]
    return list(dict.fromkeys([*(1 / value for value in rarest), *rarest, *small]))
