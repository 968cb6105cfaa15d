"""Findings on Figure 3, on several splits of each kind: the amount of local work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf, isnan
from statistics import mean

from fedtheory.language.exhibits import Finding
from fedtheory.sources.fraboni2022.experiments.digits import SPLITS, Split
from fedtheory.sources.fraboni2022.experiments.findings.formatting import format_mean_and_deviation
from fedtheory.sources.fraboni2022.experiments.over_splits.local_work import (
    CHANGES,
    LocalWorkOnSplit,
    Mitigation,
    TunedLocalWork,
)

_SIMILAR = 1.5
"""Largest ratio of two numbers that are "very similar"."""
_FIRST, _LAST = 8, 16
"""Numbers of local steps between which the paper finds Identical very similar."""
_DEVIATION_AFTER, _MEAN_AFTER = 8, 15
"""Numbers of local steps after which the paper finds Time-based behind Identical."""
_SMALLER_STEPS, _FEDFIX = CHANGES[1:4], CHANGES[4]
_BOTH = ("identical_excess", "identical_deviation")

Runs = Sequence[LocalWorkOnSplit]
"""Runs on one split by ascending number of local steps, or of several splits."""


def compare_splits_of_figure_3(
    works: Runs, tuned: Sequence[TunedLocalWork], changed: Sequence[Mitigation]
) -> tuple[Finding, ...]:
    """Return the findings on Figure 3, on several splits of each kind."""
    return (
        _check_similarity(works),
        *_check_overtaking(works),
        *_check_mitigation(changed),
        _check_heterogeneity(works, changed),
        _check_slow_moves(works),
        _check_tuned(tuned),
    )


def _group_by_split(works: Iterable[LocalWorkOnSplit]) -> Iterator[tuple[Split, list[Runs]]]:
    """Group the runs of every seed by kind of split, in ascending order of local steps."""
    listed = list(works)
    for split in SPLITS:
        seeds = sorted({each.seed for each in listed if each.split == split})
        yield split, [[each for each in listed if (each.split, each.seed) == (split, seed)] for seed in seeds]


def _find_divergence(runs: Runs, measure: str) -> float:
    """Return the smallest number of local steps at which the run diverges, so that `measure` is infinite."""
    return min((each.local_steps for each in runs if getattr(each, measure) == inf), default=inf)


def _check_similarity(works: Runs) -> Finding:
    """Test whether mean and deviation of the loss of Identical hardly grow between two numbers of local steps."""
    texts, holds = [], True
    for split, splits in _group_by_split(works):
        limits = [_find_divergence(runs, "identical_excess") for runs in splits]
        holds = holds and all(
            _compute_growth(runs, measure, _FIRST, _LAST) <= _SIMILAR for runs in splits for measure in _BOTH
        )
        averages, deviations = ([_compute_growth(runs, measure, 2, 4) for runs in splits] for measure in _BOTH)
        texts.append(
            f"{split}: Identical diverges from $K={_join(limits)}$; from $K=2$ to $K=4$ the mean grows by factors "
            f"of {min(averages):.3g} to {max(averages):.3g} and the deviation by {min(deviations):.3g} to "
            f"{max(deviations):.3g}"
        )
    statement = f"Identical has very similar mean and deviation from $K={_FIRST}$ to $K={_LAST}$"
    return Finding(statement, holds, f"Split by split, {'; '.join(texts)}.")


def _compute_growth(runs: Runs, measure: str, first: int, last: int) -> float:
    """Return the ratio of a number between two numbers of local steps; infinite if a run diverges."""
    found = {each.local_steps: float(getattr(each, measure)) for each in runs}
    numbers = found.get(first, inf), found.get(last, inf)
    return inf if inf in numbers else numbers[1] / numbers[0]


def _check_overtaking(works: Runs) -> tuple[Finding, Finding]:
    """Test the numbers of local steps after which Time-based has the higher deviation and the higher mean."""
    texts, ordered, as_published = [], True, True
    for split, splits in _group_by_split(works):
        deviation = [_find_last_lead(runs, "deviation") for runs in splits]
        average = [_find_last_lead(runs, "excess") for runs in splits]
        ordered = ordered and all(0 < first <= then for first, then in zip(deviation, average, strict=True))
        as_published = as_published and set(deviation) == {_DEVIATION_AFTER} and set(average) == {_MEAN_AFTER}
        limits = [_find_divergence(runs, "time_based_excess") for runs in splits]
        texts.append(
            f"{split}: higher deviation after $K={_join(deviation)}$, higher mean after $K={_join(average)}$, "
            f"divergence from $K={_join(limits)}$"
        )
    evidence = f"Time-based, split by split: {'; '.join(texts)}."
    return (
        Finding(
            "with more local work Time-based gets the higher deviation first, and then the higher mean",
            ordered,
            evidence,
        ),
        Finding(
            f"Time-based has the higher deviation after $K={_DEVIATION_AFTER}$, "
            f"and the higher mean after $K={_MEAN_AFTER}$",
            as_published,
            evidence,
        ),
    )


def _find_last_lead(runs: Runs, measure: str) -> int:
    """Return the largest number of local steps at which Time-based is at most Identical; zero if it never is."""
    leads = [
        each.local_steps
        for each in runs
        if getattr(each, f"time_based_{measure}") <= getattr(each, f"identical_{measure}") < inf
    ]
    return max(leads, default=0)


def _join(numbers: Sequence[float]) -> str:
    """List numbers, separated by commas."""
    return ", ".join(f"{number:g}" for number in numbers)


def _check_mitigation(changed: Sequence[Mitigation]) -> tuple[Finding, Finding]:
    """Test which changes of the run reduce the fluctuation of time-based weights."""
    counts = {change: _count_improvements(changed, change) for change in CHANGES[1:]}
    texts = {change: f"{change}: {better} of {total} runs" for change, (better, total) in counts.items()}
    evidence = (
        "Deviation of the expected loss over the last 5% of the updates, or divergence, against the run without the "
        "change. Smaller with "
    )
    return (
        Finding(
            "a smaller global step size, a smaller local step size and less local work mitigate the instability",
            all(better == total for better, total in (counts[change] for change in _SMALLER_STEPS)),
            f"{evidence}{'; '.join(texts[change] for change in _SMALLER_STEPS)}. "
            f"{_count_rescued(changed, _SMALLER_STEPS)}",
        ),
        Finding(
            "only these three mitigate it",
            counts[_FEDFIX][0] == 0,
            f"{evidence}{texts[_FEDFIX]}, at the same step sizes and local work. {_count_rescued(changed, [_FEDFIX])}",
        ),
    )


def _group_by_case(changed: Iterable[Mitigation]) -> dict[tuple[str, int, int], dict[str, Mitigation]]:
    """Return the runs with every change, by kind of split, seed and local steps."""
    cases: dict[tuple[str, int, int], dict[str, Mitigation]] = {}
    for each in changed:
        cases.setdefault((each.split, each.seed, each.local_steps), {})[each.change] = each
    return cases


def _count_improvements(changed: Iterable[Mitigation], change: str) -> tuple[int, int]:
    """Count the runs in which a change leaves a smaller deviation, and all runs."""
    cases = _group_by_case(changed).values()
    return sum(runs[change].deviation < runs["none"].deviation for runs in cases), len(cases)


def _count_rescued(changed: Iterable[Mitigation], changes: Sequence[str]) -> str:
    """Say how many diverging runs converge with each of some changes."""
    diverging = [runs for runs in _group_by_case(changed).values() if runs["none"].deviation == inf]
    rescued = [sum(runs[change].deviation < inf for runs in diverging) for change in changes]
    order = " (in this order)" if len(changes) > 1 else ""
    return f"Of the {len(diverging)} runs that diverge without a change, {_join(rescued)} converge with it{order}."


def _check_heterogeneity(works: Runs, changed: Sequence[Mitigation]) -> Finding:
    """Test whether the instability is absent on IID splits, where the clients' data are alike."""
    limits = {
        split: [_find_divergence(runs, "time_based_excess") for runs in splits]
        for split, splits in _group_by_split(works)
    }
    fewest = min(steps for _, _, steps in _group_by_case(changed))
    finite = {
        split: [
            runs["none"].deviation
            for (kind, _, steps), runs in _group_by_case(changed).items()
            if kind == split and steps == fewest and runs["none"].deviation < inf
        ]
        for split in SPLITS
    }
    evidence = (
        f"Time-based diverges from $K={_join(limits['IID'])}$ on the IID splits and from "
        f"$K={_join(limits['Dirichlet'])}$ on the Dirichlet ones, so that "
        f"stale models {'suffice to' if max(limits['IID']) < inf else 'alone do not'} cause it. "
        f"Where it converges with $K={fewest}$, the deviation is {mean(finite['IID']):.2g} on the IID splits and "
        f"{mean(finite['Dirichlet']):.2g} on the Dirichlet ones."
    )
    statement = "the instability is due to the heterogeneity of the clients' data"
    return Finding(statement, all(limit == inf for limit in limits["IID"]), evidence)


