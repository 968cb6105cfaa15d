"""What is found of an O(.) statement on a run: the rungs of each ladder, their slopes and their largest ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Number, plain_float


@dataclass(frozen=True)
class Rung:
    """One value of each variable."""

    values: tuple[Number, ...]
    """Of the variables of the rate, in their order."""
    measured: Number
    order: Number

    @property
    def variable(self) -> Number:
        """The value of the first variable."""
        return self.values[0]


@dataclass(frozen=True)
class Climb:
    """A ladder of one variable, with the others held; or of all variables together."""

    variables: tuple[sp.Symbol, ...]
    """The variables that change along it."""
    rungs: tuple[Rung, ...]
    positions: tuple[float, ...]
    """At each rung the variable; on a joint ladder the factor by which each variable is closer to its limit."""
    grows: bool
    """Whether positions grow towards the limit; step sizes shrink."""

    @property
    def is_joint(self) -> bool:
        """Whether several variables change together."""
        return len(self.variables) > 1

    @cached_property
    def scale(self) -> float:
        """The largest absolute value of the quantity."""
        return max(abs(plain_float(rung.measured)) for rung in self.rungs)

    @cached_property
    def ratios(self) -> tuple[float, ...]:
        """Absolute values of the quantity over the order."""
        return tuple(abs(plain_float(rung.measured / rung.order)) for rung in self.rungs)

    @cached_property
    def slope(self) -> float | None:
        """Fitted slope of log(measured) over the log of the position on the last half; None where a value is zero."""
        values = [abs(plain_float(rung.measured)) for rung in self.rungs]
        return _fit(self.positions, values) if min(values) > 0 else None

    def rise(self, places: Sequence[int]) -> float:
        """Fitted slope, towards the limit, of the ratio to the order over the last half of some of the rungs."""
        fitted = _fit([self.positions[place] for place in places], [self.ratios[place] for place in places])
        return fitted if self.grows else -fitted


@dataclass(frozen=True)
class RateCheck:
    """The ladders of one run, and what they say."""

    holds: bool | None
    climbs: tuple[Climb, ...]
    """One for each variable; with several variables another one of all together, where the conditions hold on it."""
    constant: float | None
    """Largest measured / order on all ladders."""
    limit: Number | None
    """Exact limit of the quantity for ever more rounds at constant step size, where there is one."""

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The ladder of the first variable."""
        return self.climbs[0].rungs

    @property
    def slope(self) -> float | None:
        """Fitted slope on the ladder of the first variable."""
        return self.climbs[0].slope

    @property
    def all_rungs(self) -> tuple[Rung, ...]:
        """The rungs of all ladders, each once."""
        return tuple({id(rung): rung for climb in self.climbs for rung in climb.rungs}.values())

    @property
    def is_zero(self) -> bool:
        """Whether the quantity is zero on all ladders, which is O of everything."""
        return all(rung.measured == 0 for climb in self.climbs for rung in climb.rungs)


def _fit(positions: Sequence[float], values: Sequence[float]) -> float:
    """Least-squares slope of log(value) over log(position) on the last half of the ladder."""
    half = len(values) // 2
    logs = np.log(np.maximum(values[half:], 1e-300))
    return float(np.polyfit(np.log(positions[half:]), logs, 1)[0])
