"""Charts and findings of Section 5 for the pages of its figures: exact expectations, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from fedtheory.language.exhibits import Chart, Display, Exhibit, Finding
from fedtheory.sources.fraboni2022.exhibits import over_splits
from fedtheory.sources.fraboni2022.exhibits.schemes import draw_figure_4, draw_figures_5_to_7
from fedtheory.sources.fraboni2022.exhibits.weightings import draw_figure_2, draw_figure_3
from fedtheory.sources.fraboni2022.experiments.digits import SPLITS
from fedtheory.sources.fraboni2022.experiments.figure_2 import WeightsCompared, compute_figure_2
from fedtheory.sources.fraboni2022.experiments.figure_3 import LocalWorkCompared, compute_figure_3
from fedtheory.sources.fraboni2022.experiments.figure_4 import SplitCompared, compute_figure_4
from fedtheory.sources.fraboni2022.experiments.findings import (
    list_findings_2,
    list_findings_3,
    list_findings_4,
    list_findings_5_to_7,
)

TEN, TWENTY, FIFTY = "10 clients", "20 clients", "50 clients"
_FIFTY_HORIZON, _FIFTY_STEPS = 10, tuple(2.0**-power for power in range(11, -1, -2))
"""Time budget and step sizes with 50 clients, fewer than with 20: the cost is quadratic in the number of clients."""


@cache
def _compare_weights() -> tuple[WeightsCompared, ...]:
    return tuple(compute_figure_2(split) for split in SPLITS)


@cache
def _compare_local_work() -> LocalWorkCompared:
    return compute_figure_3(_compare_weights()[-1].step_size)


@cache
def _compare_twenty_clients() -> tuple[SplitCompared, ...]:
    return tuple(compute_figure_4(split) for split in SPLITS)


@cache
def _compare_fifty_clients() -> tuple[SplitCompared, ...]:
    return (compute_figure_4("Dirichlet", clients=50, horizon=_FIFTY_HORIZON, step_sizes=_FIFTY_STEPS),)


def _make_display(setting: str, charts: Sequence[Chart], findings: Sequence[Finding]) -> Display:
    return Display(charts, f"What reproduces, {setting}", findings)


def _show_figure_2() -> Display:
    return _make_display(TEN, draw_figure_2(_compare_weights()), list_findings_2(*_compare_weights()))


def _show_figure_3() -> Display:
    return _make_display(TEN, [draw_figure_3(_compare_local_work())], list_findings_3(_compare_local_work()))


def _show_figure_4(setting: str, results: Sequence[SplitCompared]) -> Display:
    charts = [draw_figure_4(compared, setting) for result in results for compared in result.by_hardware]
    return _make_display(setting, charts, list_findings_4(results))


def _show_figures_5_to_7(setting: str, results: Sequence[SplitCompared]) -> Display:
    """Return the charts and findings for heterogeneous hardware (F80) alone, as published."""
    charts = [draw_figures_5_to_7(result.by_hardware[-1], setting) for result in results]
    return _make_display(setting, charts, list_findings_5_to_7(results))


def _make_exhibit(figure: str, show: Callable[[], Display]) -> Exhibit:
    return Exhibit(lambda claim: claim.id == f"fraboni2022:{figure}", lambda _claim: show())


SECTION_5 = (
    _make_exhibit("fig-2", _show_figure_2),
    _make_exhibit("fig-2", over_splits.show_figure_2),
    _make_exhibit("fig-3", _show_figure_3),
    _make_exhibit("fig-3", over_splits.show_figure_3),
    _make_exhibit("fig-4", over_splits.show_figure_4),
    _make_exhibit("fig-4", lambda: _show_figure_4(TWENTY, _compare_twenty_clients())),
    _make_exhibit("fig-4", lambda: _show_figure_4(FIFTY, _compare_fifty_clients())),
    _make_exhibit("fig-5-7", lambda: _show_figures_5_to_7(TWENTY, _compare_twenty_clients())),
    _make_exhibit("fig-5-7", lambda: _show_figures_5_to_7(FIFTY, _compare_fifty_clients())),
    _make_exhibit("fig-5-7", over_splits.show_figures_5_to_7),
)
