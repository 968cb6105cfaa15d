"""Layout of axes: all parts are on the canvas, without overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from report.figures.style import add_legend_below, finish, open_canvas


def plain(axes: Any) -> None:
    """Draw short numbers."""
    axes.plot([0, 1], [0, 1], label="line")


def powers(axes: Any) -> None:
    """Draw powers of ten on both axes."""
    axes.loglog([1, 1e3], [1e-7, 1e9], label=r"$\dfrac{a}{b}$")


def factors(axes: Any) -> None:
    """Draw numbers with a common factor, which is at the end of each axis."""
    axes.plot([0, 1e-9], [0, 3e-8], label="line")
    axes.ticklabel_format(scilimits=(0, 0))


def equal(axes: Any) -> None:
    """Draw equal units, where limits change with the shape of the axes."""
    axes.plot([0, 1], [0, 1000], label="line")
    axes.set_aspect("equal", adjustable="datalim")


def bare(axes: Any) -> None:
    """Draw a text outside of the area, without axes."""
    axes.set_axis_off()
    axes.text(1.02, 0.5, "text", transform=axes.transAxes)


DRAWN = (plain, powers, factors, equal, bare)


@pytest.mark.parametrize("draw", DRAWN)
@pytest.mark.parametrize("below", [False, True])
def test_figures_are_complete(draw: Callable[[Any], None], below: bool) -> None:
    """Numbers, names and texts are on the canvas; a legend below the axes is below their name."""
    with open_canvas() as (canvas, axes):
        draw(axes)
        axes.set(xlabel="across", ylabel="up")
        if below and axes.get_legend_handles_labels()[1]:
            add_legend_below(canvas, axes)
        finish(canvas, "layout", "")
        box = axes.get_tightbbox()
        assert box is not None
        assert canvas.bbox.x0 <= box.x0 < box.x1 <= canvas.bbox.x1
        assert canvas.bbox.y0 <= box.y0 < box.y1 <= canvas.bbox.y1
        assert all(legend.get_window_extent().y1 < box.y0 for legend in canvas.legends)


def numbers(axis: Any) -> list[Any]:
    """Return the boxes of the visible numbers."""
    low, high = sorted(axis.get_view_interval())
    shown = [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [label.get_window_extent() for label in shown]


@pytest.mark.parametrize("draw", DRAWN[:-1])
def test_names_stand_beside_the_numbers(draw: Callable[[Any], None]) -> None:
    """Names are below horizontal and left of vertical numbers, for every width."""
    with open_canvas() as (canvas, axes):
        draw(axes)
        axes.set(xlabel="across", ylabel="up")
        finish(canvas, "layout", "")
        lowest = min(box.y0 for box in numbers(axes.xaxis))
        leftmost = min(box.x0 for box in numbers(axes.yaxis))
        assert 0 < lowest - axes.xaxis.label.get_window_extent().y1 < 10
        assert 0 < leftmost - axes.yaxis.label.get_window_extent().x1 < 10


def test_drawing_again_changes_nothing() -> None:
    """A second drawing has the same layout."""

    with open_canvas() as (canvas, axes):
        powers(axes)
        axes.set(xlabel="across", ylabel="up")
        finish(canvas, "layout", "")
        first = axes.get_position().bounds
        finish(canvas, "layout", "")
        assert axes.get_position().bounds == pytest.approx(first, abs=1e-12)
