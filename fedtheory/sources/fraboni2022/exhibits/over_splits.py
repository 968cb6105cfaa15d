"""The experiments of Section 5 on several splits: stored tables as charts and findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from fedtheory.language.exhibits import (
    BLUE,
    DASHED,
    ORANGE,
    SOLID,
    Axis,
    Band,
    Chart,
    Display,
    Finding,
    Line,
    Part,
)
from fedtheory.sources.fraboni2022.exhibits.chart_style import SCHEME_COLOURS
from fedtheory.sources.fraboni2022.experiments.digits import SPLITS, Split
from fedtheory.sources.fraboni2022.experiments.figure_4 import SCENARIOS
from fedtheory.sources.fraboni2022.experiments.findings import (
    compare_splits_of_figure_2,
    compare_splits_of_figure_3,
    compare_splits_of_figure_4,
    compare_splits_of_figures_5_to_7,
)
from fedtheory.sources.fraboni2022.experiments.over_splits.local_work import TunedLocalWork
from fedtheory.sources.fraboni2022.experiments.over_splits.schemes import BestScheme, repeat_for_hardware
from fedtheory.sources.fraboni2022.experiments.over_splits.search import FINE
from fedtheory.sources.fraboni2022.experiments.over_splits.stored import FEWER_SEEDS, SEEDS, read_records

_CLIENTS = 20
"""Number of clients of the runs in the charts of Figure 4."""


def show_figure_2() -> Display:
    """Return Figure 2 on several splits."""
    return _make_display([], compare_splits_of_figure_2(read_records("weightings")))


def show_figure_3() -> Display:
    """Return Figure 3 on several splits."""
    names = ("local-work", "tuned-local-work", "mitigations")
    works, tuned, changed = (read_records(name) for name in names)
    charts = [_draw_tuned_local_work(tuned, split) for split in SPLITS]
    return _make_display(charts, compare_splits_of_figure_3(works, tuned, changed))


def show_figure_4() -> Display:
    """Return Figure 4 on several splits."""
    records = list(repeat_for_hardware(read_records("schemes")))
    charts = [_draw_schemes(records, split, slower) for split, slower in product(SPLITS, SCENARIOS)]
    return _make_display(charts, compare_splits_of_figure_4(records), has_fifty_clients=True)


def show_figures_5_to_7() -> Display:
    """Return Figures 5 to 7 on several splits."""
    return _make_display([], compare_splits_of_figures_5_to_7(read_records("rises")))


def _make_display(charts: Sequence[Chart], findings: Sequence[Finding], *, has_fifty_clients: bool = False) -> Display:
    splits = f"{len(SEEDS)} splits of each kind" + (
        f", {len(FEWER_SEEDS)} with 50 clients" if has_fifty_clients else ""
    )
    return Display(charts, f"What reproduces, {splits} (stored results)", findings)


def _draw_tuned_local_work(records: Sequence[TunedLocalWork], split: Split) -> Chart:
    """Draw the excess loss over the number of local steps, each weighting at its best step size."""
    chosen = [each for each in records if each.split == split]
    steps = sorted({each.local_steps for each in chosen})

    def list_values(measure: str) -> list[list[float]]:
        return [[getattr(each, measure) for each in chosen if each.local_steps == number] for number in steps]

    parts = [
        *_draw_with_range(steps, list_values("identical_excess"), "Identical", BLUE),
        *_draw_with_range(steps, list_values("time_based_excess"), "Time-based", ORANGE),
    ]
    return Chart(
        name=f"tuned-local-steps-{split.lower()}",
        x=Axis("local steps $K$", "log", ticks=steps),
        y=Axis("excess loss at the best step size", "log"),
        parts=parts,
        caption=(
            f"Excess loss of problem (2) over the last 5% of the updates at the best step size of each weighting, "
            f"asynchronous FedAvg, F80, 10 clients, {split} splits: average over the splits, and their range."
        ),
    )


def _draw_schemes(records: Sequence[BestScheme], split: Split, slower: int) -> Chart:
    """Draw the excess loss over the time budget, each scheme at its best step size."""
    setting = (_CLIENTS, split, slower)
    chosen = [each for each in records if (each.clients, each.split, each.slower) == setting]
    times = sorted({each.time for each in chosen})
    parts: list[Part] = []
    for scheme, colour in SCHEME_COLOURS.items():
        for is_scaled in (False, True):
            runs = [each for each in chosen if each.scheme == scheme and (each.server_step_size > 1) == is_scaled]
            values = [[each.excess for each in runs if each.time == time] for time in times]
            if runs and not is_scaled:
                parts += _draw_with_range(times, values, scheme, colour)
            elif runs:
                label = rf"{scheme}, $\eta_g=M$"
                parts.append(Line(times, _average_each(values), label, colour, DASHED, marker="o", size=4, hollow=True))
    return Chart(
        name=f"best-step-sizes-{split.lower()}-f{slower}",
        x=Axis("time budget, in updates of the slowest client", "log", ticks=times),
        y=Axis("excess loss at the best step size", "log"),
        parts=parts,
        caption=(
            f"Excess loss of problem (2) over the last 5% of each time budget under F{slower} on the {split} splits, "
            f"{_CLIENTS} clients, each scheme at the step size that is best for the split and the budget: average "
            f"over the splits, and their range. Dashed: server step size $M$ instead of one. {_describe_search(chosen)}"
        ),
    )


def _describe_search(records: Sequence[BestScheme]) -> str:
    interior = sum(each.is_interior for each in records)
    return (
        f"Smaller and larger step sizes were tried beside {interior} of the {len(records)} best ones; neighbours have "
        f"the ratio $2^{{1/{FINE}}}$."
    )


def _draw_with_range(x: Sequence[float], values: Sequence[Sequence[float]], label: str, colour: int) -> Iterator[Part]:
    """Draw the average over the splits as a line, and the range from the smallest to the largest as a band."""
    yield Band(x, [min(each) for each in values], [max(each) for each in values], colour=colour, opacity=0.2)
    yield Line(x, _average_each(values), label, colour, SOLID, marker="o", size=4)


def _average_each(values: Sequence[Sequence[float]]) -> list[float]:
    return [sum(each) / len(each) for each in values]
