"""The two sides of links at every place of a run: numbers, one entry after the other."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice

import numpy as np

from fedtheory.arithmetic import Array, Number, floats_of_same_sign
from fedtheory.arithmetic.enclosures import bare, convert_inexact, precise_enclosures
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation import Compiled, Site
from fedtheory.language.typesetting import latex
from verify.check.links import CompiledRelation

_KEPT_SITES = 8


@dataclass(frozen=True)
class SideTerm:
    """One additive term of a side, and its value."""

    expression: Expr
    value: Number

    @property
    def latex(self) -> str:
        """The term, typeset."""
        return latex(self.expression)


@dataclass(frozen=True, eq=False)
class Place:
    """One entry of the arrays at a site."""

    site: Site
    along: Mapping[str, int]
    """Position along those axes of the sides that are not of length one."""

    def terms(self, side: Compiled) -> tuple[SideTerm, ...]:
        """The additive terms of a side here; an axis of length one is shared by all entries."""
        with precise_enclosures():
            return tuple(SideTerm(t, self._entry(v)) for t, v in zip(side.terms, side.parts(self.site), strict=True))

    def _entry(self, values: Array) -> Number:
        entry = (self.along.get(axis, 0) if n > 1 else 0 for axis, n in zip(self.site.axes, values.shape, strict=True))
        return bare(values[tuple(entry)])


class Values:
    """Both sides of a link, and the scale of their rounding errors, as arrays of one shape."""

    def __init__(self, link: CompiledRelation, lhs: Array, rhs: Array, scale: Array | None = None) -> None:
        self.link, self.lhs, self.rhs, self.scale = link, lhs, rhs, scale
        self.slack: Array = convert_inexact(link.slack(lhs, rhs))

    @cached_property
    def signs(self) -> Array:
        """Numbers with the signs of the slack."""
        return floats_of_same_sign(self.slack)

    def select_entries(self, entries: Array) -> Values:
        """The values at some entries, on their axes."""
        found = copy(self)
        found.lhs, found.rhs, found.slack = self.lhs[entries], self.rhs[entries], self.slack[entries]
        found.scale = None if self.scale is None else self.scale[entries]
        found.signs = self.signs[entries]
        return found

    def size(self, at: Array) -> Array:
        """Return the size that gaps are compared with: the scale, or the size of both sides where they are exact."""
        found: Array = convert_inexact(abs(self.lhs[at]) + abs(self.rhs[at])) if self.scale is None else self.scale[at]
        return found


class Sides(Values):
    """Values of both sides over all places of a run, one entry for each."""

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
        # Seen from the end of its part an entry has a negative number.
        existing = np.arange(len(part.values[0])) if part.existing is None else part.existing
        position = np.unravel_index(existing[entry - ends[number]], part.shape)
        single = site.member(int(position[0]))
        along = list(zip(site.axes, position, part.shape, strict=True))[single is not site :]
        return Place(single, {axis: int(at) for axis, at, length in along if length > 1})


def sides_of(links: Sequence[CompiledRelation], sites: Callable[[], Iterable[Site]]) -> list[Sides]:
    """The sides of each link over all sites; each call of `sites` gives all of them."""
    visited = iter(sites())
    # A site of a large run is large: only the first ones are kept.
    first = list(islice(visited, _KEPT_SITES))
    parts = [[_evaluate_term(link, site) for link in links] for site in chain(first, visited)]

    def site_at(number: int) -> Site:
        return first[number] if number < len(first) else next(islice(sites(), number, None))

    return [Sides(link, site_at, each) for link, each in zip(links, zip(*parts, strict=True), strict=True)]


@dataclass(frozen=True, eq=False)
class _Part:
    """Left side and right side of a link at one site, and the scale of floats."""

    shape: tuple[int, ...]
    existing: Array | None
    """Positions, in the flattened shape, of the entries whose local step exists; None where all do."""
    values: tuple[Array, ...]


def _evaluate_term(link: CompiledRelation, site: Site) -> _Part:
    values = _broadcast(values_at(link, site), len(site.axes))
    existing = existing_entries(site, values[0])
    flat = [each.ravel() for each in values]
    return _Part(values[0].shape, existing, tuple(flat if existing is None else (each[existing] for each in flat)))


def values_at(link: CompiledRelation, site: Site) -> list[Array]:
    """Left side and right side at a site, and the scale of floats."""
    (left, left_scale), (right, right_scale) = link.left.with_scale(site), link.right.with_scale(site)
    if left_scale is not None and right_scale is not None:
        return [left, right, left_scale + right_scale]
    # Plain intervals: one that is too wide is undecided at its place, and nowhere else.
    return [convert_inexact(left), convert_inexact(right)]


def _broadcast(arrays: Sequence[Array], axes: int) -> Sequence[Array]:
    """Arrays of one shape, with so many axes."""
    if len({each.shape for each in arrays}) > 1:
        arrays = np.broadcast_arrays(*arrays)
    missing = range(axes - arrays[0].ndim)
    return [np.expand_dims(each, tuple(missing)) for each in arrays] if missing else arrays


def existing_entries(site: Site, values: Array) -> Array | None:
    """Positions, in the flattened values at a site, of those whose local step exists; None where all do."""
    valid = None if site.frame is None else site.frame.valid
    if valid is None or valid.shape != values.shape[-2:]:
        return None
    return np.flatnonzero(np.broadcast_to(valid, values.shape))
