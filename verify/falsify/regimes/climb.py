"""Local ascent from a point: one coordinate at a time, in ever smaller steps, and on in the direction that helped.

What moves a run, start, noise or gradients, stays: each set of them is its own valley.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from verify.falsify.regimes.evaluation import Evaluation, Seen
from verify.falsify.regimes.factors import Factor, Level, Point

_GAIN = 1e-4
"""Rise of the score that justifies a step."""
_REPEATED = 6
"""Times that a step which helped is taken again."""
_SCALES = 3
_HORIZON = (5, 2, 1)
"""Steps of the horizon's exponent."""
_HORIZONS = (("T", 0), ("cycle", 0), ("L", 0), ("L", 5), ("mu", 5))
_FIRST = ("step size", "horizon", "clients", "local steps")
"""Coordinates along which valleys usually run."""


class LevelClimb:
    """Ascents of one score over the levels that apply, with a bounded number of evaluations."""

    def __init__(
        self,
        evaluation: Evaluation,
        levels: Mapping[str, Sequence[Level]],
        random: Random,
        look: Callable[[Point], Seen],
        value: Callable[[Seen], float],
        *,
        kept: Sequence[str] = ("sources",),
    ) -> None:
        """`kept` are coordinates that stay unchanged."""
        self._evaluation, self._levels, self._random, self._look = evaluation, levels, random, look
        self._value, self._kept = value, kept
        self._factors = evaluation.factors

    def from_point(self, start: Seen, evaluations: int) -> Seen:
        """The best point that is reached, by sweeps over all coordinates."""
        at, scale, end = start, 0, self._evaluation.count + evaluations
        while scale < _SCALES and self._evaluation.count < end:
            swept = self._sweep(at, scale, end)
            scale += swept is at
            at = swept
        return at

    def _sweep(self, at: Seen, scale: int, end: int) -> Seen:
        """Each coordinate in turn, from where the last one led."""
        names = [name for name in self._factors if name not in self._kept]
        self._random.shuffle(names)
        names.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
        for name in names:
            at = self._along(at, name, scale, end)
        return at

    def _along(self, at: Seen, name: str, scale: int, end: int) -> Seen:
        """The first move of a coordinate that helps, and on from there; else where it was."""
        for level in self._moves(at.point, name, scale):
            if self._evaluation.count >= end:
                break
            seen = self._look({**at.point, name: level})
            if self._value(seen) > self._value(at) + _GAIN:
                return self._onward(at, seen, name)
        return at

    def _onward(self, before: Seen, at: Seen, name: str) -> Seen:
        """Repeat a move as long as it helps."""
        for _ in range(_REPEATED):
            level = self._repeat(name, before.point[name], at.point[name])
            if level is None or level == at.point[name]:
                break
            seen = self._look({**at.point, name: level})
            if self._value(seen) <= self._value(at) + _GAIN:
                break
            before, at = at, seen
        return at

    def _repeat(self, name: str, old: Level, new: Level) -> Level:
        """The level after one more such move; None where levels are words."""
        if name == "horizon":
            return (new[0], 2 * new[1] - old[1]) if new[0] == old[0] else None
        if not (_is_number(old) and _is_number(new) and self._factors[name].steps):
            return None
        return self._factors[name].within(2 * new - old)

    def _moves(self, point: Point, name: str, scale: int) -> Iterator[Level]:
        factor, levels = self._factors[name], self._levels.get(name, ())
        if name == "horizon":
            yield from self._horizons(point, scale)
        elif len(levels) > 1:
            yield from _steps(factor, point[name], scale)
            yield from (level for level in levels if scale == 0 and _is_other(factor, level, point[name]))

    def _horizons(self, point: Point, scale: int) -> Iterator[Level]:
        unit, exponent = point["horizon"]
        for step in (_HORIZON[scale], -_HORIZON[scale]):
            yield unit, exponent + step
        if scale == 0:
            yield from (level for level in _HORIZONS if level[0] != unit)


def _steps(factor: Factor, level: Level, scale: int) -> Iterator[Level]:
    """Steps up and down of a number, within its bounds."""
    if not factor.steps or not _is_number(level):
        return
    size = factor.steps[min(scale, len(factor.steps) - 1)]
    for moved in (factor.within(level + size), factor.within(level - size)):
        if moved != level:
            yield moved


def _is_other(factor: Factor, level: Level, present: Level) -> bool:
    """Return whether a level is another one that no step along numbers reaches."""
    return bool(level != present) and not (factor.steps and _is_number(level) and _is_number(present))


def _is_number(level: Level) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool)
