"""A relation on a run: does it hold, where is it tightest, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from fedtheory.arithmetic import Array, Number, plain_floats
from fedtheory.engine.frames import Index
from fedtheory.engine.run import Run
from fedtheory.language.claim import Relation
from fedtheory.language.evaluation import Site
from verify.check.decision import FAILS, HOLDS, OPEN, decide
from verify.check.links import Link
from verify.check.sides import Place, Sides, Term, Values, sides_of


@dataclass(frozen=True)
class Comparison:
    """The two sides of a relation where it is tightest, or where it is violated most."""

    link: Link
    lhs: Number
    rhs: Number
    holds: bool | None
    """None where floats are too close to decide, or an enclosure is too wide."""
    ratio: Number | None
    """The side claimed to be smaller over the other; None for equations, and where the other is not positive."""
    place: Place
    """That place, for the terms of the sides."""

    @property
    def relation(self) -> Relation:
        """What is compared."""
        return self.link.relation

    @property
    def index(self) -> Index:
        """Round, step, client or points of that place."""
        return self.place.site.index | dict(self.place.along)

    @property
    def points(self) -> Mapping[str, Array]:
        """Free points there, measured from the optimum, (d,) each."""
        return {symbol.name: point for symbol, point in self.place.site.points.items()}

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the right side there."""
        return self.place.terms(self.link.right)

    @cached_property
    def left_terms(self) -> tuple[Term, ...]:
        """The terms of the left side there."""
        return self.place.terms(self.link.left)


def compare(
    links: Sequence[Link], sites_of: Callable[[Run], Iterable[Site]], run: Run, nearby: Sequence[Run] = ()
) -> list[Comparison]:
    """Every link over all sites of a run, each reported at its worst place: a violation, else where it is tightest.

    What is not much larger than its change at the same places of the `nearby`
    runs is left undecided.
    """
    own, *around = (sides_of(links, partial(sites_of, each)) for each in (run, *nearby))
    return [_worst(sides, near) for sides, *near in zip(own, *around, strict=True)]


def _worst(sides: Sides, nearby: Sequence[Sides]) -> Comparison:
    decided = decide(sides, nearby)
    worst = int(criticality(sides, decided).argmax()) if decided.size > 1 else 0
    lhs, rhs = sides.lhs[worst], sides.rhs[worst]
    ratio = ratio_of(sides.link, lhs, rhs)
    holds = {HOLDS: True, OPEN: None, FAILS: False}[int(decided[worst])]
    return Comparison(sides.link, lhs, rhs, holds, ratio, sides.place(worst))


def ratio_of(link: Link, lhs: Number, rhs: Number) -> Number | None:
    """The side claimed to be smaller over the other; None for equations, and where the other is not positive."""
    smaller, larger = link.relation.in_order(lhs, rhs)
    return smaller / larger if link.relation.operator != "==" and larger > 0 else None


def criticality(sides: Values, decided: Array) -> Array:
    """Orders places: violations above the undecided above the rest, in each class the smallest relative gap on top.

    Where both sides are zero nothing is tight: such places come last in their class.
    """
    is_something = (sides.scale > 0).astype(bool)
    relative = plain_floats(sides.slack / np.where(is_something, sides.scale, 1))
    tightness = abs(relative) if sides.link.relation.operator == "==" else -relative
    order: Array = np.where(is_something, tightness, -2.0) + 4.0 * (HOLDS - decided)
    return order
