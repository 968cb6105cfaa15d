"""Suprema on balls are upper bounds: a violation that smaller values of them would undo is none.

Larger constants usually favour a claim, but not in a denominator, with a negative sign, in a condition, or on both
sides of an equation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations

from fedtheory.engine.region import Ball
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity, RunQuantity

_LOWER = "9999/10000"
"""Lower bound on the ratio of the square of a supremum to its value: up to 60 increases of a multiplier by 1e-6."""


def list_suprema(claim: Claim, run: Run) -> tuple[RunQuantity, ...]:
    """Return the suprema over a ball that a claim names, also in the terms of its quantities."""
    return tuple(one for one in _list_nested_constants(claim) if isinstance(one.region_on(run), Ball))


def lower_suprema(run: Run, suprema: Sequence[RunQuantity]) -> Iterator[Run]:
    """Yield the run with a smaller value of one or several of the suprema, for all choices."""
    factor = run.arithmetic.number(_LOWER, "ratio")
    for count in range(1, len(suprema) + 1):
        for chosen in combinations(suprema, count):
            lowered = run.measured_again()
            for one in suprema:
                value = one.on(run)
                one.store(lowered, value * factor if one in chosen else value)
            yield lowered


@cache
def _list_nested_constants(claim: Claim) -> tuple[RunQuantity, ...]:
    """Return the constants of assumptions that hold on a region, by name."""
    found: dict[str, RunQuantity] = {}
    rest: list[Quantity] = [*claim.notation.values()]
    while rest:
        one = rest.pop()
        if isinstance(one, RunQuantity):
            found |= {one.name: one} if one.region is not None else {}
            rest += [of for _, of in one.term.where] if one.term is not None else []
    return tuple(found[name] for name in sorted(found))
