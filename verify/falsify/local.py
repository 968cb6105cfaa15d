"""Local searches: move from a run to a similar one that is closer to violating the claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import simplest_between
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from verify.check.applicability import check_conditions
from verify.falsify.knobs import Knob, find_knob, list_knobs
from verify.falsify.rounding import factor_of
from verify.falsify.score import NOTHING
from verify.falsify.search_state import SearchPoint
from verify.falsify.tables import NO_RUN, STEP_SIZE, Table, quick, read, scaled

Look = Callable[[Table], float]
Structure = Callable[[Table], Iterator[Table]]

_HALVINGS = 10
_PRECISION = 0.02
"""Relative precision of factors in the search; it is coarse, so that numbers stay short."""


def turned(table: Table, knob: Knob, factor: fmpq) -> Table | None:
    """Return the table with one aspect multiplied by a factor; None if the result is not a valid run."""
    try:
        return knob.turn(table, factor)
    except (FedtheoryError, ArithmeticError):
        return None


def without(table: Table, names: Sequence[str]) -> Table:
    """Return the table without the aspects of the named knobs."""
    for name in names:
        knob = find_knob(table, name)
        table = table if knob is None else turned(table, knob, fmpq(0)) or table
    return table


class LocalClimb:
    """Local ascent that keeps each move that increases the score, with a bounded number of evaluations."""

    def __init__(
        self, claim: Claim, look: Look, at: SearchPoint, looks: int, structure: Structure, *, gain: float = 1e-9
    ) -> None:
        self._claim, self._look, self.at, self.left, self._structure = claim, look, at, looks, structure
        self._gain = gain

    def tries(self, table: Table | None) -> bool:
        """Return whether a table has a higher score than the present one, which it then replaces."""
        self.left -= 1
        if table is None or self.left < 0:
            return False
        reached = self._look(table)
        if reached == NOTHING and self._claim.run_conditions:
            repaired = within_conditions(self._claim, table)
            reached, table = (NOTHING, table) if repaired is None else (self._look(repaired), repaired)
        if reached <= self.at.score + self._gain:
            return False
        self.at = SearchPoint(table, reached)
        return True

    def sweep_units(self) -> None:
        """Try large changes of units, under which a correct bound is invariant."""
        for name in ("unit of values", "unit of length", "unit of inputs", "unit of outputs"):
            for exponent in (6, -6):
                self._turn(name, fmpq(2) ** exponent)

    def sweep_knobs(self, exponents: tuple[float, ...], generator: np.random.Generator) -> None:
        """Try all knobs in both directions, in random order, with decreasing factors; successful moves are repeated."""
        for exponent in exponents:
            names = [knob.name for knob in list_knobs(self.at.table)]
            for place in generator.permutation(len(names)) if self.left > 0 else ():
                for signed in (exponent, -exponent):
                    while self._turn(names[place], factor_of(signed, _PRECISION)):
                        pass

    def without(self) -> None:
        """Remove every aspect that can vanish."""
        for knob in list_knobs(self.at.table):
            if knob.may_vanish:
                self._turn(knob.name, fmpq(0))

    def sweep_structure(self) -> None:
        """Try all variants of the structure, and start again after each success."""
        for table in self._structure(self.at.table):
            if self.tries(table) or self.left <= 0:
                return

    def move_to_largest_step(self) -> None:
        """Move to the largest step size that the conditions allow."""
        if self._claim.run_conditions:
            self.tries(move_to_edge(self._claim, self.at.table))

    def turn_random_knobs(self, generator: np.random.Generator, spread: float) -> None:
        """Multiply a few aspects at once by random factors."""
        table: Table | None = self.at.table
        knobs = list_knobs(self.at.table)
        for place in generator.choice(len(knobs), size=min(len(knobs), int(generator.integers(1, 5))), replace=False):
            if table is None:
                break
            exponent = spread * float(generator.standard_normal())
            table = turned(table, knobs[place], factor_of(exponent, _PRECISION))
        self.tries(table)

    def _turn(self, name: str, factor: fmpq) -> bool:
        """Multiply the aspect of a knob, if the present table has it."""
        knob = find_knob(self.at.table, name)
        return knob is not None and self.tries(turned(self.at.table, knob, factor))


def within_conditions(claim: Claim, table: Table) -> Table | None:
    """Reduce the steps until the conditions hold; None if smaller steps do not help."""
    run = read(table, quick(table))
    factor = None if run is None else factor_within(claim, run)
    return None if factor is None else _with_steps(table, factor)


def move_to_edge(claim: Claim, table: Table) -> Table | None:
    """Increase the steps to the largest that the conditions allow; None if there is no limit nearby."""
    run = read(table, quick(table))
    factor = None if run is None else factor_at_edge(claim, run)
    return None if factor is None else _with_steps(table, factor)


def factor_within(claim: Claim, run: Run) -> fmpq | None:
    """Return a factor of the steps with which the conditions hold; None if they hold already, or smaller steps do not
    help.
    """
    if _conditions_hold(claim, run) is not False:
        return None
    for power in (1, 2, 4, 8, 16):
        factor = fmpq(1, 2**power)
        if _hold_after_scaling(claim, run, factor):
            return factor
    return None


def factor_at_edge(claim: Claim, run: Run) -> fmpq | None:
    """Return the factor of the largest steps that the conditions allow; None if there is no limit nearby."""
    low, high = fmpq(1), fmpq(2)
    while _hold_after_scaling(claim, run, high):
        low, high = high, 2 * high
        if high > 2**16:
            return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _hold_after_scaling(claim, run, middle):
            low = middle
        else:
            high = middle
    # The limit is usually a simple number.
    return next((edge for edge in _simplest_first(low, high) if _hold_after_scaling(claim, run, edge)), None)


def scale_steps(run: Run, factor: fmpq) -> Run:
    """Return the run with all step sizes multiplied; cached values of its problem are kept."""
    return run.with_step_factor(run.arithmetic.number(factor, STEP_SIZE))


def _simplest_first(low: fmpq, high: fmpq) -> Iterator[fmpq]:
    simplest = simplest_between(low, high)
    yield simplest
    for parts in (4, 2, 1):
        yield simplest_between(low, low + (simplest - low) / parts)
    yield low


def _with_steps(table: Table, factor: fmpq) -> Table:
    return scaled(table, {STEP_SIZE: factor})


def _hold_after_scaling(claim: Claim, run: Run, factor: fmpq) -> bool | None:
    return _conditions_hold(claim, scale_steps(run, factor))


def _conditions_hold(claim: Claim, run: Run) -> bool | None:
    """Return whether all conditions hold; None where they cannot be evaluated."""
    with suppress(*NO_RUN):
        return check_conditions(claim, run)
    return None
