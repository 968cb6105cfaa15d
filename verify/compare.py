"""A relation between two sides on a run: does it hold, where is it tightest, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice

import numpy as np
import sympy as sp

from fedtheory.arithmetic import NEAR_TIE, Array, Number, plain_floats
from fedtheory.arithmetic.enclosures import all_bare, bare, precise_enclosures
from fedtheory.engine.frames import Index
from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Average, Expr, Inner, Value
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.evaluation import Compiled, Site, compile_expression
from fedtheory.language.meaning import require_meaning
from fedtheory.language.quantities import Notion, Quantity
from fedtheory.language.typesetting import latex


@dataclass(frozen=True)
class Term:
    """One additive term of a side, and its value."""

    expression: Expr
    value: Number

    @property
    def latex(self) -> str:
        """The term, typeset."""
        return latex(self.expression)


@dataclass(frozen=True)
class Comparison:
    """The two sides of a relation where it is tightest, or where it is violated most."""

    relation: Relation
    lhs: Number
    rhs: Number
    holds: bool | None
    """None where floats are too close to decide, or an enclosure is too wide."""
    ratio: Number | None
    """The side claimed to be smaller over the other; None for equations, and where the other is not positive."""
    index: Index
    """Round, step, client or points of that place."""
    points: Mapping[str, Array]
    """Free points there, measured from the optimum, (d,) each."""
    place: Place
    """That place itself, for the terms of the sides."""

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the right side there."""
        return self.place.terms(self.place.link.right)

    @cached_property
    def left_terms(self) -> tuple[Term, ...]:
        """The terms of the left side there."""
        return self.place.terms(self.place.link.left)


@dataclass(frozen=True, eq=False)
class Link:
    """A relation of a claim, compiled."""

    relation: Relation
    left: Compiled
    right: Compiled

    @cached_property
    def is_identity(self) -> bool:
        """Whether SymPy finds both sides to be the same number for all values of their symbols."""
        sides = self.relation.left - self.relation.right
        return not sides.atoms(Inner, Value, Average) and sp.simplify(sides) == 0


@dataclass(frozen=True, eq=False)
class Place:
    """One entry of the arrays of a link at a site."""

    link: Link
    site: Site
    position: tuple[int, ...]

    def terms(self, side: Compiled) -> tuple[Term, ...]:
        """The additive terms of a side here; an axis of length one is shared by all positions."""
        with precise_enclosures():
            return tuple(Term(t, self._entry(v)) for t, v in zip(side.terms, side.parts(self.site), strict=True))

    def _entry(self, values: Array) -> Number:
        return bare(values[tuple(min(p, full - 1) for p, full in zip(self.position, values.shape, strict=True))])


@cache
def links_of(claim: Claim) -> list[Link]:
    """The relations of a claim, ready for runs; `InputError` where a side is outside the language."""
    return [_link(claim, relation, claim.place) for relation in claim.relations]


@cache
def condition_links(claim: Claim) -> list[Link]:
    """The conditions of a claim, ready for runs."""
    return [_link(claim, _as_relation(claim, condition), "run") for condition in claim.conditions]


def _as_relation(claim: Claim, condition: Expr) -> Relation:
    if not isinstance(condition, sp.core.relational.Relational) or condition.rel_op == "!=":
        expected = "expected conditions such as eta <= 1/(4*L), with symbols that leave them open"
        raise InputError(claim.id, f"{expected}, got {condition}")
    return Relation(condition.lhs, condition.rel_op, condition.rhs)


def _link(claim: Claim, relation: Relation, place: str) -> Link:
    return Link(relation, compile_side(claim, relation.left, place), compile_side(claim, relation.right, place))


