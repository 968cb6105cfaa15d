"""Values of both sides of links at all places of a run."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice

import numpy as np

from fedtheory.arithmetic import Array, Number, convert_keeping_signs
from fedtheory.arithmetic.enclosures import convert_inexact, convert_to_ball, precise_enclosures
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation import Compiled, Site
from fedtheory.language.typesetting import latex
from verify.check.links import CompiledRelation

_KEPT_SITES = 8


@dataclass(frozen=True)
class SideTerm:
    """One additive term of a side, with its value."""

    expression: Expr
    value: Number

    @property
    def latex(self) -> str:
        """Return the term as LaTeX."""
        return latex(self.expression)


@dataclass(frozen=True, eq=False)
class Place:
    """One entry of the arrays at a site."""

    site: Site
    along: Mapping[str, int]
    """Index along the axes of the sides whose length is not one."""

    def terms(self, side: Compiled) -> tuple[SideTerm, ...]:
        """Return the additive terms of a side at this entry; all entries share an axis of length one."""
        with precise_enclosures():
            return tuple(
                SideTerm(t, self._select_entry(v)) for t, v in zip(side.terms, side.parts(self.site), strict=True)
            )

    def _select_entry(self, values: Array) -> Number:
        entry = (self.along[axis] if n > 1 else 0 for axis, n in zip(self.site.axes, values.shape, strict=True))
        return convert_to_ball(values[tuple(entry)])


class Values:
    """Both sides of a link, and the scale of their rounding errors, as arrays of equal shape."""

    def __init__(self, link: CompiledRelation, lhs: Array, rhs: Array, scale: Array | None = None) -> None:
        self.link, self.lhs, self.rhs, self.scale = link, lhs, rhs, scale
        self.slack: Array = convert_inexact(link.slack(lhs, rhs))

    @cached_property
    def signs(self) -> Array:
        """Return numbers with the signs of the slack."""
        return convert_keeping_signs(self.slack)

    def select_entries(self, entries: Array) -> Values:
        """Return the values at the given entries."""
        found = copy(self)
        found.lhs, found.rhs, found.slack = self.lhs[entries], self.rhs[entries], self.slack[entries]
        found.scale = None if self.scale is None else self.scale[entries]
        found.signs = self.signs[entries]
        return found

    def size(self, at: Array) -> Array:
        """Return the size with which gaps are compared: the scale of rounding, or of both sides if these are exact."""
        found: Array = convert_inexact(abs(self.lhs[at]) + abs(self.rhs[at])) if self.scale is None else self.scale[at]
        return found


class Sides(Values):
    """Values of both sides over all places of a run, one entry per place."""

    def __init__(self, link: CompiledRelation, site: Callable[[int], Site], parts: Sequence[_Part]) -> None:
        super().__init__(link, *map(np.concatenate, zip(*(part.values for part in parts), strict=True)))
        self._site, self._parts = site, parts

    def place(self, entry: int) -> Place:
        """Return the place of an entry in the run."""
        ends = list(accumulate(len(part.values[0]) for part in self._parts))
        number = bisect_right(ends, entry)
        site, part = self._site(number), self._parts[number]
        if part.values[0].size == math.prod(part.shape) == 1:
            return Place(site.member(0), {})
        # Relative to the end of its part the index of an entry is negative.
        existing = np.arange(len(part.values[0])) if part.existing is None else part.existing
        position = np.unravel_index(existing[entry - ends[number]], part.shape)
        single = site.member(int(position[0]))
        along = list(zip(site.axes, position, part.shape, strict=True))[single is not site :]
        return Place(single, {axis: int(at) for axis, at, length in along if length > 1})


def evaluate_sides(links: Sequence[CompiledRelation], sites: Callable[[], Iterable[Site]]) -> list[Sides]:
    """Return the sides of each link over all sites; each call of `sites` yields all sites again."""
    visited = iter(sites())
    # Sites of large runs need much memory, so only the first ones are kept.
    first = list(islice(visited, _KEPT_SITES))
    parts = [[_evaluate_term(link, site) for link in links] for site in chain(first, visited)]

    def site_at(number: int) -> Site:
        return first[number] if number < len(first) else next(islice(sites(), number, None))

    return [Sides(link, site_at, each) for link, each in zip(links, zip(*parts, strict=True), strict=True)]


@dataclass(frozen=True, eq=False)
class _Part:
    """Both sides of a link at one site, and the scale of float rounding."""

    shape: tuple[int, ...]
    existing: Array | None
    """Indices, in the flattened shape, of entries whose local step exists; None if all do."""
    values: tuple[Array, ...]


def _evaluate_term(link: CompiledRelation, site: Site) -> _Part:
    values = _broadcast(evaluate_at(link, site), len(site.axes))
    existing = find_existing_entries(site, values[0])
    flat = [each.ravel() for each in values]
    return _Part(values[0].shape, existing, tuple(flat if existing is None else (each[existing] for each in flat)))


def evaluate_at(link: CompiledRelation, site: Site) -> list[Array]:
    """Return left side, right side and the scale of float rounding at a site."""
    (left, left_scale), (right, right_scale) = link.left.with_scale(site), link.right.with_scale(site)
    if left_scale is not None and right_scale is not None:
        return [left, right, left_scale + right_scale]
    # Plain intervals are used: one that is too wide leaves only its own place undecided.
    return [convert_inexact(left), convert_inexact(right)]


def _broadcast(arrays: Sequence[Array], axes: int) -> Sequence[Array]:
    """Broadcast arrays to one shape with the given number of axes."""
    if len({each.shape for each in arrays}) > 1:
        arrays = np.broadcast_arrays(*arrays)
    missing = range(axes - arrays[0].ndim)
    return [np.expand_dims(each, tuple(missing)) for each in arrays] if missing else arrays


def find_existing_entries(site: Site, values: Array) -> Array | None:
    """Return the indices, in the flattened values at a site, of entries whose local step exists; None if all do."""
    valid = None if site.frame is None else site.frame.valid
    if valid is None or valid.shape != values.shape[-2:]:
        return None
    return np.flatnonzero(np.broadcast_to(valid, values.shape))
