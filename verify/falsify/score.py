"""Scores of runs, which the search maximises: their closeness to violating a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fedtheory.arithmetic import Number, plain_float
from verify.check import Check
from verify.check.comparison import Comparison
from verify.check.sides import SideTerm

NOTHING = -math.inf
"""The score of a run to which the claim does not apply."""

_FAR = 100.0


def score(found: Check, moved: int | None = None) -> float:
    """Return the logarithm of the largest ratio of the smaller to the larger side; above 0 is a violation.

    Where a side changes sign the score is finite and above all ratios. The score of an equation is the logarithm of its
    relative gap, that of a rate the logarithm of its largest constant. One term of the larger side, given by its index
    `moved`, can first be moved to the other side: a large quantity on both sides makes the ratio close to one and hides
    the terms that decide.
    """
    if not found.applicable:
        return NOTHING
    if found.rate is not None:
        return _take_log_of_ratio(found.rate.constant or 0.0, 1.0)
    return max((_score_comparison(comparison, moved) for comparison in found.comparisons), default=NOTHING)


def score_balanced(found: Check) -> float:
    """Return the score after subtracted terms are moved to the other side.

    Where large quantities cancel, such as values before and after a step, the difference of the sides does not show how
    close the other terms come to a violation.
    """
    inequalities = (one for one in found.comparisons if one.relation.operator != "==")
    return max((_balance(one) for one in inequalities), default=NOTHING)


def _balance(comparison: Comparison) -> float:
    smaller, larger = comparison.relation.in_order(comparison.left_terms, comparison.terms)
    numerator = _sum_positive(smaller) + _sum_negative(larger)
    denominator = _sum_positive(larger) + _sum_negative(smaller)
    return _take_log_of_ratio(numerator, denominator) if numerator > 0 and denominator > 0 else -_FAR


def _sum_positive(terms: Sequence[SideTerm]) -> Number:
    return sum((term.value for term in terms if term.value > 0), start=0)


def _sum_negative(terms: Sequence[SideTerm]) -> Number:
    return sum((-term.value for term in terms if term.value < 0), start=0)


def _score_comparison(comparison: Comparison, moved: int | None) -> float:
    operator = comparison.relation.operator
    smaller, larger = comparison.relation.in_order(comparison.lhs, comparison.rhs)
    if any(isinstance(side, float) and not math.isfinite(side) for side in (smaller, larger)):
        # A run that leaves the range of floats has no score.
        return NOTHING
    if operator == "==":
        return _take_log_of_ratio(abs(smaller - larger), abs(smaller) + abs(larger))
    if moved is not None:
        terms = comparison.left_terms if operator in (">=", ">") else comparison.terms
        value = terms[moved % len(terms)].value
        smaller, larger = smaller - value, larger - value
    if larger > 0:
        return _take_log_of_ratio(smaller, larger) if smaller > 0 else -_FAR + _compute_relative_gap(smaller, larger)
    if smaller < 0:
        return _take_log_of_ratio(-larger, -smaller)
    return _FAR + _compute_relative_gap(smaller, larger) if smaller > larger else -_FAR - 2


def _take_log_of_ratio(numerator: Number, denominator: Number) -> float:
    ratio = plain_float(numerator / denominator) if plain_float(denominator) != 0 else 0.0
    if math.isnan(ratio):
        return NOTHING
    return max(-_FAR + 2, min(math.log(ratio), _FAR - 2)) if ratio > 0 else -_FAR + 2


def _compute_relative_gap(smaller: Number, larger: Number) -> float:
    """Return a gap between -1 and 1 that is positive for a violation."""
    scale = abs(smaller) + abs(larger)
    gap = plain_float((smaller - larger) / scale)
    return gap if math.isfinite(gap) else 0.0
