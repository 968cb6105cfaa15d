"""Format numbers of runs for the sentences of findings."""

from collections.abc import Sequence
from statistics import mean, stdev

TWICE = (1.5, 3.0)
"""Ratios that count as "twice as large"."""


def format_number_or_divergence(value: float) -> str:
    """Return a number of a run with three digits, or "divergence" if it is infinite."""
    return "divergence" if value == float("inf") else f"{value:.3g}"


def format_mean_and_deviation(values: Sequence[float]) -> str:
    """Return average and standard deviation over several splits, or "divergence" if a value is infinite."""
    if float("inf") in values:
        return "divergence"
    return f"{mean(values):.3g} (deviation {stdev(values):.2g})"
