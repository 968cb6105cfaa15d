"""Result of an O(.) statement on a run: the levels of each ladder, their slopes and the largest ratio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Number, plain_float
from verify.check.growth import Growth

RISING = 0.1
"""Slope of log(quantity / order) over log(variable), towards the limit, above which a rate is not supported."""


@dataclass(frozen=True)
class LadderLevel:
    """One run of a ladder: the value of each variable, the measured quantity and the order."""

    variable: Number
    """The value of the first variable."""
    measured: Number
    order: Number
    others: tuple[Number, ...] = ()
    """The values of the further variables of the rate, in order."""

    @property
    def values(self) -> tuple[Number, ...]:
        """Return the values of all variables."""
        return self.variable, *self.others


@dataclass(frozen=True)
class MeasuredLadder:
    """Values along a ladder: a sequence of runs along which one variable changes, or all variables together."""

    variables: tuple[sp.Symbol, ...]
    """The variables that change along the ladder."""
    levels: tuple[LadderLevel, ...]
    positions: tuple[float, ...]
    """The variable at each level; on a joint ladder, the factor by which all variables are closer to their limits."""
    grows: bool
    """Whether positions grow towards the limit; step sizes decrease."""
    rise: float | None = None
    """Fitted slope of the ratio to the order, towards the limit, on the last half of the accurate levels.

    If it is positive, the quantity is of a larger order than claimed. None where a stated constant decides.
    """

    @property
    def is_joint(self) -> bool:
        """Return whether several variables change together."""
        return len(self.variables) > 1

    @property
    def is_rising(self) -> bool:
        """Return whether the ratio to the order rises, which is evidence against a rate."""
        return self.rise is not None and self.rise > RISING

    @cached_property
    def scale(self) -> float:
        """Return the largest absolute value of the quantity."""
        return max(abs(plain_float(level.measured)) for level in self.levels)

    @cached_property
    def ratios(self) -> tuple[float, ...]:
        """Return the absolute values of the quantity over the order."""
        return tuple(abs(plain_float(level.measured / level.order)) for level in self.levels)

    @cached_property
    def slope(self) -> float | None:
        """Return the slope of log(measured) over log(position) on the last half; None where a value is zero."""
        values = [abs(plain_float(level.measured)) for level in self.levels]
        return _fit_slope_of_logs(self.positions, values) if min(values) > 0 else None

    def fit_rise(self, places: Sequence[int]) -> float:
        """Fit the slope, towards the limit, of the ratio to the order over the last half of the given levels."""
        fitted = _fit_slope_of_logs(
            [self.positions[place] for place in places], [self.ratios[place] for place in places]
        )
        return fitted if self.grows else -fitted

    def describe_rise(self, in_words: Callable[[sp.Expr], str]) -> str:
        """Describe the growth of the ratio to the order on a ladder on which it rises."""
        assert self.rise is not None
        names = [in_words(variable) for variable in self.variables]
        if self.is_joint:
            return (
                f"the ratio rises like c^{self.rise:.2f} as {' and '.join(names)} come c times closer to their limits"
            )
        return f"the ratio rises like {names[0]}^{self.rise if self.grows else -self.rise:.2f}"


@dataclass(frozen=True)
class RateCheck:
    """All ladders of one run, and the limits that decide."""

    holds: bool | None
    levels: tuple[LadderLevel, ...]
    """The ladder of the first variable."""
    constant: float | None
    """Largest measured / order on all ladders."""
    limit: Number | None
    """Exact limit of the quantity as rounds tend to infinity at constant step size, if it exists."""
    ladders: tuple[MeasuredLadder, ...] = ()
    """One ladder for each variable; with several variables also a joint ladder, if the conditions hold on it."""
    growth: Growth | None = None
    """The exact limit that decides the rate, if it exists."""

    @cached_property
    def slope(self) -> float | None:
        """Return the slope of log(measured) over log(first variable) on the last half of its ladder."""
        return MeasuredLadder(
            (), self.levels, tuple(plain_float(level.variable) for level in self.levels), grows=True
        ).slope

    @property
    def all_levels(self) -> tuple[LadderLevel, ...]:
        """Return the levels of all ladders without repetition; exact values take precedence over floats."""
        levels = [*self.levels, *(level for ladder in self.ladders for level in ladder.levels)]
        found: dict[tuple[float, ...], LadderLevel] = {}
        for level in levels:
            found.setdefault(tuple(map(plain_float, level.values)), level)
        return tuple(found.values())

    def reason(self, in_words: Callable[[sp.Expr], str]) -> str | None:
        """Describe the evidence that decides the rate or contradicts it, with the claim's names of variables.

        An exact limit decides; a rising ratio to the order is evidence against the rate.
        """
        if self.growth is not None:
            return self.growth.words(in_words)
        if self.holds is False:
            return "a run of the ladder is above the stated constant times the order"
        rising = [ladder for ladder in self.ladders if ladder.is_rising]
        if self.holds is True or not rising:
            return None
        return f"{'; '.join(ladder.describe_rise(in_words) for ladder in rising)}: evidence against"

    @property
    def is_zero(self) -> bool:
        """Return whether the quantity is zero on all ladders, so that every rate holds."""
        return all(level.measured == 0 for level in self.all_levels)


def _fit_slope_of_logs(positions: Sequence[float], values: Sequence[float]) -> float:
    """Fit by least squares the slope of log(value) over log(position) on the last half of the ladder."""
    half = len(values) // 2
    logs = np.log(np.maximum(values[half:], 1e-300))
    return float(np.polyfit(np.log(positions[half:]), logs, 1)[0])
