"""Draw the tightness of a bound along one setting of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from report.figures.style import BLACK, BLUE, Figure, finish, open_canvas


def draw_ratio(name: str, ratios: Mapping[float, float], planned: float, setting: str, words: str) -> Figure:
    """Draw ratios of exact left side to bound over the value of a setting, log-log, with the planned value marked."""
    with open_canvas() as (canvas, axes):
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
"""Fraction of a logarithmic axis that the number below a tick needs."""


def _select_spaced(values: Sequence[float], first: float) -> list[float]:
    """Return values whose tick labels do not overlap, beginning with `first`."""
    least = _ROOM * math.log(values[-1] / values[0])
    kept: list[float] = []
    for value in sorted(values, key=lambda value: value != first):
        if all(abs(math.log(value / other)) >= least for other in kept):
            kept.append(value)
    return kept
