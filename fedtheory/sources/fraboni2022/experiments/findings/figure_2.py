"""Findings on Figure 2, on one split of each kind: identical against time-based weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fedtheory.language.exhibits import Finding
from fedtheory.sources.fraboni2022.experiments.curves import Curve, average_last
from fedtheory.sources.fraboni2022.experiments.figure_2 import WeightsCompared
from fedtheory.sources.fraboni2022.experiments.findings.formatting import TWICE

_EARLY_FRACTIONS = (0.75, 0.5)
"""Fractions of the initial excess loss at which runs are compared "at first"."""


def list_findings_2(iid: WeightsCompared, dirichlet: WeightsCompared) -> tuple[Finding, ...]:
    """Return the findings on Figure 2: identical against time-based weights."""
    both = (iid, dirichlet)
    return (
        _check_lower_everywhere(both, "Time-based reaches a lower loss of problem (2) than Identical", _compute_excess),
        _check_lower_everywhere(
            both, "the losses of the clients differ less with Time-based than with Identical", _compute_spread
        ),
        _check_faster_at_first(both),
        *_check_gaps(iid, dirichlet),
        _check_lower_everywhere(
            both,
            "Identical is better than Time-based on the surrogate problem (10)",
            _compute_surrogate_excess,
            swapped=True,
        ),
        _check_lower_everywhere(both, "the weighted spread is always worse for Identical", _compute_weighted_spread),
    )


Measure = Callable[[WeightsCompared, Curve], float]
"""Function that returns a number of a curve at the end of the run."""


def _compute_excess(result: WeightsCompared, curve: Curve) -> float:
    return curve.final_loss - result.minimum


def _compute_spread(result: WeightsCompared, curve: Curve) -> float:
    return average_last(curve.compute_spread(result.importance))


def _compute_surrogate_excess(result: WeightsCompared, curve: Curve) -> float:
    return average_last(curve.compute_weighted_loss(result.shares)) - result.surrogate_minimum


def _compute_weighted_spread(result: WeightsCompared, curve: Curve) -> float:
    return average_last(curve.compute_spread(result.shares))


def _check_lower_everywhere(
    results: Sequence[WeightsCompared], statement: str, measure: Measure, *, swapped: bool = False
) -> Finding:
    """Test whether a number is lower at the end with time-based weights (identical if `swapped`), on all splits."""
    pairs = [(measure(result, result.identical), measure(result, result.time_based)) for result in results]
    holds = all(identical < time_based if swapped else time_based < identical for identical, time_based in pairs)
    texts = [
        f"{result.split}: {identical:.3g} with Identical, {time_based:.3g} with Time-based"
        for result, (identical, time_based) in zip(results, pairs, strict=True)
    ]
    return Finding(statement, holds, f"At the end, {'; '.join(texts)}.")


def _check_faster_at_first(results: Sequence[WeightsCompared]) -> Finding:
    """Test whether identical weights are the first to remove a quarter of the initial excess loss, on all splits."""
    times = {}
    for result in results:
        initial = float(result.identical.loss[0]) - result.minimum
        levels = [result.minimum + part * initial for part in _EARLY_FRACTIONS]
        curves = (result.identical, result.time_based)
        times[result.split] = [[curve.find_first_time_below(level) for curve in curves] for level in levels]
    texts = [
        f"{split}: a quarter of the excess loss is gone at $t={first[0]:.3g}$ with Identical and ${first[1]:.3g}$ with "
        f"Time-based, half of it at ${half[0]:.3g}$ and ${half[1]:.3g}$"
        for split, (first, half) in times.items()
    ]
    holds = all(first[0] < first[1] for first, _ in times.values())
    return Finding("Identical is faster than Time-based at first", holds, f"{'; '.join(texts)}.")


def _check_gaps(iid: WeightsCompared, dirichlet: WeightsCompared) -> tuple[Finding, Finding]:
    """Test whether the final losses of the two weightings differ more with label skew, and twice as much."""
    ratio = dirichlet.gap / iid.gap
    evidence = (
        f"The final losses differ by {dirichlet.gap:.3g} on the Dirichlet split and by {iid.gap:.3g} on the IID one: "
        f"{ratio:.3g} times as much. At the two minimisers themselves the losses of (2) differ by "
        f"{dirichlet.identical_limit - dirichlet.minimum:.3g} and {iid.identical_limit - iid.minimum:.3g}."
    )
    larger = dirichlet.gap > max(iid.gap, 0.0)
    twice = iid.gap > 0 and TWICE[0] <= ratio <= TWICE[1]
    return (
        Finding("data heterogeneity widens the gap between the two weightings", larger, evidence),
        Finding("the gap is twice as large on the split with label skew", twice, evidence),
    )
