"""Compare ratios of two sides over many instances."""

from __future__ import annotations

from collections.abc import Sequence

from verify.evaluated_instances import Outcome
from verify.witness import Witness

_NEARLY = 0.01
"""Fraction of the largest ratio above which a simpler instance is preferred for display."""


def find_largest_ratio(outcomes: Sequence[Outcome]) -> float | None:
    """Return the largest ratio of the sides over all instances; None without instances."""
    return max((outcome.ratio for outcome in outcomes if outcome.ratio is not None), default=None)


def combine_ratios(witness: Witness | None, largest: float | None) -> float | None:
    """Return the largest ratio over the instances and the counterexample."""
    shown = None if witness is None else witness.ratio
    return max((ratio for ratio in (shown, largest) if ratio is not None), default=None)


def is_close(ratio: float | None, largest: float | None) -> bool:
    """Return whether a ratio is so close to the largest that a simpler run is preferred."""
    if ratio is None or largest is None:
        return ratio is largest
    return ratio >= largest - _NEARLY * abs(largest)
