"""Minor ticks of logarithmic axes are those of Matplotlib, drawn as the markers of one line."""

from __future__ import annotations

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas

from report.figures.style import complete_axes, finish, open_canvas


def _plain_places(values: list[float]) -> list[float]:
    canvas = Canvas()
    FigureCanvasSVG(canvas)
    axes = canvas.subplots()
    axes.semilogx(values, values)
    low, high = axes.get_xlim()
    return [place for place in axes.xaxis.get_minorticklocs() if low <= place <= high]


def test_ticks_are_those_of_matplotlib() -> None:
    values = [1.0, 10.0, 1000.0]
    with open_canvas() as (canvas, axes):
        axes.semilogx(values, values)
        complete_axes(canvas)
    (ticks,) = canvas.artists
    assert list(ticks.get_xdata()) == _plain_places(values)
    assert set(ticks.get_ydata()) == {0.0}
    assert len(axes.lines) == 1
    assert len(axes.xaxis.get_minorticklocs()) == 0


def test_ticks_are_drawn_once() -> None:
    """Ticks are drawn once, also if a figure is finished during drawing."""
    with open_canvas() as (canvas, axes):
        axes.loglog([1.0, 10.0, 1000.0], [1.0, 10.0, 1000.0])
        finish(canvas, "once", "")
    assert len(canvas.artists) == 2


def test_other_axes_have_none() -> None:
    with open_canvas() as (canvas, axes):
        axes.plot([1.0, 2.0], [1.0, 2.0])
        complete_axes(canvas)
    assert len(canvas.artists) == 0


def test_small_numbers_stay_where_they_are() -> None:
    """Minor ticks with numbers are left to Matplotlib."""
    with open_canvas() as (canvas, axes):
        axes.semilogx([1.0, 1000.0], [1.0, 2.0])
        axes.xaxis.set_minor_formatter(lambda value, _place: f"{value:g}")
        complete_axes(canvas)
    assert len(canvas.artists) == 0
    assert len(axes.xaxis.get_minorticklocs()) > 0
