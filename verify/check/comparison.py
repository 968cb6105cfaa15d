"""A relation on a run: does it hold, where is it tightest, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from fedtheory.arithmetic import Array, Number, floats_of_same_sign, plain_floats
from fedtheory.arithmetic.enclosures import plain
from fedtheory.engine.frames import Index
from fedtheory.engine.run import Run
from fedtheory.language.claim import Relation
from fedtheory.language.evaluation import Site
from verify.check.decision import FAILS, HOLDS, OPEN, decide
from verify.check.links import CompiledRelation
from verify.check.sides import Place, Sides, SideTerm, Values, sides_of


@dataclass(frozen=True)
class Comparison:
    """The two sides of a relation where it is tightest, or where it is violated most."""

    link: CompiledRelation
    lhs: Number
    rhs: Number
    holds: bool | None
    """None where floats are too close to decide, or an enclosure is too wide."""
    ratio: Number | None
    """The side claimed to be smaller over the other; None for equations, and where the other is not positive."""
    place: Place
    """The place of the comparison, for the terms of the sides."""

    @property
    def relation(self) -> Relation:
        """Return the relation that is compared."""
        return self.link.relation

    @property
    def index(self) -> Index:
        """Round, step, client or points of that place."""
        return self.place.site.index | dict(self.place.along)

    @property
    def points(self) -> Mapping[str, Array]:
        """Free points there, measured from the centre of the problem, (d,) each."""
        return {symbol.name: point for symbol, point in self.place.site.points.items()}

    @cached_property
    def terms(self) -> tuple[SideTerm, ...]:
        """The terms of the right side there."""
        return self.place.terms(self.link.right)

    @cached_property
    def left_terms(self) -> tuple[SideTerm, ...]:
        """The terms of the left side there."""
        return self.place.terms(self.link.left)


def compare(
    links: Sequence[CompiledRelation], sites_of: Callable[[Run], Iterable[Site]], run: Run, nearby: Sequence[Run] = ()
) -> list[Comparison]:
    """Every link over all sites of a run, each reported at its worst place: a violation, else where it is tightest.

    What is not much larger than its change at the same places of the `nearby`
    runs is left undecided.
    """
    own, *around = (sides_of(links, partial(sites_of, each)) for each in (run, *nearby))
    return [_worst(sides, near) for sides, *near in zip(own, *around, strict=True)]


def _worst(sides: Sides, nearby: Sequence[Sides]) -> Comparison:
    decided = decide(sides, nearby)
    worst = int(tightest_places(sides, decided)) if decided.size > 1 else 0
    lhs, rhs = sides.lhs[worst], sides.rhs[worst]
    ratio = ratio_of(sides.link, lhs, rhs)
    holds = {HOLDS: True, OPEN: None, FAILS: False}[int(decided[worst])]
    return Comparison(sides.link, lhs, rhs, holds, ratio, sides.place(worst))


def ratio_of(link: CompiledRelation, lhs: Number, rhs: Number) -> Number | None:
    """The side claimed to be smaller over the other; None for equations, and where the other is not positive."""
    smaller, larger = link.relation.in_order(lhs, rhs)
    return plain(smaller / larger) if link.relation.operator != "==" and larger > 0 else None


def tightest_places(sides: Values, decided: Array) -> Array:
    """Find the place along the last axis where a relation is violated most, else most undecided, else tightest.

    That is where the relative gap is smallest; where both sides are zero nothing is tight.  Nothing is tighter than
    equal numbers, next to which no other gap is looked at: exact quotients take time.
    """
    asked = decided == decided.min(axis=-1, keepdims=True)
    is_equal = asked & (decided == HOLDS)
    is_equal[is_equal] = sides.signs[is_equal] == 0
    is_equal[is_equal] = floats_of_same_sign(sides.size(is_equal)) > 0
    is_near = asked & ~is_equal.any(axis=-1, keepdims=True)
    order = np.where(asked, _NOTHING, -np.inf)
    order[is_equal] = 0.0
    order[is_near] = _round_tightness(sides, is_near)
    # Among places that rounding does not distinguish, exact numbers do.
    tightest = order.max(axis=-1, keepdims=True)
    is_close = is_near & (order > tightest - _LEAST_DIFFERENCE)
    is_open = is_close & (is_close & (order < tightest)).any(axis=-1, keepdims=True)
    order[is_open] = _tightness(sides, is_open)
    places: Array = order.argmax(axis=-1)
    return places


_NOTHING = -2.0
"""Tightness of a place where both sides are zero: less than any other."""
_LEAST_DIFFERENCE = 1e-12
"""Required distance between relative gaps of rounded sides."""
_FAITHFUL = 1e-250, 1e250
"""Sizes that floats of exact numbers have, with room for rounding."""


def _round_tightness(sides: Values, at: Array) -> Array:
    """The tightness at some places, up to rounding where numbers are exact: exact quotients take time."""
    if sides.scale is not None:
        return _tightness(sides, at)
    sizes = np.abs(plain_floats(sides.lhs[at])) + np.abs(plain_floats(sides.rhs[at]))
    gaps = plain_floats(sides.slack[at])
    is_faithful = (sizes > _FAITHFUL[0]) & (sizes < _FAITHFUL[1])
    relative = np.divide(gaps, sizes, out=np.zeros_like(gaps), where=is_faithful)
    found = _tight(sides, relative)
    rest = at.copy()
    rest[at] = ~is_faithful
    found[~is_faithful] = _tightness(sides, rest)
    return found


def _tightness(sides: Values, at: Array) -> Array:
    """Minus the relative gap, or how far the sides of an equation are apart, at some places; there may be none."""
    if not at.any():
        return np.empty(0)
    sizes = sides.size(at)
    is_something = (floats_of_same_sign(sizes) > 0).astype(bool)
    relative = plain_floats(sides.slack[at] / np.where(is_something, sizes, 1))
    return np.where(is_something, _tight(sides, relative), _NOTHING)


def _tight(sides: Values, relative: Array) -> Array:
    """Rate the tightness of relative gaps."""
    return abs(relative) if sides.link.relation.operator == "==" else -relative
