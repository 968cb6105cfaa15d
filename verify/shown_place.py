"""Choose points at which a reader can check a violation by hand, for claims about free points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice, product

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.federation.problem import Problem
from fedtheory.kernel.expressions import Average, ClientSum
from fedtheory.language.claim import Claim
from fedtheory.language.claim_choices import list_free_points
from fedtheory.language.evaluation import Site
from fedtheory.shown import number
from verify.check import Check
from verify.check.comparison import Comparison, compare
from verify.check.outcome import rank_unclearness

_MULTIPLES = (1, 2, -1, 0, 3, -2)
"""Multiples of the first unit vector; further points are sums and differences of two unit vectors."""
_MOST_DIMENSIONS, _MOST = 3, 500
"""Largest dimension in which vectors are displayed, and number of choices of points that are tried."""


def choose_place(found: Check) -> Comparison | None:
    """Choose the comparison that users see: a violation at simple points, if it exists, else the worst one.

    Simple points are tried for user-defined claims that exact arithmetic refutes with constants that hold on the whole
    space. The pages of sources show their stored counterexamples.
    """
    worst = found.worst
    if worst is None or not worst.points or worst.holds is not False:
        return worst
    if found.claim.is_published or not found.arithmetic.is_rigorous or not found.everywhere:
        return worst
    simplest = None
    for other in islice(_compare_at_simple_points(found.claim, worst), _MOST):
        if other.holds is False:
            simplest = simplest or other
            if rank_unclearness(None if other.ratio is None else float(other.ratio)) == 0:
                return other
    return simplest or worst


def has_only_free_vectors(claim: Claim) -> bool:
    """Return whether a claim concerns free vectors only, so that the run does not matter."""
    sides = [side for relation in claim.relations for side in relation.sides]
    used = set().union(*(side.free_symbols for side in sides)) if sides else set()
    is_free = bool(list_free_points(claim)) and used <= {*list_free_points(claim), *claim.for_all}
    asks_nothing = not (claim.assumptions or claim.conditions)
    return is_free and asks_nothing and not any(side.has(Average, ClientSum) for side in sides)


def describe_points(claim: Claim, shown: Comparison) -> str:
    """Return points and values of quantified symbols, such as ``x = 1, y = (1, 0), beta = 1/2``; empty without any."""
    points = [f"{name_of_point(claim, name, shown)} = {_format_vector(point)}" for name, point in shown.points.items()]
    return ", ".join([*points, *(f"{name} = {value}" for name, value in _list_values(claim, shown).items())])


def _list_values(claim: Claim, shown: Comparison) -> Mapping[str, int | str]:
    """Return the values of quantified symbols, by name."""
    varied = (symbol.name for symbol in claim.for_all)
    return {name: shown.index[name] for name in varied if name in shown.index}


def name_of_point(claim: Claim, name: str, shown: Comparison) -> str:
    """Name what the coordinates of a free point mean: a vector, or its displacement from the origin."""
    return name if has_only_free_vectors(claim) else f"{name} {_describe_origin(shown)}"


def describe_origin(shown: Comparison) -> str:
    """Name the origin of coordinates: x*, else the stationary point of F, else the start."""
    problem = shown.place.site.run.problem
    if not isinstance(problem, Problem) or problem.is_bounded_below:
        return "x*"
    return "the start" if problem.stationary_point is None else "the stationary point of F"


def _describe_origin(shown: Comparison) -> str:
    origin = describe_origin(shown)
    return f"- {origin}" if origin == "x*" else f"minus {origin}"


def write_points_as_comment(found: Check) -> str:
    """Return a comment for a run file with the points and values of the claim; empty where none are free."""
    shown = choose_place(found)
    described = "" if shown is None else describe_points(found.claim, shown)
    if not described:
        return ""
    why = "; for statements about free vectors the run does not matter" if has_only_free_vectors(found.claim) else ""
    return f"# {found.claim.id} at {described}{why}\n"


def _format_vector(point: Array) -> str:
    entries = [number(entry) for entry in point]
    return entries[0] if len(entries) == 1 else f"({', '.join(entries)})"


def _compare_at_simple_points(claim: Claim, worst: Comparison) -> Iterator[Comparison]:
    """Compare at the simplest points first."""
    site = worst.place.site
    vectors, symbols = list(_list_simple_vectors(site.run)), list_free_points(claim)
    places = sorted(product(range(len(vectors)), repeat=len(symbols)), key=lambda place: (sum(place), place))
    for place in places:
        points = {symbol: vectors[at] for symbol, at in zip(symbols, place, strict=True)}
        yield from compare([worst.link], partial(_list_sites, _build_site(site, points)), site.run)


def _list_sites(site: Site, _run: Run) -> list[Site]:
    return [site]


def _build_site(site: Site, points: Mapping[sp.Symbol, Array]) -> Site:
    names = {symbol.name for symbol in points}
    index = {axis: value for axis, value in site.index.items() if axis not in names}
    return replace(site, index=index, points=points, choices=())


def _list_simple_vectors(run: Run) -> Iterator[Array]:
    dimension = run.problem.dimension
    if dimension > _MOST_DIMENSIONS:
        return
    units = run.arithmetic.identity(dimension)
    first, *others = np.asarray(units)
    yield from (multiple * first for multiple in _MULTIPLES)
    for other in others:
        yield from (other, first + other, first - other)
