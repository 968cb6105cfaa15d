"""How tight a bound is along one setting of a run."""

from __future__ import annotations

from collections.abc import Mapping

from report.figures.style import BLACK, BLUE, Figure, drawing, finish


def ratio_over(name: str, ratios: Mapping[float, float], planned: float, setting: str, words: str) -> Figure:
    """Ratios of exact left side to bound by the value of a setting, log-log, the planned value marked."""
    with drawing() as (canvas, axes):
        axes.loglog(list(ratios), list(ratios.values()), color=BLUE, marker="o", markersize=4, label="exact / bound")
        axes.axvline(planned, color=BLACK, linestyle=":", linewidth=1.2, label="as planned")
        axes.axhline(1, color=BLACK, linestyle="--", linewidth=1.2, label="attained")
        axes.set_xticks(list(ratios), [f"{value:.3g}" for value in ratios])
        axes.minorticks_off()
        axes.set_xlabel(setting)
        axes.set_ylabel("exact left side / bound")
        axes.legend()
        return finish(canvas, name, words)
