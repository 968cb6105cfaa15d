"""Samples of numbers at which conditions hold, including their boundary; they refute that a number is non-negative."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from fedtheory.kernel import Numbers, Rejected, is_ordering, slack
from fedtheory.kernel.expressions import Average, ClientSum, Expr, ends
from fedtheory.kernel.work import spend

Point = Mapping[sp.Symbol, sp.Rational]
_COUNTS = (0, 1, 1, 2, 3, 4, 7, 16, 63, 999)
"""Sampled values of counts minus their lower bounds."""
_WIDTH = 7
"""Other numbers are powers of two, exact as floats: range of the exponents."""
_ROUNDS = 24
_EVALUATION = 20
"""Units of work of one value of one expression."""
_CLIENTS = 3
"""Number of clients with different numbers in samples."""


@dataclass(frozen=True)
class Samples:
    """Points as arrays of floats, one for each symbol; the conditions hold at each, up to rounding."""

    symbols: Sequence[sp.Symbol]
    at: NDArray[np.float64]
    """Numbers of shape (symbols, points)."""
    of_clients: Mapping[sp.Symbol, NDArray[np.float64]] = field(default_factory=dict)
    """Numbers of each client, of shape (clients, points)."""

    def values(self, expression: Expr) -> NDArray[np.float64]:
        """Return the values of an expression at every point, for the first client if they differ.

        Entries are NaN where the expression is undefined.
        """
        spend(_EVALUATION * self.at.shape[1])
        return self._evaluate_client(expression, 0)

    def _evaluate_client(self, expression: Expr, client: int) -> NDArray[np.float64]:
        """Evaluate the expression at the samples for one client."""
        known = dict(zip(self.symbols, self.at, strict=True))
        known |= {symbol: numbers[client] for symbol, numbers in self.of_clients.items()}
        outer = dict.fromkeys(_list_outer_means(expression)) if self.of_clients else ()
        # Names fix the order of factors, and with it rounding.
        means = {mean: sp.Dummy(f"mean_{place:04}") for place, mean in enumerate(outer)}
        known |= {symbol: self._average(mean.args[0]) for mean, symbol in means.items()}
        return _evaluate(expression.xreplace(means), [*known], np.array([*known.values()]))

    def _average(self, number: Expr) -> NDArray[np.float64]:
        """Return the client average of an expression at the samples."""
        each = [self._evaluate_client(number, client) for client in range(_CLIENTS)]
        found: NDArray[np.float64] = np.mean(each, axis=0)
        return found

    def point(self, number: int) -> Point:
        """Return one of the points, in rationals."""
        return {symbol: _round_exactly(value) for symbol, value in zip(self.symbols, self.at[:, number], strict=True)}


def draw_samples(symbols: Sequence[sp.Symbol], numbers: Numbers, conditions: Sequence[Expr], count: int) -> Samples:
    """Return points at which the conditions hold, the same for the same symbols and conditions.

    A condition that bounds a single symbol is met by moving that symbol, in half of the points to the bound; for others
    real symbols shrink or grow until it holds.  Points at which a condition fails are left out.
    """
    orderings = [one for one in conditions if is_ordering(one) and not one.atoms(Average, ClientSum)]
    used = sorted(set(symbols).union(*(condition.free_symbols for condition in orderings)), key=str)
    random = np.random.default_rng(len(used) + 1000 * len(orderings))
    at = np.array([_draw(symbol, numbers, random, count) for symbol in used]).reshape(len(used), count)
    places = {symbol: place for place, symbol in enumerate(used)}
    moves = [_make_mover(condition, places, numbers, random) for condition in orderings]
    for _ in range(_ROUNDS):
        for move in moves:
            move(at)
    holds = np.ones(count, dtype=bool)
    for condition in orderings:
        spend(_EVALUATION * count)
        holds &= _evaluate(slack(condition), used, at) >= -1e-12 * np.abs(_evaluate(ends(condition)[1], used, at))
    return Samples(used, at[:, holds])


def draw_inner_points(
    symbols: Sequence[sp.Symbol], numbers: Numbers, conditions: Sequence[Expr], count: int, of_one: bool = False
) -> Samples:
    """Return a few points inside the conditions, of moderate size: a relation that holds at all of them is an identity.

    For a statement about one client, numbers of clients are treated as other numbers.
    """
    orderings = [one for one in conditions if is_ordering(one)]
    every = sorted(set(symbols).union(*(one.free_symbols for one in orderings)), key=str)
    own = frozenset() if of_one and not any(one.atoms(Average) for one in orderings) else numbers.of_clients
    used = [symbol for symbol in every if symbol not in own]
    random = np.random.default_rng(len(used))
    tries = 4000

    def drawn(symbol: sp.Symbol, clients: int) -> NDArray[np.float64]:
        if symbol in numbers.at_least or symbol in numbers.integer:
            return numbers.at_least.get(symbol, 0) + random.integers(1, 6, (clients, tries)).astype(float)
        return np.exp(random.uniform(-2.5, 1.0, (clients, tries)))

    at = np.concatenate([np.empty((0, tries)), *(drawn(symbol, 1) for symbol in used)])
    of_clients = {symbol: drawn(symbol, _CLIENTS) for symbol in every if symbol in own}
    holds = np.ones(tries, dtype=bool)
    for client in range(_CLIENTS if of_clients else 1):
        first = Samples(used, at, {symbol: np.roll(each, client, axis=0) for symbol, each in of_clients.items()})
        for condition in orderings:
            holds &= first.values(slack(condition)) > 1e-9
    chosen = {symbol: each[:, holds][:, :count] for symbol, each in of_clients.items()}
    return Samples(used, at[:, holds][:, :count], chosen)


def add_edges(samples: Samples, numbers: Numbers, conditions: Sequence[Expr]) -> Samples:
    """Return the points, and others on the boundary of the conditions.

    There, numbers that may be zero are zero, and bounds are attained.
    A relation that divides by such a number fails there.
    """
    if not samples.at.shape[1]:
        return samples
    orderings = [one for one in conditions if is_ordering(one) and not one.atoms(Average, ClientSum)]
    orderings = [one for one in orderings if one.free_symbols <= set(samples.symbols)]
    found = [samples.at]
    for place, symbol in enumerate(samples.symbols):
        if symbol in numbers.maybe_zero and symbol not in numbers.divisors:
            vanishing = samples.at[:, :1].copy()
            vanishing[place] = 0.0
            found.append(vanishing)
    for condition in orderings:
        movable = [s for s in samples.symbols if s in condition.free_symbols and s not in numbers.at_least]
        for symbol in [s for s in movable if s not in numbers.integer][:1]:
            found.append(_move_to_edge(samples, samples.symbols.index(symbol), condition))
    at = np.concatenate(found, axis=1)
    holds = np.all(np.isfinite(at), axis=0)
    for condition in orderings:
        holds &= _evaluate(slack(condition), samples.symbols, at) >= -1e-9
    own = {
        symbol: np.concatenate([each, np.repeat(each[:, :1], at.shape[1] - each.shape[1], axis=1)], axis=1)[:, holds]
        for symbol, each in samples.of_clients.items()
    }
    return Samples(samples.symbols, at[:, holds], own)


def _move_to_edge(samples: Samples, place: int, condition: Expr) -> NDArray[np.float64]:
    """Return a point with one number moved, by bisection, until a condition holds with equality.

    The entries are NaN if this is impossible.
    """
    gap: Any = sp.lambdify(list(samples.symbols), slack(condition), modules="numpy", cse=False)
    at = samples.at[:, :1].copy()
    inside, first = at[place, 0], at[place, 0]
    for outside in (first * 1e3, first * 1e-3):
        at[place, 0] = outside
        if float(np.asarray(gap(*at)).item()) < 0:
            break
    else:
        return np.full_like(at, np.nan)
    for _ in range(_BISECTIONS):
        at[place, 0] = (inside + outside) / 2
        if float(np.asarray(gap(*at)).item()) >= 0:
            inside = at[place, 0]
        else:
            outside = at[place, 0]
    at[place, 0] = inside
    return at


_BISECTIONS = 60


def _draw(symbol: sp.Symbol, numbers: Numbers, random: np.random.Generator, count: int) -> NDArray[np.float64]:
    if symbol in numbers.at_least or symbol in numbers.integer:
        counts: NDArray[np.float64] = random.choice(np.array(_COUNTS, dtype=float), count)
        return counts + numbers.at_least.get(symbol, 0)
    values: NDArray[np.float64] = np.exp2(random.integers(-_WIDTH, _WIDTH + 1, count).astype(float))
    if symbol in numbers.maybe_zero and symbol not in numbers.divisors:
        values[random.random(count) < 0.25] = 0.0
    return values


def _make_mover(
    condition: Expr, places: Mapping[sp.Symbol, int], numbers: Numbers, random: np.random.Generator
) -> Callable[[NDArray[np.float64]], None]:
    """Return a function that changes points so that a condition holds at more of them."""
    smaller, larger = ends(condition)
    symbols = list(places)
    strict = isinstance(condition, sp.Lt | sp.Gt)

    def is_free(symbol: Expr, other: Expr) -> bool:
        return symbol.is_Symbol and symbol not in other.free_symbols and symbol not in numbers.integer

    def clip(at: NDArray[np.float64], place: int, bound: NDArray[np.float64], is_above: bool) -> None:
        violated = (at[place] > bound) if is_above else (at[place] < bound)
        edge = random.random(at.shape[1]) < (0.0 if strict else 0.5)
        factor = np.where(edge, 1.0, np.exp2(-random.integers(1, 5, at.shape[1]).astype(float)))
        moved = bound * factor if is_above else bound / factor
        at[place] = np.where(violated & np.isfinite(moved), moved, at[place])

    if is_free(smaller, larger):
        return lambda at: clip(at, places[smaller], _evaluate(larger, symbols, at), True)
    if is_free(larger, smaller):
        return lambda at: clip(at, places[larger], _evaluate(smaller, symbols, at), False)
    movable = [places[symbol] for symbol in sorted(condition.free_symbols, key=str) if symbol not in numbers.at_least]

    def shrink(at: NDArray[np.float64]) -> None:
        violated = ~(_evaluate(slack(condition), symbols, at) >= 0)
        if movable:
            chosen = random.choice(movable, at.shape[1])
            factor = np.exp2(random.choice([-2.0, -1.0, -1.0, 1.0], at.shape[1]))
            places_of = np.arange(at.shape[1])
            at[chosen, places_of] *= np.where(violated, factor, 1.0)

    return shrink


def _evaluate(expression: Expr, symbols: Sequence[sp.Symbol], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evaluate the expression at sampled values of the symbols."""
    function: Any = sp.lambdify(list(symbols), expression, modules="numpy", cse=False)
    try:
        with np.errstate(all="ignore"):
            found: NDArray[np.float64] = np.asarray(function(*at), dtype=float)
    except (NameError, TypeError):
        raise Rejected(f"{expression} cannot be sampled as a number: it has averages or roots of vectors") from None
    return np.broadcast_to(found, at.shape[1:])


