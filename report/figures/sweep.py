"""Draw the ratio of a claim's sides over the keys of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import Array
from report.figures.heat_map import draw_heat_map
from report.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, Figure, finish, open_canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 400
_MOST_PLACES = 24
"""Number of different values of a key up to which each has its own largest ratio; otherwise values are binned."""
_WIDE = 20
"""Ratio of the largest to the smallest number above which an axis is logarithmic."""
_COLOURS = {"holds": BLUE, "undecided": ORANGE, "violated": RED}
_WITHOUT_SIDES = {"not applicable": "#8a939e", "diverging": ORANGE, "invalid": "#c9ced4", "failed": RED}


@dataclass(frozen=True)
class SweepPoint:
    """A run of a sweep, with its value of one key."""

    place: float
    """The key's value, or the index of its label."""
    ratio: float | None
    verdict: str


def draw_ratio(key: str, points: Sequence[SweepPoint], labels: Sequence[str], name: str) -> Figure:
    """Draw the ratios over a key: all of them, maximum and median at each value, and the runs without a ratio.

    `labels` name the positions 0, 1, ... of a key whose values are not numbers.
    """
    drawn = [point for point in points if point.ratio is not None and point.ratio > 0]
    with open_canvas() as (canvas, axes):
        set_scales(axes, drawn, points, labels)
        _draw_lines(axes, drawn)
        _draw_dots(axes, drawn)
        _draw_marks(axes, points)
        axes.axhline(1, color=BLACK, linewidth=1, linestyle="--")
        axes.set_xlabel(key)
        axes.set_ylabel("ratio of the two sides")
        axes.margins(y=0.12)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize=8)
    return finish(canvas, name, _write_caption(key, drawn, points, labels))


def set_scales(axes: Axes, drawn: Sequence[SweepPoint], points: Sequence[SweepPoint], labels: Sequence[str]) -> None:
    """Set logarithmic axes where numbers span more than one order of magnitude, and integer ticks for counts."""
    from matplotlib.ticker import MaxNLocator

    if _needs_log_axis([point.ratio or 0 for point in drawn]):
        axes.set_yscale("log")
    if labels:
        axes.set_xticks(range(len(labels)), labels)
        axes.set_xlim(-0.5, len(labels) - 0.5)
        return
    places = [point.place for point in points]
    if _is_geometric(places):
        axes.set_xscale("log")
    elif all(place == int(place) for place in places):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _needs_log_axis(values: Sequence[float]) -> bool:
    """Return whether positive values range over more than a linear axis shows."""
    return min(values) > 0 and max(values) > _WIDE * min(values)


def _is_geometric(places: Sequence[float]) -> bool:
    """Return whether values are spread over orders of magnitude; evenly spread values have their median near the
    middle.
    """
    return _needs_log_axis(places) and max(places) > 5 * median(places)


def _draw_lines(axes: Axes, drawn: Sequence[SweepPoint]) -> None:
    groups = _group(drawn, axes.get_xscale() == "log")
    largest = {place: max(ratios) for place, ratios in groups.items()}
    axes.plot(list(largest), list(largest.values()), color=BLACK, marker="o", markersize=3, label="largest")
    if max(map(len, groups.values())) > 2:
        middle = [median(ratios) for ratios in groups.values()]
        axes.plot(list(groups), middle, color=GREEN, linestyle="-.", label="median")


def _group(drawn: Sequence[SweepPoint], logarithmic: bool) -> dict[float, list[float]]:
    """Group the ratios by value, or into evenly spaced bins if there are many values."""
    places = np.array([point.place for point in drawn])
    if len(set(places.tolist())) > _MOST_PLACES:
        places = _choose_bins(np.log(places)) if logarithmic else _choose_bins(places)
        places = np.exp(places) if logarithmic else places
    groups: dict[float, list[float]] = {place: [] for place in sorted(set(places.tolist()))}
    for place, point in zip(places.tolist(), drawn, strict=True):
        assert point.ratio is not None
        groups[place].append(point.ratio)
    return groups


def _choose_bins(places: Array) -> Array:
    """Return the middle of each value's bin."""
    edges = np.linspace(places.min(), places.max(), _MOST_PLACES // 2 + 1)
    bins = np.clip(np.digitize(places, edges) - 1, 0, len(edges) - 2)
    middles: Array = (edges[bins] + edges[bins + 1]) / 2
    return middles


def _draw_dots(axes: Axes, drawn: Sequence[SweepPoint]) -> None:
    """Draw every run, or every n-th if there are many; violations are always drawn."""
    stride = -(-len(drawn) // _MOST_POINTS)
    for verdict, colour in _COLOURS.items():
        own = [point for point in drawn if point.verdict == verdict]
        shown = own if verdict == "violated" and len(own) <= _MOST_POINTS else own[::stride]
        places, ratios = [point.place for point in shown], [point.ratio or 0 for point in shown]
        if shown:
            axes.plot(places, ratios, "o", color=colour, markersize=3, alpha=0.45, markeredgewidth=0, label=verdict)


def _draw_marks(axes: Axes, points: Sequence[SweepPoint]) -> None:
    """Draw ticks along the lower edge for runs without a ratio, with one height for each reason."""
    height = 0.03
    for verdict, colour in _WITHOUT_SIDES.items():
        places = sorted({point.place for point in points if point.verdict == verdict})
        if places:
            places = places[:: -(-len(places) // _MOST_POINTS)]
            transform = axes.get_xaxis_transform()
            marks = axes.plot(places, [height] * len(places), "|", color=colour, transform=transform, label=verdict)
            marks[0].set(markersize=7, markeredgewidth=1.6)
            height += 0.04


def _write_caption(key: str, drawn: Sequence[SweepPoint], points: Sequence[SweepPoint], labels: Sequence[str]) -> str:
    worst = max(drawn, key=lambda point: point.ratio or 0)
    place = labels[int(worst.place)] if labels else f"{worst.place:.4g}"
    without = len(points) - len(drawn)
    marks = "" if not without else f" {without} runs have no ratio to show; marks along the lower edge say why."
    return f"{len(drawn)} runs over {key}. The largest ratio, {worst.ratio:.4g}, is at {place}.{marks}"


def draw_ratio_map(
    keys: tuple[str, str],
    labels: tuple[Sequence[str], Sequence[str]],
    largest: Mapping[tuple[int, int], float],
    name: str,
) -> Figure:
    """Draw the largest ratio on the grid of two keys, (across, up); cells without a ratio stay empty."""
    cells = np.full((len(labels[1]), len(labels[0])), np.nan)
    for (across, up), ratio in largest.items():
        cells[up, across] = ratio
    with open_canvas() as (canvas, axes):
        draw_heat_map(canvas, axes, cells, label="largest ratio", size=7 if len(labels[0]) <= 8 else 5)
        axes.set_xticks(range(len(labels[0])), labels[0], rotation=45 if len(labels[0]) > 6 else 0, fontsize=8)
        axes.set_yticks(range(len(labels[1])), labels[1], fontsize=8)
        axes.set_xlabel(keys[0])
        axes.set_ylabel(keys[1])
    caption = f"The largest ratio for each value of {keys[0]} and {keys[1]}; empty where no run has one."
    return finish(canvas, name, caption)
