"""Draw several bounds on one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from report.figures.style import Figure, add_legend_below, choose_colour, choose_dash, finish, open_canvas


@dataclass(frozen=True)
class ComparedBound:
    """A bound and its left side over rounds."""

    horizons: Sequence[int]
    left: Sequence[float]
    right: Sequence[float]


def draw_bounds(name: str, curves: Mapping[str, ComparedBound], words: str) -> Figure:
    """Draw bounds (dashed) and their exact left sides (dots) over rounds, log-log; one colour for each claim."""
    with open_canvas() as (canvas, axes):
        for number, (label, curve) in enumerate(curves.items()):
            axes.loglog(
                curve.horizons, curve.right, color=choose_colour(number), linestyle=choose_dash(number + 1), label=label
            )
            axes.loglog(
                curve.horizons, curve.left, color=choose_colour(number), linestyle="", marker="o", markersize=3.5
            )
        axes.set_xlabel("rounds (server updates)")
        axes.set_ylabel("bounds (lines), left sides (dots)")
        add_legend_below(canvas, axes)
        return finish(canvas, name, words)
