"""Local searches: move from a run to a similar one that is closer to violating the claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import find_simplest_between
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from verify.check.applicability import check_conditions
from verify.falsify.run_tables import NO_RUN, STEP_SIZE, Table, choose_fast_arithmetic, read, scale
from verify.falsify.scalings import Scaling, find_scaling, list_scalings
from verify.falsify.score import NOTHING
from verify.falsify.search_state import SearchPoint
from verify.falsify.simple_numbers import find_simple_power

Look = Callable[[Table], float]
Structure = Callable[[Table], Iterator[Table]]

_HALVINGS = 10
_PRECISION = 0.02
"""Relative precision of factors in the search; it is coarse, so that numbers stay short."""


def apply_scaling(table: Table, scaling: Scaling, factor: fmpq) -> Table | None:
    """Return the table with one aspect multiplied by a factor; None if the result is not a valid run."""
    try:
        return scaling.apply(table, factor)
    except (FedtheoryError, ArithmeticError):
        return None


def remove_aspects(table: Table, names: Sequence[str]) -> Table:
    """Return the table without the aspects of the named scalings."""
    for name in names:
        scaling = find_scaling(table, name)
        table = table if scaling is None else apply_scaling(table, scaling, fmpq(0)) or table
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
            repaired = reduce_to_conditions(self._claim, table)
            reached, table = (NOTHING, table) if repaired is None else (self._look(repaired), repaired)
        if reached <= self.at.score + self._gain:
            return False
        self.at = SearchPoint(table, reached)
        return True

    def sweep_units(self) -> None:
        """Try large changes of units, under which a correct bound is invariant."""
        for name in ("unit of values", "unit of length", "unit of inputs", "unit of outputs"):
            for exponent in (6, -6):
                self._try_scaling(name, fmpq(2) ** exponent)

    def sweep_scalings(self, exponents: tuple[float, ...], generator: np.random.Generator) -> None:
        """Try all scalings in both directions, in random order, with decreasing factors; successes are repeated."""
        for exponent in exponents:
            names = [scaling.name for scaling in list_scalings(self.at.table)]
            for place in generator.permutation(len(names)) if self.left > 0 else ():
                for signed in (exponent, -exponent):
                    while self._try_scaling(names[place], find_simple_power(signed, _PRECISION)):
                        pass

    def remove_all_aspects(self) -> None:
        """Remove every aspect that can vanish."""
        for scaling in list_scalings(self.at.table):
            if scaling.may_vanish:
                self._try_scaling(scaling.name, fmpq(0))

    def sweep_structure(self) -> None:
        """Try variants of the structure until one succeeds."""
        for table in self._structure(self.at.table):
            if self.tries(table) or self.left <= 0:
                return

    def move_to_largest_step(self) -> None:
        """Move to the largest step size that the conditions allow."""
        if self._claim.run_conditions:
            self.tries(move_to_edge(self._claim, self.at.table))

    def apply_random_scalings(self, generator: np.random.Generator, spread: float) -> None:
        """Multiply a few aspects at once by random factors."""
        table: Table | None = self.at.table
        scalings = list_scalings(self.at.table)
        for place in generator.choice(
            len(scalings), size=min(len(scalings), int(generator.integers(1, 5))), replace=False
        ):
            if table is None:
                break
            exponent = spread * float(generator.standard_normal())
            table = apply_scaling(table, scalings[place], find_simple_power(exponent, _PRECISION))
        self.tries(table)

    def _try_scaling(self, name: str, factor: fmpq) -> bool:
        """Multiply the aspect of a scaling, if the present table has it."""
        scaling = find_scaling(self.at.table, name)
        return scaling is not None and self.tries(apply_scaling(self.at.table, scaling, factor))


def reduce_to_conditions(claim: Claim, table: Table) -> Table | None:
    """Reduce the steps until the conditions hold; None if smaller steps do not help."""
    run = read(table, choose_fast_arithmetic(table))
    factor = None if run is None else find_factor_within(claim, run)
    return None if factor is None else _scale_steps_of(table, factor)


def move_to_edge(claim: Claim, table: Table) -> Table | None:
    """Increase the steps to the largest that the conditions allow; None if there is no limit nearby."""
    run = read(table, choose_fast_arithmetic(table))
    factor = None if run is None else find_factor_at_edge(claim, run)
    return None if factor is None else _scale_steps_of(table, factor)


def find_factor_within(claim: Claim, run: Run) -> fmpq | None:
    """Return a factor of the steps with which the conditions hold; None if they do already, or no factor helps."""
    if _do_conditions_hold(claim, run) is not False:
        return None
    for power in (1, 2, 4, 8, 16):
        factor = fmpq(1, 2**power)
        if _do_conditions_hold_after(claim, run, factor):
            return factor
    return None


def find_factor_at_edge(claim: Claim, run: Run) -> fmpq | None:
    """Return the factor of the largest steps that the conditions allow; None if there is no limit nearby."""
    low, high = fmpq(1), fmpq(2)
    while _do_conditions_hold_after(claim, run, high):
        low, high = high, 2 * high
        if high > 2**16:
            return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _do_conditions_hold_after(claim, run, middle):
            low = middle
        else:
            high = middle
    # The limit is usually a simple number.
    return next((edge for edge in _list_simplest(low, high) if _do_conditions_hold_after(claim, run, edge)), None)


def scale_steps(run: Run, factor: fmpq) -> Run:
    """Return the run with all step sizes multiplied; cached values of its problem are kept."""
    return run.with_step_factor(run.arithmetic.number(factor, STEP_SIZE))


def _list_simplest(low: fmpq, high: fmpq) -> Iterator[fmpq]:
    simplest = find_simplest_between(low, high)
    yield simplest
    for parts in (4, 2, 1):
        yield find_simplest_between(low, low + (simplest - low) / parts)
    yield low


def _scale_steps_of(table: Table, factor: fmpq) -> Table:
    return scale(table, {STEP_SIZE: factor})


def _do_conditions_hold_after(claim: Claim, run: Run, factor: fmpq) -> bool | None:
    return _do_conditions_hold(claim, scale_steps(run, factor))


def _do_conditions_hold(claim: Claim, run: Run) -> bool | None:
    """Return whether all conditions hold; None where they cannot be evaluated."""
    with suppress(*NO_RUN):
        return check_conditions(claim, run)
    return None
