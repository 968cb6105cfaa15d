"""Decide for each entry whether the sides of a link are as claimed: certainly true, certainly false, or left open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from fedtheory.arithmetic import NEAR_TIE, Array
from verify.check.sides import Sides, Values

HOLDS, OPEN, FAILS = 1, 0, -1

_STEADY = 100
"""Required ratio of a gap to its change at perturbed runs."""


def decide(sides: Sides, perturbed: Sequence[Sides]) -> Array:
    """Return `HOLDS`, `OPEN` or `FAILS` for each entry; open entries of an identity hold."""
    decided = decide_by_values(sides, perturbed)
    if OPEN in decided and sides.link.relation.operator in ("<=", "==", ">=") and sides.link.is_identity:
        decided[:] = HOLDS
    return decided


def decide_by_values(sides: Values, perturbed: Sequence[Sides] = ()) -> Array:
    """Decide by the values of both sides; entries that change too much between `perturbed` runs are left open."""
    operator, gap = sides.link.relation.operator, sides.signs
    fits, fails = _TESTS[operator]
    decided = np.asarray(fits(gap)).astype(int)
    # The sign of an enclosure that contains zero is unknown.
    rest = decided == OPEN
    decided[rest] = FAILS * np.asarray(fails(gap[rest])).astype(int)
    if sides.slack.dtype != object:
        decided[_is_near_tie(sides, perturbed)] = OPEN
    if operator == "==" and perturbed:
        # Cancellation can make any residual rounding error, so a float check never refutes an equation.
        decided[decided == FAILS] = OPEN
    return decided


_TESTS: Mapping[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    **dict.fromkeys(("<=", ">="), (lambda gap: gap >= 0, lambda gap: gap < 0)),
    **dict.fromkeys(("<", ">"), (lambda gap: gap > 0, lambda gap: gap <= 0)),
    "==": (lambda gap: gap == 0, lambda gap: gap != 0),
}
"""Tests of a gap by operator: the claimed sign, and the opposite one."""


def _is_near_tie(sides: Values, perturbed: Sequence[Sides]) -> Array:
    assert sides.scale is not None
    # This form also counts NaN, for which every comparison is false, as a near tie.
    is_near_tie: Array = ~(abs(sides.slack) > NEAR_TIE * sides.scale) & (sides.scale != 0)
    for unsteadiness in _measure_changes(sides, perturbed):
        is_near_tie |= ~(abs(sides.slack) > _STEADY * unsteadiness) & ((sides.scale != 0) | (unsteadiness > 0))
    return is_near_tie


def _measure_changes(sides: Values, perturbed: Sequence[Sides]) -> Iterator[Array]:
    """Yield the change of the sides' difference at each perturbed run, by entry; infinite for missing entries."""
    for near in perturbed:
        has_counterpart = near.slack.shape == sides.slack.shape
        yield abs(near.slack - sides.slack) if has_counterpart else np.full(sides.slack.shape, np.inf)
