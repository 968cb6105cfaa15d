"""Compare both sides of a relation on a run: find the place where it is tightest, or violated most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from fedtheory.arithmetic import Array, Number, convert_keeping_signs, plain_floats
from fedtheory.arithmetic.enclosures import replace_by_interval
from fedtheory.engine.frames import Index
from fedtheory.engine.run import Run
from fedtheory.language.claim import Relation
from fedtheory.language.evaluation import Site, whole_run
from verify.check.decision import FAILS, HOLDS, OPEN, decide
from verify.check.links import CompiledRelation
from verify.check.sides import Place, Sides, SideTerm, Values, evaluate_sides


@dataclass(frozen=True)
class Comparison:
    """Both sides of a relation at the place where it is tightest, or violated most."""

    link: CompiledRelation
    lhs: Number
    rhs: Number
    holds: bool | None
    """None where floats are too close to decide, or an enclosure is too wide."""
    ratio: Number | None
    """The smaller side, as claimed, over the larger one; None for equations, and if the larger is not positive."""
    place: Place
    """The place of the comparison, at which terms of the sides have values."""

    @property
    def relation(self) -> Relation:
        """Return the relation that is compared."""
        return self.link.relation

    @property
    def index(self) -> Index:
        """Return the round, step, client or points of that place."""
        return self.place.site.index | dict(self.place.along)

    @property
    def points(self) -> Mapping[str, Array]:
        """Return the free points at that place, measured from the centre of the problem, each of shape (d,)."""
        return {symbol.name: point for symbol, point in self.place.site.points.items()}

    @cached_property
    def terms(self) -> tuple[SideTerm, ...]:
        """Return the terms of the right side at that place."""
        return self.place.terms(self.link.right)

    @cached_property
    def left_terms(self) -> tuple[SideTerm, ...]:
        """Return the terms of the left side at that place."""
        return self.place.terms(self.link.left)


def compare(
    links: Sequence[CompiledRelation],
    sites_of: Callable[[Run], Iterable[Site]],
    run: Run,
    perturbed: Sequence[Run] = (),
) -> list[Comparison]:
    """Compare every link over all sites of a run and report its worst place: a violation, else the tightest one.

    A gap that is not much larger than its change between the `perturbed` runs is left undecided.
    """
    own, *around = (evaluate_sides(links, partial(sites_of, each)) for each in (run, *perturbed))
    return [_find_worst(sides, near) for sides, *near in zip(own, *around, strict=True)]


def compare_whole_run(link: CompiledRelation, run: Run, perturbed: Sequence[Run] = ()) -> Comparison:
    """Compare a link whose sides are values of a run as a whole."""
    (found,) = compare([link], lambda each: [whole_run(each)], run, perturbed)
    return found


def _find_worst(sides: Sides, perturbed: Sequence[Sides]) -> Comparison:
    decided = decide(sides, perturbed)
    worst = int(find_tightest_places(sides, decided)) if decided.size > 1 else 0
    lhs, rhs = sides.lhs[worst], sides.rhs[worst]
    ratio = compute_ratio(sides.link, lhs, rhs)
    holds = {HOLDS: True, OPEN: None, FAILS: False}[int(decided[worst])]
    return Comparison(sides.link, lhs, rhs, holds, ratio, sides.place(worst))


def compute_ratio(link: CompiledRelation, lhs: Number, rhs: Number) -> Number | None:
    """Return the smaller side, as claimed, over the other; None for equations, and if the other is not positive."""
    smaller, larger = link.relation.in_order(lhs, rhs)
    return replace_by_interval(smaller / larger) if link.relation.operator != "==" and larger > 0 else None


def find_tightest_places(sides: Values, decided: Array) -> Array:
    """Find the place along the last axis where a relation is violated most, else most undecided, else tightest.

    Tightness is measured by the relative gap; places where both sides are zero count last. Where both sides are equal
    the search stops, because exact quotients are slow.
    """
    is_worst = decided == decided.min(axis=-1, keepdims=True)
    is_equal = is_worst & (decided == HOLDS)
    is_equal[is_equal] = sides.signs[is_equal] == 0
    is_equal[is_equal] = convert_keeping_signs(sides.size(is_equal)) > 0
    is_near = is_worst & ~is_equal.any(axis=-1, keepdims=True)
    order = np.where(is_worst, _NOTHING, -np.inf)
    order[is_equal] = 0.0
    order[is_near] = _round_tightness(sides, is_near)
    # Exact numbers decide between places that rounding does not distinguish.
    tightest = order.max(axis=-1, keepdims=True)
    is_close = is_near & (order > tightest - _LEAST_DIFFERENCE)
    is_open = is_close & (is_close & (order < tightest)).any(axis=-1, keepdims=True)
    order[is_open] = _compute_tightness(sides, is_open)
    places: Array = order.argmax(axis=-1)
    return places


_NOTHING = -2.0
"""Tightness of a place where both sides are zero, below every other."""
_LEAST_DIFFERENCE = 1e-12
"""Least difference between relative gaps of rounded sides that are compared in floats."""
_FAITHFUL = 1e-250, 1e250
"""Range of exact numbers that floats represent without overflow or underflow."""


def _round_tightness(sides: Values, at: Array) -> Array:
    """Return the tightness at some places, rounded to floats for exact numbers, because exact quotients are slow."""
    if sides.scale is not None:
        return _compute_tightness(sides, at)
    sizes = np.abs(plain_floats(sides.lhs[at])) + np.abs(plain_floats(sides.rhs[at]))
    gaps = plain_floats(sides.slack[at])
    is_faithful = (sizes > _FAITHFUL[0]) & (sizes < _FAITHFUL[1])
    relative = np.divide(gaps, sizes, out=np.zeros_like(gaps), where=is_faithful)
    found = _compute_tightness_of_gaps(sides, relative)
    rest = at.copy()
    rest[at] = ~is_faithful
    found[~is_faithful] = _compute_tightness(sides, rest)
    return found


def _compute_tightness(sides: Values, at: Array) -> Array:
    """Return the tightness at places: minus the relative gap, or the absolute difference of equations."""
    if not at.any():
        return np.empty(0)
    sizes = sides.size(at)
    is_something = (convert_keeping_signs(sizes) > 0).astype(bool)
    relative = plain_floats(sides.slack[at] / np.where(is_something, sizes, 1))
    return np.where(is_something, _compute_tightness_of_gaps(sides, relative), _NOTHING)


def _compute_tightness_of_gaps(sides: Values, relative: Array) -> Array:
    """Return the tightness for given relative gaps."""
    return abs(relative) if sides.link.relation.operator == "==" else -relative
