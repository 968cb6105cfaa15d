"""Findings on Figure 2, on several splits of each kind: identical against time-based weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from fedtheory.language.exhibits import Finding
from fedtheory.sources.fraboni2022.experiments.digits import SPLITS, Split
from fedtheory.sources.fraboni2022.experiments.findings.formatting import TWICE, format_mean_and_deviation
from fedtheory.sources.fraboni2022.experiments.over_splits.weightings import WeightingOnSplit


@dataclass(frozen=True)
class _Pair:
    """Both weightings on one split."""

    identical: WeightingOnSplit
    time_based: WeightingOnSplit

    def compute_difference(self, measure: str) -> float:
        """Return the field `measure` of Identical minus that of Time-based."""
        return float(getattr(self.identical, measure) - getattr(self.time_based, measure))


def compare_splits_of_figure_2(records: Sequence[WeightingOnSplit]) -> tuple[Finding, ...]:
    """Return the findings on Figure 2, on several splits of each kind."""
    pairs = {split: _pair_weightings(records, split) for split in SPLITS}
    return (
        _check_smaller("Time-based reaches a lower loss of problem (2) than Identical", pairs, "excess"),
        _check_smaller("the losses of the clients differ less with Time-based than with Identical", pairs, "spread"),
        *_check_ratio("the gap in the loss", pairs, "excess"),
        *_check_ratio("the gap in the spread of the clients' losses", pairs, "spread"),
        _check_significance(pairs["IID"]),
        _check_surrogate(pairs),
        _check_smaller("Time-based leads to better losses on the fast clients", pairs, "fast_loss", _WHY_FAST_GAIN),
        _check_smaller("the weighted spread is always worse for Identical", pairs, "weighted_spread"),
    )


_WHY_FAST_GAIN = " Identical minimises problem (10), in which the fast clients have the larger weights."


def _pair_weightings(records: Sequence[WeightingOnSplit], split: Split) -> list[_Pair]:
    found = {(each.seed, each.weighting): each for each in records if each.split == split}
    seeds = sorted({seed for seed, _ in found})
    return [_Pair(found[seed, "Identical"], found[seed, "Time-based"]) for seed in seeds]


def _check_smaller(statement: str, pairs: dict[Split, list[_Pair]], measure: str, cause: str = "") -> Finding:
    """Test whether a number is smaller with time-based weights on every split; `cause` explains why not."""
    holds = all(pair.compute_difference(measure) > 0 for each in pairs.values() for pair in each)
    return Finding(statement, holds, f"{_count_splits(pairs, measure, 1)}.{'' if holds else cause}")


def _check_surrogate(pairs: dict[Split, list[_Pair]]) -> Finding:
    measure = "surrogate_excess"
    return Finding(
        "Identical is better than Time-based on the surrogate problem (10), but not for Shakespeare",
        all(pair.compute_difference(measure) < 0 for each in pairs.values() for pair in each),
        f"{_count_splits(pairs, measure, -1)}. The exception is not tested: it is attributed to the overfitting of a "
        "deep model, and least squares has none.",
    )


def _count_splits(pairs: dict[Split, list[_Pair]], measure: str, sign: int) -> str:
    """Count the splits on which Identical minus Time-based has the sign, with the averages of both."""
    texts = []
    for split, each in pairs.items():
        count = sum(sign * pair.compute_difference(measure) > 0 for pair in each)
        numbers = [
            format_mean_and_deviation([getattr(one, measure) for one in chosen])
            for chosen in ([pair.identical for pair in each], [pair.time_based for pair in each])
        ]
        texts.append(
            f"{split}: on {count} of {len(each)} splits; {numbers[0]} with Identical, {numbers[1]} with Time-based"
        )
    return "; ".join(texts)


def _check_ratio(subject: str, pairs: dict[Split, list[_Pair]], measure: str) -> tuple[Finding, Finding]:
    """Test whether a difference of the weightings is larger with label skew, and twice as large."""
    gaps = {split: [pair.compute_difference(measure) for pair in each] for split, each in pairs.items()}
    iid, dirichlet = (mean(gaps[split]) for split in ("IID", "Dirichlet"))
    evidence = (
        f"Identical minus Time-based: {format_mean_and_deviation(gaps['Dirichlet'])} on the Dirichlet splits, "
        f"{format_mean_and_deviation(gaps['IID'])} on the IID ones"
    )
    evidence += f", a ratio of {dirichlet / iid:.3g}." if iid > 0 else "."
    is_twice = iid > 0 and TWICE[0] <= dirichlet / iid <= TWICE[1]
    return (
        Finding(f"{subject} between the two weightings is larger with label skew", dirichlet > max(iid, 0), evidence),
        Finding(f"{subject} is twice as large with label skew", is_twice, evidence),
    )


def _check_significance(pairs: list[_Pair]) -> Finding:
    """Test whether the intervals of mean plus or minus deviation over the splits do not overlap."""
    identical, time_based = ([getattr(pair, name).excess for pair in pairs] for name in ("identical", "time_based"))
    distance, reach = abs(mean(identical) - mean(time_based)), stdev(identical) + stdev(time_based)
    evidence = (
        f"Excess loss {format_mean_and_deviation(identical)} with Identical and "
        f"{format_mean_and_deviation(time_based)} with Time-based: the means differ by {distance:.3g}, "
        f"the two deviations add up to {reach:.3g}."
    )
    return Finding("the two weightings are significantly different on IID data too", distance > reach, evidence)
