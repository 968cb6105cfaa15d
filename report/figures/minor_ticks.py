"""Draw the minor ticks of logarithmic axes as the markers of one line.

Matplotlib creates and measures three lines and two texts for each tick, which took two thirds of the time of a figure
over several powers of ten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas


def draw_minor_ticks(canvas: Canvas, axes: Axes) -> None:
    """Draw the minor ticks of axes with final limits, at positions without numbers."""
    from matplotlib.ticker import NullLocator

    for axis in (axes.xaxis, axes.yaxis):
        places = _choose_places(axis) if axis.get_scale() == "log" and axes.axison else []
        if places and not any(axis.get_minor_formatter().format_ticks(places)):
            _draw(canvas, axes, axis, places)
            axis.set_minor_locator(NullLocator())


def _choose_places(axis: Axis) -> list[float]:
    low, high = sorted(axis.get_view_interval())
    # For a diverging run an axis may end at the largest float, beyond which there is no number.
    with np.errstate(over="ignore"):
        places: list[float] = axis.get_minorticklocs().tolist()
    return [place for place in places if low <= place <= high]


def _draw(canvas: Canvas, axes: Axes, axis: Axis, places: list[float]) -> None:
    import matplotlib as mpl
    from matplotlib.lines import Line2D
    from matplotlib.markers import TICKDOWN, TICKLEFT

    edge, is_x = [0.0] * len(places), axis is axes.xaxis
    style: Any = mpl.rcParams
    name, marker = ("xtick", TICKDOWN) if is_x else ("ytick", TICKLEFT)
    ticks = Line2D(
        *((places, edge) if is_x else (edge, places)),
        transform=axes.get_xaxis_transform("tick1") if is_x else axes.get_yaxis_transform("tick1"),
        linestyle="",
        marker=cast(Any, marker),
        markersize=style[f"{name}.minor.size"],
        markeredgewidth=style[f"{name}.minor.width"],
        color=style[f"{name}.color"],
        clip_on=False,
    )
    # The lines of the axes include those that it shows.
    canvas.add_artist(ticks)
