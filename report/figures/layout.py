"""Layout of one pair of axes: Matplotlib's constrained layout, with texts measured once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox, BboxBase, ScaledTranslation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas


class SingleLayout(ConstrainedLayoutEngine):
    """Layout with room for the numbers and names of one pair of axes and for legends below them.

    Matplotlib's own layout measures all numbers four times, and twice more when it draws.
    """

    @property
    def adjust_compatible(self) -> bool:
        """Return whether axes may be moved by `subplots_adjust`."""
        return True

    def execute(self, fig: Canvas) -> None:
        """Move the axes, and once more if their tick labels change."""
        if len(fig.axes) != 1 or fig.subfigs:
            super().execute(fig)
            return
        axes = fig.axes[0]
        numbers = _place_numbers(axes)
        self._fit(fig, axes)
        if numbers != _place_numbers(axes):
            self._fit(fig, axes)

    def _fit(self, canvas: Canvas, axes: Axes) -> None:
        inner, outer = axes.get_window_extent(), _measure_outer(canvas, axes)
        pads = self.get()
        width, height = canvas.bbox.width, canvas.bbox.height
        across, up = pads["w_pad"] * canvas.dpi, pads["h_pad"] * canvas.dpi
        below = sum(legend.get_window_extent().height + 2 * up for legend in canvas.legends)
        canvas.subplots_adjust(
            left=(across + inner.x0 - outer.x0) / width,
            right=1 - (across + outer.x1 - inner.x1) / width,
            bottom=(below + up + inner.y0 - outer.y0) / height,
            top=1 - (up + outer.y1 - inner.y1) / height,
        )


def _place_numbers(axes: Axes) -> list[list[float]]:
    """Return the positions of the tick labels, which depend on the room for them."""
    axes.apply_aspect()
    return [list(axis.get_majorticklocs()) for axis in (axes.xaxis, axes.yaxis)]


def _measure_outer(canvas: Canvas, axes: Axes) -> Bbox:
    """Return the box of the axes with their labels; a label may be longer than its side."""
    boxes = []
    drawn = [axis for axis in (axes.xaxis, axes.yaxis) if axes.axison and axis.get_visible()]
    for axis in drawn:
        boxes += _place_name(canvas, axes, axis)
        axis.set_in_layout(False)
    if (rest := axes.get_tightbbox(for_layout_only=True)) is not None:
        boxes.append(rest)
    for axis in drawn:
        axis.set_in_layout(True)
    return Bbox.union(boxes)


def _place_name(canvas: Canvas, axes: Axes, axis: Axis) -> list[BboxBase]:
    """Return the boxes of an axis after its name was placed next to its numbers.

    The position is a distance from the axes, and remains correct when they move.
    """
    inner, offset = axes.get_window_extent(), axis.get_offset_text()
    # Matplotlib does not search a position for a placed name, which would measure all numbers again.
    axis.set_label_coords(0, 0)
    axis.label.set_visible(False)
    offset.set_visible(False)
    boxes = [inner, *_measure_tick_labels(axis)]
    numbers = Bbox.union(boxes)
    offset.set_visible(True)
    if axis.get_major_formatter().get_offset():
        boxes += _measure_tick_labels(axis)
    axis.label.set_visible(True)
    pad = axis.labelpad / _POINTS
    if axis is axes.xaxis:
        shift = ScaledTranslation(0, (numbers.y0 - inner.y0) / canvas.dpi - pad, canvas.dpi_scale_trans)
        axis.set_label_coords(0.5, 0, axes.transAxes + shift)
        name = axis.label.get_window_extent()
        return [*boxes, Bbox.from_extents(inner.x0, name.y0, inner.x1, name.y1)]
    shift = ScaledTranslation((numbers.x0 - inner.x0) / canvas.dpi - pad, 0, canvas.dpi_scale_trans)
    axis.set_label_coords(0, 0.5, axes.transAxes + shift)
    name = axis.label.get_window_extent()
    return [*boxes, Bbox.from_extents(name.x0, inner.y0, name.x1, inner.y1)]


_POINTS = 72
"""Number of points per inch."""


def _measure_tick_labels(axis: Axis) -> list[BboxBase]:
    """Return the box around the numbers of an axis, if it has any."""
    box = axis.get_tightbbox()
    return [] if box is None else [box]
