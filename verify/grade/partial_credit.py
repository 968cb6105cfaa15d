"""The rule of partial credit for bounds, for grading and for the rubric."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

Standing = Literal["equal", "proved", "not refuted", "refuted", "not applicable"]

CLOSE = 2
"""A bound that is not refuted gets full points if it is nowhere found to exceed this multiple of the reference."""
LOOSE_SHARE, UNITS_SHARE = Fraction(1, 2), Fraction(1, 4)

BOUND_RULE = (
    f"All points: the answer equals the reference, or it is not refuted and at most {CLOSE} times the reference "
    "wherever the two are compared. "
    f"{LOOSE_SHARE} of the points: it is not refuted, but looser, for example because a factor 1/M is lost. "
    f"{UNITS_SHARE} of the points: a run violates it, and all its terms have the units of the left side. "
    "No points: a run violates it and its units are wrong. "
    "Not refuted means that it is proved, or that no test run violates it; the second is not a proof. "
    "A person reads an answer that no run violates, if it has no value on a test run, for example because it divides "
    "by zero there, or if it falls arbitrarily far below every proved bound; and one that the machine cannot read."
)


def compute_share(standing: Standing, excess: float | None, right_units: bool) -> Fraction:
    """Return the fraction of a bound's points; `excess` is the largest factor by which it exceeds the reference."""
    if standing == "equal":
        return Fraction(1)
    if standing in ("proved", "not refuted"):
        return Fraction(1) if excess is not None and excess <= CLOSE else LOOSE_SHARE
    return UNITS_SHARE if right_units else Fraction(0)
