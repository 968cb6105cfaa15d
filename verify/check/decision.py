"""Whether the sides of a link are as claimed, entry by entry: certain, or left open where rounding has a say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import NEAR_TIE, Array
from verify.check.sides import Sides

_STEADY = 100
"""How many times its change at nearby runs a gap has to be, to count."""


@dataclass(frozen=True, eq=False)
class Decision:
    """For each entry whether the relation holds, and whether it fails; neither where it is left open."""

    holds: Array
    fails: Array

    @property
    def is_open(self) -> Array:
        """Where floats are too close, or an enclosure is too wide."""
        is_open: Array = ~(self.holds | self.fails)
        return is_open

    def at(self, entry: int) -> bool | None:
        """The answer at an entry."""
        return None if self.is_open[entry] else bool(self.holds[entry])


def decide(sides: Sides, nearby: Sequence[Sides]) -> Decision:
    """What can be said of the relation; what moves too much at `nearby` runs is left open."""
    operator = sides.link.relation.operator
    gap = -abs(sides.slack) if operator == "==" else sides.slack
    is_strict = operator in ("<", ">")
    found = _exactly(gap, is_strict) if gap.dtype == object else _in_floats(gap, sides, nearby, is_strict)
    if operator == "==" and nearby:
        # What cancels in an equation can be all rounding, at any size: only rationals find it to be wrong.
        found = Decision(found.holds, np.zeros_like(found.fails))
    if not is_strict and found.is_open.any() and sides.link.is_identity:
        return Decision(np.ones_like(found.holds), np.zeros_like(found.fails))
    return found


def _exactly(gap: Array, is_strict: bool) -> Decision:
    """An enclosure that contains zero is on neither side."""
    holds, fails = (gap > 0, gap <= 0) if is_strict else (gap >= 0, gap < 0)
    return Decision(holds.astype(bool), fails.astype(bool))


def _in_floats(gap: Array, sides: Sides, nearby: Sequence[Sides], is_strict: bool) -> Decision:
    unsteadiness = _unsteadiness(sides, nearby)
    # Written so that NaN, which no comparison holds for, is a near tie.
    is_close = ~(abs(gap) > np.maximum(NEAR_TIE * sides.scale, _STEADY * unsteadiness))
    is_clear = ~(is_close & ((sides.scale != 0) | (unsteadiness > 0)))
    fits = gap > 0 if is_strict else gap >= 0
    return Decision(is_clear & fits, is_clear & ~fits)


def _unsteadiness(sides: Sides, nearby: Sequence[Sides]) -> Array:
    """How far the difference of the sides moves, entry by entry, at nearby runs; infinite without a counterpart."""
    slack = sides.slack
    largest: Array = np.zeros(slack.shape)
    for near in nearby:
        has_counterpart = near.slack.shape == slack.shape
        largest = np.maximum(largest, abs(near.slack - slack) if has_counterpart else np.inf)
    return largest
