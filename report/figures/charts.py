"""Draw a chart part by part in the style of all figures."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from fedtheory.language.exhibits import BLACK as REFERENCE
from fedtheory.language.exhibits import Axis, Band, Chart, Level, Line, Mark, Part, Span
from report.figures.style import BLACK, Figure, add_legend_below, choose_colour, choose_dash, finish, open_canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR, _BAR_OPACITY = 4, 0.45
_NOTE_OFFSET, _NOTE_SIZE = (6, 5), 9
_FEW = 6
"""Number of labels that leave room for the curves next to them."""


def draw_chart(chart: Chart, name: str) -> Figure:
    """Return the picture of a chart under its own name on the page."""
    with open_canvas() as (canvas, axes):
        # Scales come first, because axis limits depend on the parts, differently for logarithmic axes.
        axes.set(xscale=chart.x.scale, yscale=chart.y.scale)
        for part in chart.parts:
            _draw(part, axes)
        # A level within the margin of earlier parts would not get a margin.
        axes.autoscale_view()
        for which, axis in (("x", chart.x), ("y", chart.y)):
            _finish_axis(axes, which, axis)
        labels = axes.get_legend_handles_labels()[1]
        if 0 < len(labels) <= _FEW:
            axes.legend(loc=chart.legend.place, fontsize=chart.legend.size)
        elif labels:
            add_legend_below(canvas, axes)
        if chart.equal_units:
            axes.set_aspect("equal", adjustable="datalim")
    return finish(canvas, name, chart.caption)


def _finish_axis(axes: Axes, which: str, axis: Axis) -> None:
    keys: dict[str, Any] = {f"{which}label": axis.label}
    if axis.low is not None or axis.high is not None:
        keys[f"{which}lim"] = (axis.low, axis.high)
    axes.set(**keys)
    if axis.ticks:
        drawn = axes.xaxis if which == "x" else axes.yaxis
        drawn.set_ticks(axis.ticks, [f"{tick:g}" for tick in axis.ticks])
        drawn.set_ticks([], minor=True)


@singledispatch
def _draw(part: Part, _axes: Axes) -> None:
    raise TypeError(f"expected a part of a chart, got {type(part).__name__}")


@_draw.register(Line)
def _draw_line(part: Line, axes: Axes) -> None:
    axes.plot(
        part.x,
        part.y,
        label=part.label,
        color=_choose_colour(part.colour),
        linestyle="none" if part.dash is None else choose_dash(part.dash),
        linewidth=part.width,
        marker=part.marker,
        markersize=part.size,
        markerfacecolor="w" if part.hollow else None,
        drawstyle="steps-post" if part.steps else "default",
    )


@_draw.register(Band)
def _draw_band(part: Band, axes: Axes) -> None:
    style: Any = {"color": _choose_colour(part.colour), "alpha": part.opacity, "linewidth": 0}
    axes.fill_between(part.x, part.low, part.high, label=part.label, **style)


@_draw.register(Level)
def _draw_level(part: Level, axes: Axes) -> None:
    style: Any = {"color": _choose_colour(part.colour), "linestyle": choose_dash(part.dash), "linewidth": part.width}
    axes.axhline(part.value, label=part.label, **style)


@_draw.register(Span)
def _draw_span(part: Span, axes: Axes) -> None:
    style: Any = {"linewidth": _BAR, "alpha": _BAR_OPACITY, "solid_capstyle": "butt"}
    axes.plot((part.first, part.last), (part.value, part.value), color=_choose_colour(part.colour), **style)


@_draw.register(Mark)
def _draw_mark(part: Mark, axes: Axes) -> None:
    style: Any = {"linestyle": "none", "marker": part.marker, "markersize": part.size}
    axes.plot(part.x, part.y, color=_choose_colour(part.colour), label=part.label, **style)
    if part.note:
        place: Any = {"textcoords": "offset points", "xytext": _NOTE_OFFSET, "fontsize": _NOTE_SIZE}
        axes.annotate(part.note, (part.x, part.y), **place)


def _choose_colour(index: int) -> str:
    return BLACK if index == REFERENCE else choose_colour(index)
