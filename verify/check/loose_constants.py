"""Constants that are bounds: closer values of them must not change a decision.

Suprema on balls are upper bounds, and irrational eigenvalues are replaced by rationals next to them.  Such bounds
usually favour a claim, but not in a denominator, with a negative sign, in a condition, or on both sides of an equation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from fedtheory.arithmetic import Number, is_rounded_root
from fedtheory.engine.region import Ball
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity, RunQuantity

_OF_SUPREMUM = ("1", "9999/10000")
"""Bounds on the ratio of the square of a supremum to its value: up to 60 increases of a multiplier by 1e-6."""
_OF_EIGENVALUE = ("999999999999/1000000000000", "1000000000001/1000000000000")
"""Bounds on the ratio of an eigenvalue to the rational in its place, which has some fifty bits."""


@dataclass(frozen=True)
class LooseConstant:
    """A constant whose value on a run is a bound."""

    quantity: RunQuantity
    is_supremum: bool
    """Whether it is a supremum on a ball, or else an eigenvalue."""

    @property
    def reason(self) -> str:
        """The reason why the value does not decide the gap of two sides."""
        name = self.quantity.name
        if self.is_supremum:
            return f"{name} is an upper bound on a ball, and may be too large by more than the gap of the sides"
        return f"{name} is an irrational eigenvalue, and is rounded by more than the gap of the sides"

    @property
    def meaning(self) -> str:
        """The meaning of the fraction that stands for the constant, which is not exact."""
        if self.is_supremum:
            return "an upper bound on a supremum on a ball"
        return "an eigenvalue that need not be rational, rounded to a bound next to it"

    def list_values(self, run: Run) -> list[Any]:
        """Return two values between which the constant lies."""
        value, factors = self.quantity.on(run), _OF_SUPREMUM if self.is_supremum else _OF_EIGENVALUE
        numbers = [run.arithmetic.number(factor, "ratio") for factor in factors]
        return [self._multiply(value, number) for number in numbers]

    def _multiply(self, value: Any, factor: Number) -> Any:
        if self.is_supremum:
            return value * factor
        entries = np.asarray(value, dtype=object)
        moved = np.empty_like(entries)
        for place, entry in np.ndenumerate(entries):
            moved[place] = entry * factor if is_rounded_root(entry) else entry
        return moved if isinstance(value, np.ndarray) else moved[()]


def list_loose_constants(claim: Claim, run: Run) -> tuple[LooseConstant, ...]:
    """Return the constants that a claim names, also in the terms of its quantities, and that are bounds on a run."""
    return select_loose_constants(_list_nested_constants(claim), run)


def select_loose_constants(constants: Iterable[RunQuantity], run: Run) -> tuple[LooseConstant, ...]:
    """Return those of some constants that are bounds on a run."""
    found = []
    for one in constants:
        if isinstance(one.region_on(run), Ball):
            found.append(LooseConstant(one, True))
        elif one.region is None and any(map(is_rounded_root, np.ravel(np.asarray(one.on(run), dtype=object)))):
            found.append(LooseConstant(one, False))
    return tuple(found)


def move_constants(run: Run, loose: Sequence[LooseConstant]) -> Iterator[Run]:
    """Yield the run with the values of some of its constants at the ends of their ranges, for all choices."""
    if not loose:
        return
    for values in product(*(one.list_values(run) for one in loose)):
        moved = run.clear_measurements()
        for one, value in zip(loose, values, strict=True):
            one.quantity.store(moved, value)
        yield moved


@cache
def _list_nested_constants(claim: Claim) -> tuple[RunQuantity, ...]:
    """Return the constants that inequalities define, on a region or on all of space, by name."""
    found: dict[str, RunQuantity] = {}
    rest: list[Quantity] = [*claim.notation.values()]
    while rest:
        one = rest.pop()
        if isinstance(one, RunQuantity):
            is_bound = one.region is not None or one.primitive == "constant"
            found |= {one.name: one} if is_bound else {}
            rest += [of for _, of in one.term.where] if one.term is not None else []
    return tuple(found[name] for name in sorted(found))