def _check_slow_moves(works: Runs) -> Finding:
    """Test whether each update of a slow client moves the model further with time-based weights."""
    texts, holds = [], True
    for split, splits in _group_by_split(works):
        known = [each for runs in splits for each in runs if not isnan(each.move_ratio)]
        holds = holds and all(each.larger_moves == 1 for each in known)
        share = mean(each.larger_moves for each in known)
        ratio = format_mean_and_deviation([each.move_ratio for each in known if each.local_steps == 1])
        texts.append(
            f"{split}: further at {100 * share:.3g}% of these updates, with $K=1$ at the end {ratio} times as far"
        )
    evidence = (
        "$(\\mathbb{E}|\\theta^{n+1}-\\theta^n|^2)^{1/2}$ at the updates of clients with $d_i>1$, over all $K$ with "
        f"which both converge: {'; '.join(texts)}. From one and the same model the update of Time-based is exactly "
        "$d_i$ times as long, but the two runs come to different models."
    )
    return Finding("whenever a slow client contributes, the model moves further with Time-based", holds, evidence)


def _check_tuned(tuned: Sequence[TunedLocalWork]) -> Finding:
    """Test whether Time-based has the lower loss where each weighting has its best step size."""
    texts = []
    for split in SPLITS:
        chosen = [each for each in tuned if each.split == split]
        ahead = sum(each.time_based_excess < each.identical_excess for each in chosen)
        ratios = [each.identical_excess / each.time_based_excess for each in chosen]
        texts.append(
            f"in {ahead} of {len(chosen)} cases on the {split} splits, where Identical has {min(ratios):.3g} to "
            f"{max(ratios):.3g} times its excess loss"
        )
    steps = _join(sorted({each.local_steps for each in tuned}))
    interior = sum(each.is_interior for each in tuned)
    evidence = (
        f"Excess loss with the best step size of each weighting, $K={steps}$: Time-based is better {'; '.join(texts)}. "
        f"Both best step sizes are inside the grid in {interior} of {len(tuned)} cases."
    )
    holds = all(each.time_based_excess < each.identical_excess for each in tuned)
    return Finding("with a grid search for $\\eta_l$ Time-based always has the lower loss", holds, evidence)
