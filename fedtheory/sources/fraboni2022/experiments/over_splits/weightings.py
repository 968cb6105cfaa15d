"""Figure 2 over several splits: identical and time-based weights at the end of the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fedtheory.sources.fraboni2022.experiments.curves import Curve, average_last
from fedtheory.sources.fraboni2022.experiments.digits import Split
from fedtheory.sources.fraboni2022.experiments.figure_2 import WeightsCompared, compute_figure_2


@dataclass(frozen=True)
class WeightingOnSplit:
    """One weighting on one split, averaged over the last 5% of the updates."""

    split: Split
    seed: int
    weighting: str
    step_size: float
    """The best step size for identical weights."""
    excess: float
    """Excess loss of problem (2)."""
    spread: float
    """Standard deviation of the clients' expected losses."""
    surrogate_excess: float
    """Excess loss of the surrogate problem (10) of identical weights."""
    weighted_spread: float
    """Standard deviation of the clients' expected losses, with the weights of problem (10)."""
    fast_loss: float
    """Average of the expected losses of the fast clients, whose time-based weight is below one."""


def compute_weightings(split: Split, seed: int) -> Iterator[WeightingOnSplit]:
    """Yield both weightings on one split of the digits."""
    result = compute_figure_2(split, seed=seed)
    for weighting, curve in (("Identical", result.identical), ("Time-based", result.time_based)):
        yield WeightingOnSplit(
            split,
            seed,
            weighting,
            curve.step_size,
            curve.final_loss - result.minimum,
            average_last(curve.compute_spread(result.importance)),
            average_last(curve.compute_weighted_loss(result.shares)) - result.surrogate_minimum,
            average_last(curve.compute_spread(result.shares)),
            _average_fast_loss(result, curve),
        )


def _average_fast_loss(result: WeightsCompared, curve: Curve) -> float:
    """Return the average final loss of the fast clients, which participate more often than the average client."""
    is_fast = result.shares > result.importance
    return average_last(curve.client_losses[:, is_fast].mean(axis=1))
