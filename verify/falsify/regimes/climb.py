"""Local ascent from a point: one coordinate at a time with decreasing steps; successful moves are repeated.

The sources of error (start, noise, gradients) are fixed: each set of them has separate local maxima.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from verify.falsify.regimes.evaluation import Evaluation, Seen
from verify.falsify.regimes.factors import Factor, Level, Point

_GAIN = 1e-4
"""Least increase of the score for a step."""
_REPEATED = 6
"""Largest number of repetitions of a successful step."""
_SCALES = 3
_HORIZON = (5, 2, 1)
"""Steps of the horizon's exponent."""
_HORIZONS = (("T", 0), ("cycle", 0), ("L", 0), ("L", 5), ("mu", 5))
_FIRST = ("step size", "horizon", "clients", "local steps")
"""Coordinates that are tried first, because ascents mostly use them."""


class LevelClimb:
    """Local ascents of a score over the applicable levels, with a bounded number of evaluations."""

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
        """Create an ascent; the coordinates `kept` are fixed, also where a move of another one would remove them."""
        self._evaluation, self._levels, self._random, self._look = evaluation, levels, random, look
        self._value, self._kept = value, kept
        self._factors = evaluation.factors

    def climb_from(self, start: Seen, evaluations: int) -> Seen:
        """Return the best point after sweeps over all coordinates."""
        at, scale, end = start, 0, self._evaluation.count + evaluations
        while scale < _SCALES and self._evaluation.count < end:
            swept = self._sweep_coordinates(at, scale, end)
            scale += swept is at
            at = swept
        return at

    def _sweep_coordinates(self, at: Seen, scale: int, end: int) -> Seen:
        """Try each coordinate in turn, always from the best point so far."""
        names = [name for name in self._factors if name not in self._kept]
        self._random.shuffle(names)
        names.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
        for name in names:
            at = self._climb_along(at, name, scale, end)
        return at

    def _climb_along(self, at: Seen, name: str, scale: int, end: int) -> Seen:
        """Make the first move of a coordinate that helps and repeat it; return the point unchanged if none helps."""
        for level in self._list_moves(at.point, name, scale):
            if self._evaluation.count >= end:
                break
            seen = self._look({**at.point, name: level})
            if self._is_better(seen, at):
                return self._climb_onward(at, seen, name)
        return at

    def _is_better(self, seen: Seen, at: Seen) -> bool:
        """Return whether a point has a larger score, and the same levels of all coordinates that are kept.

        The sources are excepted: a loss on data has other ones, and shows what they do.
        """
        keeps = all(seen.point.get(name) == at.point.get(name) for name in self._kept if name != "sources")
        return keeps and self._value(seen) > self._value(at) + _GAIN

    def _climb_onward(self, before: Seen, at: Seen, name: str) -> Seen:
        """Repeat a move as long as it helps."""
        for _ in range(_REPEATED):
            level = self._repeat(name, before.point[name], at.point[name])
            if level is None or level == at.point[name]:
                break
            seen = self._look({**at.point, name: level})
            if not self._is_better(seen, at):
                break
            before, at = at, seen
        return at

    def _repeat(self, name: str, old: Level, new: Level) -> Level:
        """Return the level after one more such move; None for levels that are words."""
        if name == "horizon":
            return (new[0], 2 * new[1] - old[1]) if new[0] == old[0] else None
        if not (_is_number(old) and _is_number(new) and self._factors[name].steps):
            return None
        return self._factors[name].within(2 * new - old)

    def _list_moves(self, point: Point, name: str, scale: int) -> Iterator[Level]:
        factor, levels = self._factors[name], self._levels.get(name, ())
        if name == "horizon":
            yield from self._list_horizons(point, scale)
        elif len(levels) > 1:
            yield from _list_steps(factor, point[name], scale)
            yield from (level for level in levels if scale == 0 and _is_other(factor, level, point[name]))

    def _list_horizons(self, point: Point, scale: int) -> Iterator[Level]:
        unit, exponent = point["horizon"]
        for step in (_HORIZON[scale], -_HORIZON[scale]):
            yield unit, exponent + step
        if scale == 0:
            yield from (level for level in _HORIZONS if level[0] != unit)


def _list_steps(factor: Factor, level: Level, scale: int) -> Iterator[Level]:
    """Yield steps up and down from a number, within its bounds."""
    if not factor.steps or not _is_number(level):
        return
    size = factor.steps[min(scale, len(factor.steps) - 1)]
    for moved in (factor.within(level + size), factor.within(level - size)):
        if moved != level:
            yield moved


def _is_other(factor: Factor, level: Level, present: Level) -> bool:
    """Return whether a level differs from the present one and is not reached by numerical steps."""
    return bool(level != present) and not (factor.steps and _is_number(level) and _is_number(present))


def _is_number(level: Level) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool)
