"""Rays: directions along which a term of a bound becomes too small, found from the exponents of all terms.

A bound is a sum, so a wrong term is visible only where all other terms are small: with a start at the optimum, little
noise, long horizons, many clients or tiny steps. The violation grows along a direction, which often combines several
aspects: more local steps require smaller ones. So the exponent of every term in every aspect is measured, and the
direction is chosen in which the smaller side increases most relative to all terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import Array
from verify.falsify.exponents import NOTHING_THERE, LogarithmReader, Logarithms, Room, find_best_step
from verify.falsify.local_search import apply_scaling, remove_aspects
from verify.falsify.run_tables import Table, change, count_clients, count_steps, get, list_features, with_clients
from verify.falsify.scalings import find_scaling, list_scalings
from verify.falsify.score import NOTHING
from verify.falsify.search_state import MOST_ITERATES, NEAR, Reach, SearchPoint, SearchState

_SCALED = (
    "unit of values",
    "unit of inputs",
    "local step size",
    "server step size",
    "noise",
    "start",
    "spread",
    "residuals",
)
"""Names of the aspects that are scaled; a run has some of them."""
_STEPS, _ROUNDS, _CLIENTS = _COUNTED = ("local steps", "rounds", "clients")
_PROBE = 2
"""Powers of two by which an aspect is scaled to measure its exponents; counts are doubled."""
_BOXES = (8, 4, 2, 1)
"""Bounds on the change of an aspect per step, in powers of two; each is tried, and the best step is used."""
_LONGEST, _GAIN = 12, 0.01
"""Largest number of steps of a ray, and least increase of the score per step, since limits are never reached."""
_CLOSE = 2.0
"""Largest gap between the sides, in powers of two, for which a ray is refined locally."""
_SOURCES = ("noise", "start", "spread", "residuals")
"""Aspects that cause the smaller side."""
_VANISHED = 40
"""Decrease of the smaller side, in powers of two, below which it counts as zero up to rounding."""
_BURDEN = 3.0
"""Powers of two by which all other terms are multiplied in the score, so that the direction makes them small."""
_SHARE = 0.3
"""Largest fraction of the time for one ray, because large runs are slow and other rays may need small ones."""
_DIGITS = 6
"""Number of digits to which proportions are compared."""
_FEW_CLIENTS, _MOST_CLIENTS = 8, 512
"""Largest numbers of clients for which local searches, which try each client, are used."""


@dataclass(frozen=True)
class ScaledRun:
    """A run with its aspects multiplied by powers of two."""

    base: Table
    powers: Mapping[str, int] = field(default_factory=dict)

    def move(self, step: Mapping[str, int]) -> ScaledRun:
        """Return the point further along a step, in powers of two."""
        names = (*self.powers, *(name for name in step if name not in self.powers))
        return ScaledRun(self.base, {name: self.powers.get(name, 0) + step.get(name, 0) for name in names})

    def table(self) -> Table | None:
        """Return the run; None if it is not valid."""
        table: Table | None = self.base
        for name in sorted(self.powers, key=lambda name: name == _CLIENTS):
            table = None if table is None else _scale_by_power(table, name, self.powers[name])
        return table


def _scale_by_power(table: Table, name: str, power: int) -> Table | None:
    if power == 0:
        return table
    if name == _CLIENTS:
        return with_clients(table, list(range(count_clients(table))) * 2**power) if power > 0 else None
    if name in _COUNTED:
        return _scale_rounded(table, "algorithm." + name.replace(" ", "_"), power)
    scaling = find_scaling(table, name)
    return None if scaling is None else apply_scaling(table, scaling, fmpq(2) ** power)


def _scale_rounded(table: Table, key: str, power: int) -> Table | None:
    count = get(table, key)
    if not isinstance(count, int):
        return None
    return change(table, {key: max(int(count * 2.0**power), 1)})


def follow_rays(state: SearchState, starts: Sequence[Table], reach: Reach, until: float) -> None:
    """Follow rays from start runs until a time; small runs at their ends are kept for local searches."""
    state.reach, reader, each = reach, LogarithmReader(state.claim), _SHARE * (until - state.seconds)
    followed, half = [], (state.seconds + until) / 2
    for ray in _list_rays(reader, starts):
        if state.seconds < half:
            end = ray.follow(state, min(until, state.seconds + each))
            followed.append(ray)
            if end is not None and count_clients(end.table) <= _FEW_CLIENTS:
                state.keep(end)
    for ray in _select_different(sorted(followed, key=lambda ray: -ray.lead)):
        if state.seconds < until and ray.lead > -_CLOSE:
            ray.refine(state, min(until, state.seconds + each))
    state.reach = NEAR


def _select_different(rays: Iterable[Ray]) -> Iterator[Ray]:
    """Select rays with different proportions; rays that ended with equal proportions would continue equally."""
    met = set[tuple[float, ...]]()
    for ray in rays:
        if ray.proportions not in met:
            met.add(ray.proportions)
            yield ray


def _list_rays(reader: LogarithmReader, starts: Sequence[Table]) -> Iterator[Ray]:
    """Yield rays from runs with one of noise, distance and dissimilarity, then with two of them, then with all.

    The direction is chosen against all terms together, then against each term.
    """
    wholes = [(ScaledRun(table), reading) for table in starts if (reading := reader.read(table)) is not None]
    corners = [_list_corners(reader, *whole, count) for count in (1, 2) for whole in wholes]
    places = [*(corner for found in corners for corner in found), *wholes]
    rays = (
        (number, Ray(reader, *at, penalties))
        for at in places
        for number, penalties in enumerate(_list_penalties(at[1].terms))
    )
    yield from (ray for _, ray in sorted(rays, key=lambda numbered: numbered[0] > 0))


def _list_corners(
    reader: LogarithmReader, point: ScaledRun, whole: Logarithms, count: int
) -> Iterator[tuple[ScaledRun, Logarithms]]:
    """Yield the run with only `count` of its sources of error, where these make the smaller side positive."""
    present = [scaling.name for scaling in list_scalings(point.base) if scaling.name in _SOURCES]
    for kept in combinations(present, count) if count < len(present) else ():
        left = remove_aspects(point.base, [name for name in present if name not in kept])
        reading = reader.read(left)
        if reading is not None and reading.smaller > whole.smaller - _VANISHED:
            yield ScaledRun(left), reading


def _list_penalties(terms: Array) -> Iterator[Array]:
    """Yield penalties of the terms: none, and for each of several terms one on all the others."""
    there = np.flatnonzero(terms > NOTHING_THERE)
    yield np.zeros(len(terms))
    for term in there if len(there) > 1 else ():
        yield np.where(np.arange(len(terms)) == term, 0.0, _BURDEN)


class Ray:
    """A direction along which the smaller side increases relative to the terms, some of them with penalties."""

    def __init__(self, reader: LogarithmReader, at: ScaledRun, reading: Logarithms, penalties: Array) -> None:
        self._reader, self._at, self._reading, self._penalties = reader, at, reading, penalties

    def follow(self, state: SearchState, until: float) -> SearchPoint | None:
        """Follow the direction for as long as the smaller side gains, and return the last point."""
        for _ in range(_LONGEST):
            if state.seconds > until or not self._advance(state):
                break
        reached = state.look(self._run)
        return None if reached == NOTHING else SearchPoint(self._run, reached)

    @property
    def lead(self) -> float:
        """Return the logarithm of the smaller side over the other at the end of the ray, in powers of two."""
        return self._reading.lead(0 * self._penalties)

    @property
    def proportions(self) -> tuple[float, ...]:
        """Return the ratios of the terms and of the sides of conditions at the end of the ray, in powers of two."""
        at = self._reading
        terms = np.where(at.terms > NOTHING_THERE, at.terms - at.smaller, NOTHING_THERE)
        return tuple(np.round([*terms, *at.conditions], _DIGITS).tolist())

    def refine(self, state: SearchState, until: float) -> None:
        """Refine locally from the end; exponents are only asymptotic, so better grid points may be close."""
        self._penalties = 0 * self._penalties
        while state.seconds < until and any(
            self._move_to_best(state, self._list_neighbours(count)) for count in (1, 2)
        ):
            pass

    def _advance(self, state: SearchState) -> bool:
        """Move to the best further point, and return whether there is one.

        From two local steps to one, terms vanish that exponents do not describe, so counts change only if this helps.
        """
        exponents = self._measure_exponents(state)
        sizes = {name: found for name, found in exponents.items() if name not in _COUNTED}
        return any(self._move_to_best(state, self._list_ahead(some, state.reach.steps)) for some in (exponents, sizes))

    def _move_to_best(self, state: SearchState, points: Iterable[ScaledRun]) -> bool:
        """Move to the best of the points, and return whether one is better."""
        best, lead = None, self._reading.lead(self._penalties) + _GAIN
        for point in points:
            reading = self._shrink_to_allowed(state, point)
            if reading is not None and reading[1].lead(self._penalties) > lead:
                best, lead = reading, reading[1].lead(self._penalties)
        if best is not None:
            self._at, self._reading = best
        return best is not None

    def _shrink_to_allowed(self, state: SearchState, point: ScaledRun) -> tuple[ScaledRun, Logarithms] | None:
        """Return the point, with smaller steps if the conditions require them, and its logarithms; None without any."""
        # Conditions are curved, so the direction may leave them.
        shorter = (point.move({"local step size": -power}) for power in (1, 2, 4))
        for way in (point, *shorter):
            reading = self._read(state, way)
            if reading is not None and self._reader.allows(reading):
                return way, reading
        return None

    def _read(self, state: SearchState, point: ScaledRun) -> Logarithms | None:
        """Read the logarithms of a run; a run that may violate the claim is evaluated."""
        state.tick()
        table = point.table()
        if table is None or not state.is_within_reach(table) or not list_features(table) <= state.setting:
            return None
        reading = self._reader.read(table)
        if reading is None or len(reading.terms) != len(self._penalties):
            return None
        if reading.lead(0 * self._penalties) > 0 and self._reader.allows(reading):
            state.look(table)
        return reading

    def _measure_exponents(self, state: SearchState) -> dict[str, Logarithms]:
        """Return the growth of all values with each aspect, per power of two."""
        found: dict[str, Logarithms] = {}
        for name in _list_aspects(self._run):
            powers = 1 if name in _COUNTED else _PROBE
            reading = self._read(state, self._at.move({name: powers}))
            if reading is not None:
                found[name] = self._reading.exponents(reading, powers)
        return found

    def _list_ahead(self, exponents: Mapping[str, Logarithms], longest: int) -> Iterator[ScaledRun]:
        """Yield points in the best direction, the farthest first, with at most `longest` local steps."""
        names, tried = list(exponents), set[tuple[int, ...]]()
        for box in _BOXES if names else ():
            room = _bound_step(self._at, self._run, names, box, longest)
            step = find_best_step(self._reading, self._penalties, [*exponents.values()], self._reader.is_equation, room)
            if step is not None and step.any() and tuple(step) not in tried:
                tried.add(tuple(step))
                yield self._at.move({name: int(power) for name, power in zip(names, step, strict=True) if power})

    def _list_neighbours(self, count: int) -> Iterator[ScaledRun]:
        """Yield the neighbours of the end, with `count` aspects doubled or halved."""
        for names in combinations(_list_aspects(self._run), count):
            for powers in product((1, -1), repeat=count):
                yield self._at.move(dict(zip(names, powers, strict=True)))

    @property
    def _run(self) -> Table:
        table = self._at.table()
        assert table is not None
        return table


def _list_aspects(table: Table) -> list[str]:
    return [*(scaling.name for scaling in list_scalings(table) if scaling.name in _SCALED), *_COUNTED]


def _bound_step(at: ScaledRun, table: Table, names: Sequence[str], box: int, longest: int) -> Room:
    """Return the bounds of a step that keeps counts at least one, and sizes within the limits of the search."""
    low, high = np.full(len(names), -box), np.full(len(names), box)
    for place, name in enumerate(names):
        if name == _CLIENTS:
            low[place] = max(-box, -at.powers.get(name, 0))
            high[place] = min(box, _count_doublings(_MOST_CLIENTS, count_clients(table)))
        elif name in _COUNTED:
            low[place] = max(-box, -_count_doublings(_count_aspect(table, name), 1))
    all_counts = count_steps(table) * count_clients(table)
    sums = np.array([[float(name in together) for name in names] for together in ((_STEPS, _ROUNDS), _COUNTED)])
    most = [_count_doublings(longest, count_steps(table)), _count_doublings(MOST_ITERATES, all_counts)]
    return Room(low, high, sums, np.array(most))


def _count_doublings(most: int, count: int) -> int:
    """Return how often a count can be doubled."""
    return max(most // count, 1).bit_length() - 1


def _count_aspect(table: Table, name: str) -> int:
    return int(get(table, "algorithm." + name.replace(" ", "_")))