def _list_outer_means(expression: Expr) -> list[Expr]:
    """Return the outermost averages over clients in an expression."""
    if isinstance(expression, Average):
        return [expression]
    return [mean for part in expression.args for mean in _list_outer_means(part)]


def _round_exactly(value: float) -> sp.Rational:
    """Return the rational number close to a float."""
    fraction = Fraction(float(value)).limit_denominator(10**9)
    return sp.Rational(fraction.numerator, fraction.denominator)


def find_negative(
    number: Expr, samples: Samples, numbers: Numbers, conditions: Sequence[Expr], *, most: int = 8
) -> Point | None:
    """Return a point at which a number is negative and every condition holds, decided in rationals.

    Returns None if no sample is such a point.
    """
    values = samples.values(number)
    suspects = np.flatnonzero(values < 0)
    for suspect in suspects[np.argsort(values[suspects], kind="stable")][:most]:
        point = samples.point(int(suspect))
        if is_feasible(point, numbers, conditions) and is_negative_at(number, point):
            return point
    return None


def is_negative_at(number: Expr, point: Point) -> bool:
    """Return whether a number is negative at a point, in exact arithmetic."""
    return bool(sp.sympify(number).xreplace(dict(point)).is_negative)


def is_feasible(point: Point, numbers: Numbers, conditions: Sequence[Expr]) -> bool:
    """Return whether every condition holds at a point, and no count is below its lower bound, in exact arithmetic."""
    slacks = [(slack(one), one) for one in conditions if is_ordering(one)]
    for gap, condition in slacks:
        value = gap.xreplace(dict(point))
        strict = isinstance(condition, sp.Lt | sp.Gt)
        if not (value.is_positive or (value.is_zero and not strict)):
            return False
    return all(value >= numbers.at_least.get(symbol, 0) for symbol, value in point.items())
