"""Tightness of a bound along one setting of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from report.figures.style import BLACK, BLUE, Figure, drawing, finish


def draw_ratio(name: str, ratios: Mapping[float, float], planned: float, setting: str, words: str) -> Figure:
    """Ratios of exact left side to bound by the value of a setting, log-log, the planned value marked."""
    with drawing() as (canvas, axes):
        axes.loglog(
            list(ratios), list(ratios.values()), color=BLUE, marker="o", markersize=4, label="left side / bound"
        )
        axes.axvline(planned, color=BLACK, linestyle=":", linewidth=1.2, label="as planned")
        axes.axhline(1, color=BLACK, linestyle="--", linewidth=1.2, label="attained")
        axes.set_xticks(ticks := _select_spaced(sorted(ratios), planned), [f"{value:.3g}" for value in ticks])
        axes.minorticks_off()
        axes.set_xlabel(setting)
        axes.set_ylabel("left side / bound")
        axes.legend()
        return finish(canvas, name, words)


_ROOM = 0.11
"""Part of a logarithmic axis that the number below a tick needs."""


def _select_spaced(values: Sequence[float], first: float) -> list[float]:
    """Values whose numbers do not touch: the first one, and those that have room next to the ones before them."""
    least = _ROOM * math.log(values[-1] / values[0])
    kept: list[float] = []
    for value in sorted(values, key=lambda value: value != first):
        if all(abs(math.log(value / other)) >= least for other in kept):
            kept.append(value)
    return kept
