"""Numbers under axes do not overlap, for every range."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from report.figures.ratios import draw_ratio
from report.figures.style import finish, format_power_of_ten, open_canvas
from report.figures.sweep import SweepPoint, set_scales


def boxes(canvas: Any, axis: Any) -> list[tuple[float, float]]:
    """Return the ends of the visible numbers of an axis, in pixels."""
    canvas.draw_without_rendering()
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    shown = [tick.label1 for tick in ticks if tick.label1.get_text() and low <= tick.get_loc() <= high]
    return sorted(label.get_window_extent().intervalx.tolist() for label in shown)


@pytest.mark.parametrize("high", [1.05, 1.7, 3, 5, 9, 20, 31, 40, 1e3, 1e6])
@pytest.mark.parametrize("low", [1, 0.15, 0.0013])
def test_logarithmic_axes_are_legible(low: float, high: float) -> None:
    """A logarithmic axis has at least two numbers, with room between them."""
    with open_canvas() as (canvas, axes):
        axes.loglog(np.geomspace(low, high * low, 5), np.arange(1, 6))
        finish(canvas, "axis", "")
        found = boxes(canvas, axes.xaxis)
    assert len(found) >= 2
    assert all(left[1] < right[0] for left, right in pairwise(found))


@pytest.mark.parametrize(("value", "text"), [(1e-12, "10⁻¹²"), (1.0, "10⁰"), (1e3, "10³"), (9.999999999e4, "10⁵")])
def test_powers_of_ten(value: float, text: str) -> None:
    """Exponents are superscripts, also for values that are powers up to rounding."""
    assert format_power_of_ten(value) == text


def test_a_curve_that_diverges_is_drawn() -> None:
    """A tick beyond double precision, above a curve that nearly leaves it, has no number."""
    with np.errstate(over="ignore"), open_canvas() as (canvas, axes):
        axes.semilogy([0, 1], [1.0, 1e290])
        finish(canvas, "diverging", "")
        assert len(boxes(canvas, axes.yaxis)) >= 2
    assert format_power_of_ten(np.inf) == ""


@pytest.mark.parametrize(("low", "high"), [(1e-320, 1.0), (5e-324, 1e308), (1e-320, 1e290)])
def test_a_curve_that_nearly_vanishes_is_drawn(low: float, high: float) -> None:
    """A tick that double precision rounds to zero, below a curve of denormal numbers, has no number."""
    with np.errstate(all="ignore"), open_canvas() as (canvas, axes):
        axes.semilogy([0, 1], [low, high])
        finish(canvas, "vanishing", "")
        assert len(boxes(canvas, axes.yaxis)) >= 2
    assert format_power_of_ten(0.0) == ""


@pytest.mark.parametrize("planned", [1.0, 5.0, 24.0])
def test_ticks_at_values_are_apart(planned: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planned value has a number; of close values only one has."""
    drawn: list[Any] = []
    monkeypatch.setattr("report.figures.ratios.finish", lambda canvas, *_: drawn.append(canvas))
    draw_ratio("name", dict.fromkeys((1.0, 2.0, 4.0, 5.0, 8.0, 10.0, 24.0), 0.5), planned, "steps", "")
    found = boxes(drawn[0], drawn[0].axes[0].xaxis)
    assert all(left[1] < right[0] for left, right in pairwise(found))
    assert planned in drawn[0].axes[0].get_xticks()


def test_counts_have_whole_numbers() -> None:
    """Axes of local steps have integer numbers."""
    points = [SweepPoint(float(steps), 0.5, "holds") for steps in (1, 2, 3, 4)]
    with open_canvas() as (canvas, axes):
        set_scales(axes, points, points, [])
        axes.plot([point.place for point in points], [1, 2, 3, 4])
        canvas.draw_without_rendering()
        assert all(tick == int(tick) for tick in axes.get_xticks())


def test_a_diverging_curve_is_drawn_without_warnings() -> None:
    """Ticks beyond double precision cause no warnings."""
    with open_canvas() as (canvas, axes):
        axes.semilogy([0, 1, 2], [1.0, 1e150, 1e300])
        assert "<svg" in finish(canvas, "overflowing", "").svg
