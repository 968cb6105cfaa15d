"""Style of figures: one size that is legible on a phone, and colours that colour-blind readers can distinguish."""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

# Messages of Matplotlib about its fonts, folders and axes are of no use to readers.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="matplotlib")

BLUE, ORANGE, GREEN, PURPLE, SKY, RED, BLACK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#000000",
)
"""Okabe and Ito's palette."""

CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED)
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))


def choose_colour(number: int) -> str:
    """Return the colour of a curve by index; colours repeat after the last one."""
    return CYCLE[number % len(CYCLE)]


def choose_dash(number: int) -> Any:
    """Return the dash pattern of a curve by index; it differs for each repetition of the colours."""
    return DASHES[(number + number // len(CYCLE)) % len(DASHES)]


PAGE: Any = {
    "figure.figsize": (4.8, 3.5),
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 3.5,
    "svg.fonttype": "path",
    "mathtext.fontset": "cm",
}
"""Settings for pages."""
PAPER: Any = PAGE | {
    "figure.figsize": (3.4, 2.5),
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "lines.linewidth": 1.3,
    "lines.markersize": 3,
    "pdf.fonttype": 42,
}
"""Settings for a column of a paper, 3.4 inches wide, with fonts that are fully embedded in a PDF."""


@dataclass(frozen=True)
class Figure:
    """A finished picture with its caption."""

    name: str
    caption: str
    """The caption, with formulas between dollar signs."""
    svg: str


@contextmanager
def open_canvas(settings: Any = PAGE) -> Iterator[tuple[Canvas, Axes]]:
    """Yield a canvas with one pair of axes in the project's style, for pages or for papers."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(settings):
        canvas = Canvas(layout="constrained")
        # Texts are measured in the final resolution; a figure without a canvas measures them for pixels.
        FigureCanvasSVG(canvas)
        yield canvas, canvas.subplots()


def add_legend_below(canvas: Canvas, axes: Axes) -> None:
    """Add a legend below the axes, in as many columns as fit; the canvas grows, the axes keep their height."""
    legend = None
    for columns in (3, 2, 1):
        if legend is not None:
            legend.remove()
        legend = canvas.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=columns)
        # The size of a legend does not depend on its position.
        box = legend.get_window_extent()
        if box.width <= canvas.bbox.width:
            break
    width, height = canvas.get_size_inches()
    canvas.set_size_inches(width, height + box.height / canvas.dpi)


_NARROW, _SOME = 1.9, 0.6
"""Numbers of powers of ten up to which a logarithmic axis has plain numbers, and up to which they are evenly spaced."""


def complete_axes(canvas: Canvas) -> None:
    """Mark curves of a single point, and draw numbers and ticks of logarithmic axes, whose limits are now known."""
    from report.figures.minor_ticks import draw_minor_ticks

    _mark_single_points(canvas)
    for axes in canvas.axes:
        _label_scales(axes)
        draw_minor_ticks(canvas, axes)


def _label_scales(axes: Axes) -> None:
    """Write numbers of logarithmic axes as plain text, which is drawn much faster than formulas.

    Axes with a small range have few numbers without powers of ten, since products with these would overlap.
    """
    import math

    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        if axis.get_scale() != "log" or not 0 < low < high or isinstance(axis.get_major_locator(), FixedLocator):
            continue
        span = math.log10(high) - math.log10(low)
        if span < _NARROW:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=7) if span > _SOME else MaxNLocator(4))
            axis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:.4g}"))
            axis.set_minor_formatter(NullFormatter())
        else:
            axis.set_major_formatter(FuncFormatter(lambda value, _place: format_power_of_ten(value)))


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_power_of_ten(value: float) -> str:
    """Return a power of ten with a superscript exponent; empty for a tick that floats round to 0 or infinity."""
    import math

    return "10" + str(round(math.log10(value))).translate(_SUPERSCRIPTS) if 0 < value < math.inf else ""


def finish(canvas: Canvas, name: str, caption: str) -> Figure:
    """Return the drawing as an inline SVG: the same bytes for the same data, without ids shared with other figures."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.StringIO()
    # Ticks around curves close to the limits of double precision lie beyond these.
    with np.errstate(over="ignore", under="ignore"):
        complete_axes(canvas)
        with mpl.rc_context(PAGE | {"svg.hashsalt": name}):
            # Saving through the canvas would draw twice, the first time only for the layout.
            printer: Any = FigureCanvasSVG(canvas)
            printer.print_svg(buffer, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    return Figure(name, caption, _adapt_to_page(svg[svg.index("<svg") :], name))


def _mark_single_points(canvas: Canvas) -> None:
    """Mark curves of a single point, as of a run of one round: a line between points would not be visible."""
    for axes in canvas.axes:
        for line in axes.get_lines():
            if line.get_marker() in _UNMARKED and np.isfinite(np.asarray(line.get_ydata(), dtype=float)).sum() == 1:
                line.set_marker("_")
                line.set_markersize(_SINGLE)


_UNMARKED = ("None", "none", "", " ", None)
_SINGLE = 14
"""Size of the mark of a single point, in points."""


def _adapt_to_page(svg: str, name: str) -> str:
    """Return an SVG that scales with its column, without metadata, and shares no id with another figure of the page."""
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    head, tag, rest = svg.partition(">")
    return re.sub(r' (width|height)="[^"]*"', "", head) + tag + rest
