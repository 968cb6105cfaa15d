"""Start values and ranges of sliders: numbers that satisfy the conditions, with three decades on both sides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.quantities.quantity import Quantity
from fedtheory.planner.bound import CLIENTS, COUNTS, ROUNDS, SERVER_STEP, STEP, STEPS, compute_slack, get_compiler

NOTCHES = 20
"""Number of notches of a slider per decade."""
_REACH = 3 * NOTCHES

STEP_SIZES = (STEP, "effective_step_size", "client_step_size", SERVER_STEP)
_FIRST_NOTCHES = {STEP: -20, "effective_step_size": -20, "client_step_size": -20, ROUNDS: 60, "iterations": 60}
_FIRST_NOTCHES |= {CLIENTS: 20, STEPS: 14, "client_local_steps": 14, "participants": 14, "momentum": -20}
"""Start values of a search: 0.1, a thousand, ten and five for certain quantities; ten for symbols over which the claim
quantifies; one otherwise.
"""

WHOLE = (
    *COUNTS,
    "client_local_steps",
    "largest_staleness",
    "local_step_index",
    "longest_report_interval",
    "report_interval",
    "window",
)
"""Quantities that are integers."""

_SHRINKING = 6 * NOTCHES
"""Factor by which step sizes are reduced in the search for a start."""
_STRIDE = 5
"""Number of notches between the points that the search tries."""


@dataclass(frozen=True)
class Range:
    """The values of one slider: powers of ten with three digits or integers, and zero if the symbol may be zero."""

    low: int
    high: int
    """First and last notch; notch n has the value 10^(n/20)."""
    start: int
    whole: bool
    zero: bool
    own: float | None = None
    """The value of a run, which is an additional position and the start of the slider."""

    @cached_property
    def values(self) -> tuple[float, ...]:
        """Return all values in increasing order."""
        positive = (read_notch(notch, self.whole) for notch in range(self.low, self.high + 1))
        own = [] if self.own is None else [self.own]
        return tuple(sorted({*[0.0] * self.zero, *positive, *own}))

    @cached_property
    def first(self) -> float:
        """Return the start value."""
        return read_notch(self.start, self.whole) if self.own is None else self.own

    @cached_property
    def place(self) -> int:
        """Return the index of the start among the values."""
        return self.values.index(self.first)


def read_notch(notch: int, whole: bool) -> float:
    """Return the value at a notch, rounded to the displayed digits, so that a reader can use them."""
    number = 10 ** (notch / NOTCHES)
    return max(1.0, float(round(number))) if whole else float(f"{number:.3g}")


def choose_ranges(
    symbols: Sequence[sp.Symbol],
    notation: Mapping[sp.Symbol, Quantity],
    conditions: Sequence[Expr],
    wishes: Sequence[Expr] = (),
) -> tuple[Range, ...]:
    """Return a range for each symbol; starts satisfy all conditions, and also all wishes if possible.

    Conditions and wishes are relations. Points are tried in a fixed order; without success the first one is used.
    """
    names = [notation[symbol].name if symbol in notation else "" for symbol in symbols]
    whole = [symbol.is_integer is True or name in WHOLE for symbol, name in zip(symbols, names, strict=True)]
    first = [_FIRST_NOTCHES.get(name, 20 * (name == "")) for name in names]
    is_step = [name in STEP_SIZES for name in names]

    def inside(place: Sequence[int], relations: Sequence[Expr]) -> bool:
        numbers = [read_notch(*pair) for pair in zip(place, whole, strict=True)]
        return all(is_satisfied(relation, symbols, numbers) for relation in relations)

    best = next((place for place in _list_places(first, is_step, whole) if inside(place, [*conditions, *wishes])), None)
    best = best or next((place for place in _list_places(first, is_step, whole) if inside(place, conditions)), first)
    zero = [symbol.is_positive is not True for symbol in symbols]
    return tuple(_choose_range_around(*chosen) for chosen in zip(best, whole, zero, strict=True))


def _choose_range_around(notch: int, whole: bool, zero: bool) -> Range:
    """Return the range of a slider around a notch."""
    start = max(notch, 0) if whole else notch
    return Range(0 if whole else start - _REACH, start + _REACH, start, whole, zero)


def make_range_around(number: float, usual: Range) -> Range:
    """Return the range of a slider around the value of a run; the usual range if the symbol cannot have this value."""
    if 0 < number < math.inf and (number.is_integer() or not usual.whole):
        found = _choose_range_around(find_nearest_notch(number), usual.whole, usual.zero)
        return replace(found, own=number)
    return replace(usual, own=0.0 if number == 0 and usual.zero else usual.first)


def find_nearest_notch(number: float) -> int:
    """Return the notch closest to a positive number."""
    return round(NOTCHES * math.log10(number))


def is_satisfied(condition: Expr, symbols: Sequence[sp.Symbol], numbers: Sequence[float]) -> bool:
    """Return whether a condition holds at the given values."""
    left, right = (get_compiler(tuple(symbols))(side)(list(numbers)) for side in (condition.lhs, condition.rhs))
    return compute_slack(condition, left, right).holds


def _list_places(first: list[int], is_step: list[bool], is_count: list[bool]) -> Iterator[list[int]]:
    """Yield the first point, smaller step sizes, these with one other symbol changed, and smaller counts."""
    shrunk = [_move(first, is_step, -less) for less in range(0, _SHRINKING + 1, _STRIDE)] if any(is_step) else [first]
    yield from shrunk
    others = [[number == at for number in range(len(first))] for at, step in enumerate(is_step) if not step]
    for move in sorted(range(-2 * _REACH, 2 * _REACH + 1, 2 * _STRIDE), key=abs)[1:]:
        yield from (_move(place, other, move) for place in shrunk for other in others)
    yield from (_move(first, is_count, -less) for less in range(_STRIDE, _REACH + 1, _STRIDE))


def _move(place: list[int], chosen: list[bool], move: int) -> list[int]:
    return [notch + move * is_chosen for notch, is_chosen in zip(place, chosen, strict=True)]
