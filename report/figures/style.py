"""Style of figures: one size that is legible on a phone, colours that colour-blind readers can distinguish."""

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

# What Matplotlib says of its fonts, its folders and its axes is nothing that a reader can mend.
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


def colour(number: int) -> str:
    """The colour of the curve of that number; after the last one they start again."""
    return CYCLE[number % len(CYCLE)]


def dash(number: int) -> Any:
    """Its dashes; when colours start again, each comes with other ones."""
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
"""For pages."""
PAPER: Any = PAGE | {
    "figure.figsize": (3.4, 2.5),
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "lines.linewidth": 1.3,
    "lines.markersize": 3,
    "pdf.fonttype": 42,
}
"""For a column of a paper, 3.4 inches wide, with fonts that a PDF embeds whole."""


@dataclass(frozen=True)
class Figure:
    """A finished picture and the words that go with it."""

    name: str
    caption: str
    """With formulas between dollar signs."""
    svg: str


@contextmanager
def drawing(settings: Any = PAGE) -> Iterator[tuple[Canvas, Axes]]:
    """A canvas with one pair of axes in the project's style, for pages or for papers."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    from report.figures.layout import SingleLayout

    with mpl.rc_context(settings):
        canvas = Canvas(layout=SingleLayout())
        # Texts are measured as they will be drawn; without a canvas of its own a figure measures them for pixels.
        FigureCanvasSVG(canvas)
        yield canvas, canvas.subplots()
        _draw_scales(canvas)


def add_legend_below(canvas: Canvas, axes: Axes) -> None:
    """A legend under the axes, in as many columns as fit; the canvas grows, the axes keep their height."""
    legend = None
    for columns in (3, 2, 1):
        if legend is not None:
            legend.remove()
        legend = canvas.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=columns)
        # Its size does not depend on where it is drawn.
        box = legend.get_window_extent()
        if box.width <= canvas.bbox.width:
            break
    width, height = canvas.get_size_inches()
    canvas.set_size_inches(width, height + box.height / canvas.dpi)


_NARROW, _SOME = 1.9, 0.6
"""Powers of ten up to which a logarithmic axis has plain numbers; and those up to which they are evenly spaced."""


def _draw_scales(canvas: Canvas) -> None:
    """The numbers and ticks of logarithmic axes, once it is known how far they go."""
    from report.figures.minor_ticks import draw_minor_ticks

    for axes in canvas.axes:
        _label_scales(axes)
        draw_minor_ticks(canvas, axes)


def _label_scales(axes: Axes) -> None:
    """Numbers of logarithmic axes as plain text, which is drawn much faster than formulas.

    Axes that span little have few numbers without powers of ten: products with these would overlap.
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
            axis.set_major_formatter(FuncFormatter(lambda value, _place: power_of_ten(value)))


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(value: float) -> str:
    """A power of ten with its exponent as a superscript; no text for a tick that floats round to 0 or infinity."""
    import math

    return "10" + str(round(math.log10(value))).translate(_SUPERSCRIPTS) if 0 < value < math.inf else ""


def finish(canvas: Canvas, name: str, caption: str) -> Figure:
    """The drawing as an inline SVG: the same bytes for the same data, no ids shared with other figures."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.StringIO()
    # Ticks about curves that nearly leave double precision lie beyond it.
    with np.errstate(over="ignore", under="ignore"):
        _draw_scales(canvas)
        with mpl.rc_context(PAGE | {"svg.hashsalt": name}):
            # Saving by way of the canvas would draw twice, the first time for the layout alone.
            printer: Any = FigureCanvasSVG(canvas)
            printer.print_svg(buffer, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    return Figure(name, caption, _for_a_page(svg[svg.index("<svg") :], name))


def _for_a_page(svg: str, name: str) -> str:
    """An SVG that scales with its column, without metadata, and shares no id with another figure of the page."""
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    head, tag, rest = svg.partition(">")
    return re.sub(r' (width|height)="[^"]*"', "", head) + tag + rest
