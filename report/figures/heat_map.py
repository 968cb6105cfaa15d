"""Draw numbers on a grid, as colours and digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def draw_heat_map(canvas: Canvas, axes: Axes, cells: Array, label: str, size: int) -> None:
    """Draw non-negative numbers, (up, across), with digits of the given size; NaN stays empty."""
    image = axes.imshow(cells, cmap="cividis", aspect="auto", vmin=0, origin="lower")
    for (up, across), value in np.ndenumerate(cells):
        if not np.isnan(value):
            colour = "k" if value > 0.6 * np.nanmax(cells) else "w"
            axes.text(across, up, _format_digits(value), ha="center", va="center", fontsize=size, color=colour)
    axes.grid(visible=False)
    canvas.colorbar(image, label=label)


def _format_digits(value: float) -> str:
    """Format a number with two digits, or as smaller than 0.001, since cells are narrow."""
    return f"{value:.2g}" if value >= 0.001 else "<.001"
