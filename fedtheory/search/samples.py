"""Draws values of the symbols of a claim at which its conditions hold, inside the conditions or on their boundary.

Some samples serve to refute that an expression is non-negative, others to solve for numeric coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from fedtheory.kernel import Numbers, Rejected, is_ordering, slack
from fedtheory.kernel.expressions import Average, ClientSum, Expr, ends
from fedtheory.kernel.work import spend

Point = Mapping[sp.Symbol, sp.Rational]
"""A sample in rationals: a value of every symbol."""
_COUNTS = (0, 1, 1, 2, 3, 4, 7, 16, 63, 999)
"""Sampled values of counts minus their lower bounds."""
_EXPONENTS = np.arange(-7, 8)
"""Exponents of the powers of two that other symbols have as values; floats represent these exactly."""
_MOVES = 24
"""Number of times that each condition moves the samples that violate it."""
_TRIES = 4000
"""Number of values that are drawn to find a few inside the conditions."""
_MOST_CHECKED = 8
"""Number of samples with negative values that are checked in rationals."""
_SHRINKING = 6.0
"""Largest logarithm of the factor by which a symbol is made smaller if moderate values violate the conditions."""
_BISECTIONS = 60
_EVALUATION = 20
"""Units of work of one value of one expression."""
_CLIENTS = 3
"""Number of clients that have different values of their symbols in a sample."""


@dataclass(frozen=True)
class Samples:
    """Sampled values of symbols as floats; the conditions hold at each sample, up to rounding."""

    symbols: Sequence[sp.Symbol]
    at: NDArray[np.float64]
    """Values of the symbols, of shape (symbols, samples)."""
    of_clients: Mapping[sp.Symbol, NDArray[np.float64]] = field(default_factory=dict)
    """Values of the symbols that differ between clients, each of shape (clients, samples)."""

    def values(self, expression: Expr) -> NDArray[np.float64]:
        """Return the values of an expression at every sample, for the first client if clients differ.

        Entries are NaN where the expression is undefined.
        """
        spend(_EVALUATION * self.at.shape[1])
        return self._evaluate_client(expression, 0)

    def _evaluate_client(self, expression: Expr, client: int) -> NDArray[np.float64]:
        """Return the values of an expression at every sample for one client."""
        known = dict(zip(self.symbols, self.at, strict=True))
        known |= {symbol: numbers[client] for symbol, numbers in self.of_clients.items()}
        outer = dict.fromkeys(_list_outer_means(expression)) if self.of_clients else ()
        # The names fix the order in which SymPy multiplies factors, so that rounding is the same in every process.
        means = {mean: sp.Dummy(f"mean_{place:04}") for place, mean in enumerate(outer)}
        known |= {symbol: self._average(mean.args[0]) for mean, symbol in means.items()}
        return _evaluate(expression.xreplace(means), [*known], np.array([*known.values()]))

    def _average(self, number: Expr) -> NDArray[np.float64]:
        """Return the client average of an expression at every sample."""
        of_clients = [self._evaluate_client(number, client) for client in range(_CLIENTS)]
        average: NDArray[np.float64] = np.mean(of_clients, axis=0)
        return average

    def point(self, sample: int) -> Point:
        """Return one of the samples in rationals."""
        return {symbol: _make_rational(value) for symbol, value in zip(self.symbols, self.at[:, sample], strict=True)}


def draw_samples(symbols: Sequence[sp.Symbol], numbers: Numbers, conditions: Sequence[Expr], count: int) -> Samples:
    """Return samples at which the conditions hold, the same for the same symbols and conditions.

    A condition that bounds a single symbol moves this symbol, in half of the samples exactly to the bound.  Any other
    condition multiplies its real symbols by powers of two until it holds.  Samples that still violate a condition are
    left out.
    """
    orderings = [one for one in conditions if is_ordering(one) and not one.atoms(Average, ClientSum)]
    used = sorted(set(symbols).union(*(condition.free_symbols for condition in orderings)), key=str)
    random = np.random.default_rng(len(used) + 1000 * len(orderings))
    at = np.array([_draw(symbol, numbers, random, count) for symbol in used]).reshape(len(used), count)
    places = {symbol: place for place, symbol in enumerate(used)}
    moves = [_make_mover(condition, places, numbers, random) for condition in orderings]
    for _ in range(_MOVES):
        for move in moves:
            move(at)
    holds = np.ones(count, dtype=bool)
    for condition in orderings:
        spend(_EVALUATION * count)
        holds &= _evaluate(slack(condition), used, at) >= -1e-12 * np.abs(_evaluate(ends(condition)[1], used, at))
    return Samples(used, at[:, holds])


def draw_inner_points(
    symbols: Sequence[sp.Symbol], numbers: Numbers, conditions: Sequence[Expr], count: int, single_client: bool = False
) -> Samples:
    """Return a few samples of moderate size strictly inside the conditions.

    They are in general position, so that an equation that holds at all of them is an identity.  Conditions on counts
    alone, such as tau <= 1, may hold with equality.  With `single_client`
    the symbols of clients have one value in each sample, as all other symbols have.
    """
    orderings = [one for one in conditions if is_ordering(one)]
    every = sorted(set(symbols).union(*(one.free_symbols for one in orderings)), key=str)
    has_averages = any(one.atoms(Average) for one in orderings)
    differing = frozenset() if single_client and not has_averages else numbers.of_clients
    shared = [symbol for symbol in every if symbol not in differing]
    random = np.random.default_rng(len(shared))
    of_counts = [one for one in orderings if one.free_symbols <= numbers.at_least.keys()]
    least = dict.fromkeys(set[sp.Symbol]().union(*(one.free_symbols for one in of_counts)), 0)

    def draw(smaller: sp.Symbol | None) -> Samples:
        """Return samples inside the conditions, at most `count`, with one of the symbols possibly much smaller."""
        drawn = (_draw_moderate(symbol, numbers, random, 1, least.get(symbol, 1)) for symbol in shared)
        at = np.concatenate([np.empty((0, _TRIES)), *drawn])
        of_clients = {s: _draw_moderate(s, numbers, random, _CLIENTS) for s in every if s in differing}
        if smaller is not None:
            at[shared.index(smaller)] *= np.exp(-random.uniform(0.0, _SHRINKING, _TRIES))
        holds = np.ones(_TRIES, dtype=bool)
        for client in range(_CLIENTS if of_clients else 1):
            # Conditions are evaluated for the first client, and have to hold for every one.
            rolled = {symbol: np.roll(values, client, axis=0) for symbol, values in of_clients.items()}
            for condition in orderings:
                gap = Samples(shared, at, rolled).values(slack(condition))
                holds &= gap >= 0 if condition in of_counts else gap > 1e-9
        chosen = {symbol: values[:, holds][:, :count] for symbol, values in of_clients.items()}
        return Samples(shared, at[:, holds][:, :count], chosen)

    samples = draw(None)
    if samples.at.shape[1] == count:
        return samples
    # Conditions such as 200 L eta^2 tau^2 <= 1 hold for few moderate values, and for most if eta is small.
    movable = [symbol for symbol in shared if symbol not in numbers.at_least and symbol not in numbers.integer]
    return max([samples, *map(draw, movable)], key=lambda each: each.at.shape[1])


def _draw_moderate(
    symbol: sp.Symbol, numbers: Numbers, random: np.random.Generator, clients: int, least: int = 1
) -> NDArray[np.float64]:
    """Draw values of moderate size, of shape (clients, tries); counts exceed their lower bounds by `least` or more."""
    shape = (clients, _TRIES)
    if symbol in numbers.at_least or symbol in numbers.integer:
        return numbers.at_least.get(symbol, 0) + random.integers(least, 6, shape).astype(float)
    return np.exp(random.uniform(-2.5, 1.0, shape))


def add_edges(samples: Samples, numbers: Numbers, conditions: Sequence[Expr]) -> Samples:
    """Return the samples with further ones on the boundary of the conditions.

    On the boundary a possibly zero symbol is zero, or a condition holds with equality.
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
    of_clients = {
        symbol: np.concatenate([values, np.repeat(values[:, :1], at.shape[1] - values.shape[1], axis=1)], axis=1)
        for symbol, values in samples.of_clients.items()
    }
    chosen = {symbol: values[:, holds] for symbol, values in of_clients.items()}
    return Samples(samples.symbols, at[:, holds], chosen)


