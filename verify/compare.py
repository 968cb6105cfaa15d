"""A relation between two sides on a run: does it hold, where is it tightest, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from fedtheory.arithmetic import NEAR_TIE, Array, Number, plain_floats
from fedtheory.claim import Claim, Relation
from fedtheory.errors import InputError
from fedtheory.evaluation import Compiled, Site, compile_expression
from fedtheory.expressions import Expr, latex
from fedtheory.frames import Index

_AXES = ("round", "step", "client")


@dataclass(frozen=True)
class Term:
    """One additive term of a right side, and its value."""

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
    """The side claimed to be smaller over the other; None where the other is not positive."""
    index: Index
    """Round, step, client or points of that place."""
    terms: tuple[Term, ...]
    """The terms of the right side there."""


@dataclass(frozen=True, eq=False)
class Link:
    """A relation of a claim, compiled."""

    relation: Relation
    left: Compiled
    right: Compiled


@cache
def links_of(claim: Claim) -> list[Link]:
    """The relations of a claim, ready for runs; `InputError` where a side is outside the language."""
    return [_link(claim, relation) for relation in claim.relations]


@cache
def condition_links(claim: Claim) -> list[Link]:
    """The conditions of a claim, ready for runs."""
    return [_link(claim, Relation(c.lhs, c.rel_op, c.rhs)) for c in claim.conditions]


def _link(claim: Claim, relation: Relation) -> Link:
    unbound = claim.unbound_symbols()
    if unbound:
        raise InputError(claim.id, f"`where` does not say what {', '.join(sorted(map(str, unbound)))} stands for")
    try:
        left, right = (compile_expression(side, claim.notation) for side in (relation.left, relation.right))
    except ValueError as error:
        raise InputError(claim.id, str(error)) from None
    return Link(relation, left, right)


def compare(links: Sequence[Link], places: Sequence[Site]) -> list[Comparison]:
    """Every link over all places, each reported at its worst one: a violation, else where it is tightest."""
    return [_worst(link, places) for link in links]


def _worst(link: Link, places: Sequence[Site]) -> Comparison:
    sides = [_sides(link, site) for site in places]
    lhs, rhs, magnitude = (np.concatenate([side[part].ravel() for side in sides]) for part in range(3))
    operator = link.relation.operator
    smaller, larger = (rhs, lhs) if operator in (">=", ">") else (lhs, rhs)
    gap = -abs(larger - smaller) if operator == "==" else larger - smaller
    holds = _decided(gap, magnitude, strict=operator in ("<", ">"))
    worst = int(_criticality(gap, magnitude, holds).argmax())
    shapes = [side[0].shape for side in sides]
    site, position = _locate(worst, places, shapes)
    return Comparison(
        link.relation,
        lhs[worst],
        rhs[worst],
        holds[worst],
        smaller[worst] / larger[worst] if larger[worst] > 0 else None,
        site.index | {axis: p for axis, p, full in zip(_AXES, position, shapes[0], strict=True) if full > 1},
        _terms(link.right, site, position),
    )


def _sides(link: Link, site: Site) -> tuple[Array, Array, Array]:
    """Left side, right side and scale of rounding, on common axes."""
    (left, left_scale), (right, right_scale) = link.left.with_scale(site), link.right.with_scale(site)
    lhs, rhs, scale = np.broadcast_arrays(left, right, left_scale + right_scale)
    return lhs, rhs, scale


def _decided(gap: Array, magnitude: Array, strict: bool) -> Array:
    """Whether each gap is non-negative (positive if `strict`); None where floats or enclosures cannot tell."""
    if gap.dtype == object:
        decide = _is_positive if strict else _is_non_negative
        return np.asarray(np.frompyfunc(decide, 1, 1)(gap), dtype=object)
    near_tie = (abs(gap) <= NEAR_TIE * magnitude) & (magnitude > 0)
    decided: Array = np.where(near_tie, np.array(None), gap > 0 if strict else gap >= 0)
    return decided


def _is_non_negative(gap: Number) -> bool | None:
    if gap >= 0:
        return True
    return False if gap < 0 else None


def _is_positive(gap: Number) -> bool | None:
    if gap > 0:
        return True
    return False if gap <= 0 else None


def _criticality(gap: Array, magnitude: Array, holds: Array) -> Array:
    """Orders places: violations above the undecided above the rest, in each class the smallest relative gap on top."""
    relative = -plain_floats(gap / np.where(magnitude > 0, magnitude, magnitude - magnitude + 1))
    rank = np.array([{True: 0.0, None: 4.0, False: 8.0}[verdict] for verdict in holds])
    criticality: Array = relative + rank
    return criticality


def _locate(flat: int, places: Sequence[Site], shapes: Sequence[tuple[int, ...]]) -> tuple[Site, tuple[int, ...]]:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    number = int(np.searchsorted(ends, flat, side="right"))
    within = flat - (int(ends[number - 1]) if number else 0)
    return places[number], tuple(int(p) for p in np.unravel_index(within, shapes[number]))


def _terms(side: Compiled, site: Site, position: tuple[int, ...]) -> tuple[Term, ...]:
    """The additive terms of a side at one place; an axis of length one is shared by all positions."""

    def entry(values: Array) -> Number:
        return values[tuple(min(p, full - 1) for p, full in zip(position, values.shape, strict=True))]

    return tuple(Term(term, entry(values)) for term, values in zip(side.terms, side.parts(site), strict=True))
