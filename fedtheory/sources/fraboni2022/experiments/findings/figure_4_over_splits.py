"""Findings on Figures 4 to 7: the schemes on several splits, with a fine search for each step size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from fedtheory.language.exhibits import Finding
from fedtheory.sources.fraboni2022.experiments.digits import SPLITS
from fedtheory.sources.fraboni2022.experiments.over_splits.rises import Rises
from fedtheory.sources.fraboni2022.experiments.over_splits.schemes import BestScheme

_SHOWN = 6
"""Number of largest stable step sizes in the evidence."""

Setting = tuple[int, str, int]
"""Number of clients, kind of split, X of the hardware FX."""
Excess = dict[tuple[str, int, int], float]
"""Excess losses by scheme, time budget and seed."""


def compare_splits_of_figure_4(records: Sequence[BestScheme]) -> tuple[Finding, ...]:
    """Return the findings on Figure 4, on several splits of each kind."""
    found = group_by_setting(records, is_scaled=False)
    alike = {setting: excess for setting, excess in found.items() if setting[-1] == 0}
    unlike = {setting: excess for setting, excess in found.items() if setting[-1] > 0}
    fedfix, synchronous, asynchronous = "FedFix-0.5", "synchronous", "asynchronous"
    return (
        _check_order(
            "FedFix-0.5 outperforms asynchronous FedAvg in all scenarios",
            found,
            (fedfix, asynchronous),
            cause=_compare_server_step_sizes(records),
        ),
        _check_order("FedFix-0.5 outperforms synchronous FedAvg in all scenarios", found, (fedfix, synchronous)),
        _check_order(
            "synchronous FedAvg always outperforms asynchronous FedAvg when all clients are alike (F0)",
            alike,
            (synchronous, asynchronous),
        ),
        _check_order(
            "even with heterogeneous hardware (F80) synchronous FedAvg can outperform asynchronous FedAvg",
            unlike,
            (synchronous, asynchronous),
            always=False,
        ),
    )


def group_by_setting(records: Iterable[BestScheme], *, is_scaled: bool) -> dict[Setting, Excess]:
    """Return excess losses by setting, with server step size one, or the number of clients if `is_scaled`.

    Asynchronous FedAvg has the server step size one in both.
    """
    found: dict[Setting, Excess] = {}
    for each in records:
        if (each.server_step_size > 1) == is_scaled or each.scheme == "asynchronous":
            setting = each.clients, each.split, each.slower
            found.setdefault(setting, {})[each.scheme, each.time, each.seed] = each.excess
    return found


def _check_order(
    statement: str, found: dict[Setting, Excess], schemes: tuple[str, str], *, always: bool = True, cause: str = ""
) -> Finding:
    """Test whether the first scheme has the lower loss at its best step size, in all cases or in one."""
    outcomes, texts = [], []
    for clients in sorted({setting[0] for setting in found}):
        chosen = {setting: excess for setting, excess in found.items() if setting[0] == clients}
        outcomes += [outcome for excess in chosen.values() for outcome in _compare_losses(excess, *schemes)]
        counts = "; ".join(
            f"{split}, F{slower}: {_count_splits(each, *schemes)}" for (_, split, slower), each in chosen.items()
        )
        texts.append(f"{clients} clients, $t={_list_times(chosen.values())}$: {counts}")
    holds = all(outcomes) if always else any(outcomes)
    evidence = (
        f"{schemes[0]} has the lower final loss in {sum(outcomes)} of {len(outcomes)} comparisons. By time budget $t$, "
        f"with median ratios of its excess loss to the other: {'. '.join(texts)}."
    )
    return Finding(statement, holds, f"{evidence}{'' if holds else cause}")


def _compare_losses(excess: Excess, better: str, worse: str) -> list[bool]:
    """Return for each time budget and seed whether the first scheme has the lower loss."""
    return [value < excess[worse, time, seed] for (scheme, time, seed), value in excess.items() if scheme == better]


def _count_splits(excess: Excess, better: str, worse: str) -> str:
    """Count the splits for every time budget, with the median excess loss of the first scheme over the second."""
    ratios: dict[int, list[float]] = {}
    for scheme, time, seed in excess:
        if scheme == better:
            ratios.setdefault(time, []).append(excess[better, time, seed] / excess[worse, time, seed])
    times = sorted(ratios)
    counts = ", ".join(str(sum(ratio < 1 for ratio in ratios[time])) for time in times)
    medians = ", ".join(f"{median(ratios[time]):.2g}" for time in times)
    return f"{counts} of {len(ratios[times[0]])} splits (ratios {medians})"


def _list_times(found: Iterable[Excess]) -> str:
    """List the time budgets of all settings."""
    return ", ".join(str(time) for time in sorted({time for excess in found for _, time, _ in excess}))


def _compare_server_step_sizes(records: Sequence[BestScheme]) -> str:
    """Compare FedFix, with the better of two server step sizes, with asynchronous FedAvg."""
    one, scaled = (group_by_setting(records, is_scaled=is_scaled) for is_scaled in (False, True))
    texts = []
    for split in SPLITS:
        outcomes = [
            min(value, scaled[setting][key]) < excess["asynchronous", *key[1:]]
            for setting, excess in one.items()
            if setting[1] == split
            for key, value in excess.items()
            if key[0] == "FedFix-0.5"
        ]
        texts.append(f"{sum(outcomes)} of {len(outcomes)} comparisons on the {split} splits")
    return (
        " With $\\eta_g=1$ the asynchronous weights $d_i$ are of the size of one, the others of the size of $1/M$, and "
        f"the best asynchronous $\\eta_l$ is {_compare_step_sizes(records)}, so that local steps drift less. With the "
        "better of $\\eta_g=1$ and $\\eta_g=M$ for FedFix-0.5, and $\\eta_g=1$ for asynchronous FedAvg, FedFix-0.5 has "
        f"the lower loss in {' and '.join(texts)}."
    )


def _compare_step_sizes(records: Sequence[BestScheme]) -> str:
    """Return the median ratio of the best step sizes of FedFix and of asynchronous FedAvg, by number of clients."""
    sizes = {
        (each.clients, each.scheme, each.split, each.slower, each.time, each.seed): each.step_size
        for each in records
        if each.server_step_size == 1
    }
    texts = []
    for clients in sorted({each.clients for each in records}):
        ratios = [
            size / sizes[clients, "asynchronous", *key[2:]]
            for key, size in sizes.items()
            if key[:2] == (clients, "FedFix-0.5")
        ]
        texts.append(f"{median(ratios):.2g} times smaller for $M={clients}$")
    return " and ".join(texts)


def compare_splits_of_figures_5_to_7(records: Sequence[Rises]) -> tuple[Finding, ...]:
    """Test whether the loss of sampled runs of synchronous FedAvg rises more often at larger step sizes."""
    texts, holds = [], True
    for split in SPLITS:
        chosen = [each for each in records if each.split == split]
        average = {size: _average_rises(chosen, size) for size in sorted({each.step_size for each in chosen})}
        shares = list(average.values())
        holds = holds and shares[0] < shares[-1] and shares == sorted(shares)
        shown = [f"{100 * share:.2g}% at $\\eta_l={size:.2g}$" for size, share in list(average.items())[-_SHOWN:]]
        texts.append(f"{split}: {', '.join(shown)}")
    expected, rounds = sum(each.expected for each in records), sum(each.rounds for each in records)
    evidence = (
        f"Rounds after which the loss of a sampled run is larger than before: {'; '.join(texts)}. The expected loss, "
        f"which is exact, rises by more than a millionth after {expected} of {rounds} rounds at these and smaller "
        "step sizes."
    )
    statement = "even for synchronous FedAvg convergence is not monotone at large step sizes"
    return (Finding(statement, holds, evidence),)


def _average_rises(records: Sequence[Rises], step_size: float) -> float:
    """Return the average fraction of rises at a step size over the splits."""
    shares = [each.sampled for each in records if each.step_size == step_size]
    return sum(shares) / len(shares)