def _move_to_edge(samples: Samples, place: int, condition: Expr) -> NDArray[np.float64]:
    """Return the first sample with one symbol moved by bisection, so that a condition holds with equality.

    The result has shape (symbols, 1); its entries are NaN if no move reaches the boundary.
    """

    def gap(at: NDArray[np.float64]) -> float:
        """Return the slack of the condition at a sample."""
        return float(_evaluate(slack(condition), samples.symbols, at)[0])

    at = samples.at[:, :1].copy()
    inside, first = at[place, 0], at[place, 0]
    for outside in (first * 1e3, first * 1e-3):
        at[place, 0] = outside
        if gap(at) < 0:
            break
    else:
        return np.full_like(at, np.nan)
    for _ in range(_BISECTIONS):
        at[place, 0] = (inside + outside) / 2
        if gap(at) >= 0:
            inside = at[place, 0]
        else:
            outside = at[place, 0]
    at[place, 0] = inside
    return at


def _draw(symbol: sp.Symbol, numbers: Numbers, random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Draw values of a symbol: counts from a short list, others as powers of two or zero."""
    if symbol in numbers.at_least or symbol in numbers.integer:
        counts: NDArray[np.float64] = random.choice(np.array(_COUNTS, dtype=float), count)
        return counts + numbers.at_least.get(symbol, 0)
    values: NDArray[np.float64] = np.exp2(random.choice(_EXPONENTS, count).astype(float))
    if symbol in numbers.maybe_zero and symbol not in numbers.divisors:
        values[random.random(count) < 0.25] = 0.0
    return values


def _make_mover(
    condition: Expr, places: Mapping[sp.Symbol, int], numbers: Numbers, random: np.random.Generator
) -> Callable[[NDArray[np.float64]], None]:
    """Return a function that changes samples in place, so that a condition holds at more of them."""
    smaller, larger = ends(condition)
    symbols = list(places)
    strict = isinstance(condition, sp.Lt | sp.Gt)

    def is_movable(symbol: Expr, other: Expr) -> bool:
        return symbol.is_Symbol and symbol not in other.free_symbols and symbol not in numbers.integer

    def clip(at: NDArray[np.float64], place: int, bound: NDArray[np.float64], is_above: bool) -> None:
        violated = (at[place] > bound) if is_above else (at[place] < bound)
        edge = random.random(at.shape[1]) < (0.0 if strict else 0.5)
        factor = np.where(edge, 1.0, np.exp2(-random.integers(1, 5, at.shape[1]).astype(float)))
        moved = bound * factor if is_above else bound / factor
        at[place] = np.where(violated & np.isfinite(moved), moved, at[place])

    if is_movable(smaller, larger):
        return lambda at: clip(at, places[smaller], _evaluate(larger, symbols, at), True)
    if is_movable(larger, smaller):
        return lambda at: clip(at, places[larger], _evaluate(smaller, symbols, at), False)
    movable = [places[symbol] for symbol in sorted(condition.free_symbols, key=str) if symbol not in numbers.at_least]

    def rescale(at: NDArray[np.float64]) -> None:
        violated = ~(_evaluate(slack(condition), symbols, at) >= 0)
        if movable:
            chosen = random.choice(movable, at.shape[1])
            factor = np.exp2(random.choice([-2.0, -1.0, -1.0, 1.0], at.shape[1]))
            at[chosen, np.arange(at.shape[1])] *= np.where(violated, factor, 1.0)

    return rescale


def _evaluate(expression: Expr, symbols: Sequence[sp.Symbol], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of an expression; `at` has a row of values for each symbol."""
    with np.errstate(all="ignore"):
        found = _compute(sp.sympify(expression), dict(zip(symbols, at, strict=True)))
    return np.broadcast_to(np.asarray(found, dtype=float), at.shape[1:])


def _compute(expression: Expr, known: Mapping[sp.Symbol, NDArray[np.float64]]) -> Any:
    """Return the values of an expression, in the order of its arguments; compiling it would take longer."""
    if expression.is_Symbol and expression in known:
        return known[expression]
    if expression.is_Rational:
        return np.float64(expression.p) / np.float64(expression.q)
    function = _FUNCTIONS.get(type(expression))
    if function is not None:
        return function(_compute(expression.args[0], known))
    operation = _OPERATIONS.get(type(expression))
    if operation is None:
        raise Rejected(f"{expression} has no numeric value: it contains averages or norms of vectors")
    if isinstance(expression, sp.Pow) and expression.exp.is_Integer and abs(expression.exp) <= _LARGEST_FLOAT:
        return _compute(expression.base, known) ** int(expression.exp)
    return reduce(operation, (_compute(part, known) for part in expression.args))


_LARGEST_FLOAT = 2**53
"""Largest whole number up to which floats represent all of them."""
_OPERATIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    **{sp.Add: np.add, sp.Mul: np.multiply, sp.Pow: np.power, sp.Max: np.maximum, sp.Min: np.minimum},
}
_FUNCTIONS: Mapping[type, Callable[[Any], Any]] = {sp.exp: np.exp, sp.log: np.log, sp.Abs: np.abs}