def compile_side(claim: Claim, side: Expr, place: str, notation: Mapping[sp.Symbol, Notion] | None = None) -> Compiled:
    """An expression of a claim, compiled in its notation or another; `InputError` where it has no meaning."""
    unbound = claim.unbound_symbols()
    if unbound:
        raise InputError(claim.id, f"`where` does not say what {', '.join(sorted(map(str, unbound)))} stands for")
    if place in ("round", "points"):
        _refuse_rounds(claim, side, place)
    try:
        require_meaning(side, place)
        return compile_expression(side, claim.notation if notation is None else notation)
    except ValueError as error:
        raise InputError(claim.id, str(error)) from None


def _refuse_rounds(claim: Claim, side: Expr, place: str) -> None:
    for symbol in side.free_symbols:
        notion = claim.notation.get(symbol)
        if isinstance(notion, Quantity) and notion.per_round:
            raise InputError(claim.id, f"{notion.name} has a value for each round, not at place={place!r}")


Places = Callable[[], Iterable[Site]]
"""The sites of a run, anew at each call: a site of a large run is large, and only the first ones are kept."""


def compare(links: Sequence[Link], places: Places, nearby: Sequence[Places] = ()) -> list[Comparison]:
    """Every link over all places, each reported at its worst one: a violation, else where it is tightest.

    What is not much larger than its change at the same places of the `nearby`
    runs is left undecided.
    """
    kept: list[Site] = []
    flattened = _flattened(links, places, kept)
    moved = [_flattened(links, others, []) for others in nearby]

    def site_at(number: int) -> Site:
        return kept[number] if number < len(kept) else next(islice(places(), number, None))

    around = zip(*moved, strict=True) if moved else [()] * len(links)
    return [_worst(link, flat, near, site_at) for link, flat, near in zip(links, flattened, around, strict=True)]


_KEPT_SITES = 32


def _flattened(links: Sequence[Link], places: Places, kept: list[Site]) -> list[_Flat]:
    """The sides of each link over all places; the first sites go into `kept`."""
    flattened = [_Flat() for _ in links]
    for site in places():
        if len(kept) < _KEPT_SITES:
            kept.append(site)
        for link, flat in zip(links, flattened, strict=True):
            flat.add(*_sides(link, site), _existing(site))
    return flattened


class _Flat:
    """Left sides, right sides and scales of a link, over all entries of all sites."""

    def __init__(self) -> None:
        self._parts: list[tuple[Array, Array, Array]] = []
        self._kept: list[Array] = []
        self.shapes: list[tuple[int, ...]] = []

    def add(self, lhs: Array, rhs: Array, scale: Array, existing: Array | None) -> None:
        """Take in the arrays of one site, without the local steps that do not exist."""
        self.shapes.append(lhs.shape)
        if existing is None or lhs.shape[1:] != existing.shape:
            self._kept.append(np.arange(lhs.size))
            self._parts.append((lhs.ravel(), rhs.ravel(), scale.ravel()))
            return
        mask = np.broadcast_to(existing, lhs.shape)
        self._kept.append(np.flatnonzero(mask))
        self._parts.append((lhs[mask], rhs[mask], scale[mask]))

    def arrays(self) -> tuple[Array, Array, Array]:
        """Everything so far, one entry after the other."""
        if len(self._parts) == 1:
            return self._parts[0]
        lhs, rhs, scale = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        return lhs, rhs, scale

    def locate(self, entry: int) -> tuple[int, tuple[int, ...]]:
        """Number of the site of an entry, and its position there."""
        ends = np.cumsum([len(kept) for kept in self._kept])
        site = int(np.searchsorted(ends, entry, side="right"))
        within = self._kept[site][entry - (int(ends[site - 1]) if site else 0)]
        return site, tuple(int(p) for p in np.unravel_index(within, self.shapes[site]))


