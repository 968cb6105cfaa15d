"""The experiments of Section 5 on the pages of their figures: charts, and whether the published findings reproduce.

All results are exact expectations; each is computed once for all pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from fedtheory.language.exhibits import Chart, Display, Exhibit, Finding
from fedtheory.sources.fraboni2022.exhibits import over_splits
from fedtheory.sources.fraboni2022.exhibits.schemes import chart_4, chart_5_to_7
from fedtheory.sources.fraboni2022.exhibits.weightings import chart_3, charts_2
from fedtheory.sources.fraboni2022.experiments.digits import SPLITS
from fedtheory.sources.fraboni2022.experiments.figure_2 import WeightsCompared, figure_2
from fedtheory.sources.fraboni2022.experiments.figure_3 import LocalWorkCompared, figure_3
from fedtheory.sources.fraboni2022.experiments.figure_4 import SplitCompared, figure_4
from fedtheory.sources.fraboni2022.experiments.findings import findings_2, findings_3, findings_4, findings_5_to_7

TEN, TWENTY, FIFTY = "10 clients", "20 clients", "50 clients"
_FIFTY_HORIZON, _FIFTY_STEPS = 10, tuple(2.0**-power for power in range(11, -1, -2))
"""Time budget and step sizes of the search with 50 clients, reduced because the cost is quadratic in their number."""


@cache
def _compare_weights() -> tuple[WeightsCompared, ...]:
    return tuple(figure_2(split) for split in SPLITS)


@cache
def _compare_local_work() -> LocalWorkCompared:
    return figure_3(_compare_weights()[-1].step_size)


@cache
def _compare_twenty_clients() -> tuple[SplitCompared, ...]:
    return tuple(figure_4(split) for split in SPLITS)


@cache
def _compare_fifty_clients() -> tuple[SplitCompared, ...]:
    return (figure_4("Dirichlet", clients=50, horizon=_FIFTY_HORIZON, step_sizes=_FIFTY_STEPS),)


def _make_display(setting: str, charts: Sequence[Chart], findings: Sequence[Finding]) -> Display:
    return Display(charts, f"What reproduces, {setting}", findings)


def _show_figure_2() -> Display:
    return _make_display(TEN, charts_2(_compare_weights()), findings_2(*_compare_weights()))


def _show_figure_3() -> Display:
    return _make_display(TEN, [chart_3(_compare_local_work())], findings_3(_compare_local_work()))


def _show_figure_4(setting: str, results: Sequence[SplitCompared]) -> Display:
    charts = [chart_4(compared, setting) for result in results for compared in result.by_hardware]
    return _make_display(setting, charts, findings_4(results))


def _show_figures_5_to_7(setting: str, results: Sequence[SplitCompared]) -> Display:
    """Return the exhibit with heterogeneous hardware only, as published."""
    charts = [chart_5_to_7(result.by_hardware[-1], setting) for result in results]
    return _make_display(setting, charts, findings_5_to_7(results))


def _make_exhibit(figure: str, show: Callable[[], Display]) -> Exhibit:
    return Exhibit(lambda claim: claim.id == f"fraboni2022:{figure}", lambda _claim: show())


SECTION_5 = (
    _make_exhibit("fig-2", _show_figure_2),
    _make_exhibit("fig-2", over_splits.display_2),
    _make_exhibit("fig-3", _show_figure_3),
    _make_exhibit("fig-3", over_splits.display_3),
    _make_exhibit("fig-4", over_splits.display_4),
    _make_exhibit("fig-4", lambda: _show_figure_4(TWENTY, _compare_twenty_clients())),
    _make_exhibit("fig-4", lambda: _show_figure_4(FIFTY, _compare_fifty_clients())),
    _make_exhibit("fig-5-7", lambda: _show_figures_5_to_7(TWENTY, _compare_twenty_clients())),
    _make_exhibit("fig-5-7", lambda: _show_figures_5_to_7(FIFTY, _compare_fifty_clients())),
    _make_exhibit("fig-5-7", over_splits.display_5_to_7),
)
