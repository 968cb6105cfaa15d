"""Maps the dominating term of a bound over two of its numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr
from fedtheory.planner.bound import COUNTS, ROUNDS, STEP, STEPS, NumericBound


@dataclass(frozen=True, eq=False)
class RegimeMap:
    """The dominating term on a grid over two numbers of a bound."""

    across: str
    """Name of the number along the first axis."""
    up: str
    """Name of the number along the second axis."""
    across_values: Array
    """Values of the first number, (X,)."""
    up_values: Array
    """Values of the second number, (Y,)."""
    terms: tuple[Expr, ...]
    dominating: Array
    """Index of the largest term, (Y, X); -1 where the bound is undefined."""
    admissible: Array
    """Whether all conditions hold, (Y, X)."""


def regime_map(bound: NumericBound, across: str, up: str, *, decades: float = 3.0, points: int = 41) -> RegimeMap:
    """Return the dominating term over two numbers, by symbol or name, each over some decades around its present value.

    Counts are whole numbers from one on.  Raises `InputError` for an unknown name.
    """
    names = resolve_name(bound, across), resolve_name(bound, up)
    if names[0] == names[1]:
        raise InputError("map", f"expected two different symbols, got {across} twice")
    first, second = (_space_axis(bound, name, decades, points) for name in names)
    largest = np.empty((len(second), len(first)), dtype=int)
    admissible = np.empty(largest.shape, dtype=bool)
    for place in np.ndindex(*largest.shape):
        at = bound.with_numbers({names[0]: float(first[place[1]]), names[1]: float(second[place[0]])})
        values = at.term_values()
        largest[place] = int(np.argmax(values)) if np.isfinite(values).all() else -1
        admissible[place] = all(slack.holds for slack in at.slacks())
    return RegimeMap(*names, first, second, bound.terms, largest, admissible)


def resolve_name(bound: NumericBound, given: str) -> str:
    """Return the name of the number for a symbol or a name.

    Raises `InputError` if there is none.
    """
    known = {str(symbol): name for symbol, name in bound.names.items()}
    followed = set(bound.values) if given in (STEP, STEPS, ROUNDS) else set()
    name = known.get(given, given)
    if name in set(known.values()) | followed:
        return name
    # Client averages are also named, by formulas that users cannot type.
    expected = ", ".join(f"{symbol} ({name})" for symbol, name in known.items() if " " not in symbol)
    raise InputError("map", f"expected two of {expected}, got {given!r}")


def _space_axis(bound: NumericBound, name: str, decades: float, points: int) -> Array:
    """Return the values of a variable on a logarithmic grid around its own value."""
    centre = bound.values[name] or 1.0
    low, high = centre * 10 ** (-decades / 2), centre * 10 ** (decades / 2)
    if name not in COUNTS:
        return np.geomspace(low, high, points)
    return np.unique(np.rint(np.geomspace(max(low, 1.0), high, points)))