def _worst(link: Link, flat: _Flat, near: Sequence[_Flat], site_at: Callable[[int], Site]) -> Comparison:
    lhs, rhs, scale = flat.arrays()
    operator = link.relation.operator
    smaller, larger = (rhs, lhs) if operator in (">=", ">") else (lhs, rhs)
    gap = -abs(larger - smaller) if operator == "==" else larger - smaller
    holds = _decided(gap, scale, _unsteadiness(rhs - lhs, near), strict=operator in ("<", ">"))
    if operator == "==" and near:
        # What cancels in an equation can be all rounding, at any size: only rationals find it to be wrong.
        holds = np.where(holds == False, np.array(None), holds)  # noqa: E712
    if operator in ("<=", "==", ">=") and (holds == None).any() and link.is_identity:  # noqa: E711
        holds = np.full_like(holds, True)
    worst = int(_criticality(gap, scale, holds).argmax())
    number, position = flat.locate(worst)
    site = site_at(number)
    along: Index = {axis: p for axis, p, full in zip(site.axes, position, flat.shapes[number], strict=True) if full > 1}
    return Comparison(
        link.relation,
        lhs[worst],
        rhs[worst],
        holds[worst],
        smaller[worst] / larger[worst] if operator != "==" and larger[worst] > 0 else None,
        site.index | along,
        {symbol.name: point for symbol, point in site.points.items()},
        Place(link, site, position),
    )


def _existing(site: Site) -> Array | None:
    return None if site.frame is None else site.frame.valid


def _sides(link: Link, site: Site) -> tuple[Array, Array, Array]:
    """Left side, right side and scale of rounding, on common axes."""
    (left, left_scale), (right, right_scale) = link.left.with_scale(site), link.right.with_scale(site)
    # Plain `arb` intervals: one that is too wide is undecided at its place, and nowhere else.
    lhs, rhs, scale = np.broadcast_arrays(*map(all_bare, (left, right, left_scale + right_scale)))
    return lhs, rhs, scale


_STEADY = 100
"""How many times its change at nearby runs a gap has to be, to count."""


def _unsteadiness(difference: Array, near: Sequence[_Flat]) -> Array:
    """How far the difference of the sides moves, entry by entry, at nearby runs; infinite without a counterpart."""
    largest: Array = np.zeros(difference.shape)
    for flat in near:
        lhs, rhs, _ = flat.arrays()
        moved = abs(rhs - lhs - difference) if lhs.shape == difference.shape else np.full(difference.shape, np.inf)
        largest = np.maximum(largest, moved)
    return largest


def _decided(gap: Array, magnitude: Array, unsteadiness: Array, strict: bool) -> Array:
    """Whether each gap is non-negative (positive if `strict`); None where floats or enclosures cannot tell."""
    if gap.dtype == object:
        # An enclosure that contains zero is on neither side.
        fits = (gap > 0 if strict else gap >= 0).astype(bool)
        decided = np.full(gap.shape, True, dtype=object)
        if not fits.all():
            fails = (gap <= 0 if strict else gap < 0).astype(bool)
            decided[~fits] = None
            decided[fails] = False
        return decided
    # Written so that NaN, which no comparison holds for, is a near tie.
    is_close = ~(abs(gap) > np.maximum(NEAR_TIE * magnitude, _STEADY * unsteadiness))
    near_tie = is_close & ((magnitude != 0) | (unsteadiness > 0))
    clear: Array = np.where(near_tie, np.array(None), gap > 0 if strict else gap >= 0)
    return clear


def _criticality(gap: Array, magnitude: Array, holds: Array) -> Array:
    """Orders places: violations above the undecided above the rest, in each class the smallest relative gap on top.

    Where both sides are zero nothing is tight: such places come last in their class.
    """
    something = magnitude > 0
    if (gap == 0).all():
        # An identity everywhere: any place that is not empty will do.
        everywhere: Array = np.where(something, 0.0, -2.0)
        return everywhere
    relative = -plain_floats(gap / np.where(something, magnitude, magnitude - magnitude + 1))
    relative[~something.astype(bool)] = -2.0
    if holds.all():
        return relative
    rank = np.array([{True: 0.0, None: 4.0, False: 8.0}[verdict] for verdict in holds])
    criticality: Array = relative + rank
    return criticality