def _list_outer_means(expression: Expr) -> list[Expr]:
    """Return the outermost averages over clients in an expression."""
    if isinstance(expression, Average):
        return [expression]
    return [mean for part in expression.args for mean in _list_outer_means(part)]


def _make_rational(value: float) -> sp.Rational:
    """Return the rational with a denominator of at most 10^9 that is closest to a float."""
    fraction = Fraction(float(value)).limit_denominator(10**9)
    return sp.Rational(fraction.numerator, fraction.denominator)


def find_negative(number: Expr, samples: Samples, numbers: Numbers, conditions: Sequence[Expr]) -> Point | None:
    """Return a sample at which a number is negative and every condition holds, decided in rationals.

    Returns None if there is none among the most negative values.
    """
    values = samples.values(number)
    suspects = np.flatnonzero(values < 0)
    for suspect in suspects[np.argsort(values[suspects], kind="stable")][:_MOST_CHECKED]:
        point = samples.point(int(suspect))
        if is_feasible(point, numbers, conditions) and is_negative_at(number, point):
            return point
    return None


def is_negative_at(number: Expr, point: Point) -> bool:
    """Return whether a number is negative at a sample, in exact arithmetic."""
    return bool(sp.sympify(number).xreplace(dict(point)).is_negative)


def is_feasible(point: Point, numbers: Numbers, conditions: Sequence[Expr]) -> bool:
    """Return whether every condition holds at a sample, and no count is below its lower bound, in exact arithmetic."""
    for condition in filter(is_ordering, conditions):
        value = slack(condition).xreplace(dict(point))
        strict = isinstance(condition, sp.Lt | sp.Gt)
        if not (value.is_positive or (value.is_zero and not strict)):
            return False
    return all(value >= numbers.at_least.get(symbol, 0) for symbol, value in point.items())
