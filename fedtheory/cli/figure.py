"""Writes figures and pages next to the printed numbers."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from fedtheory.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def require_figure(file: str | None) -> None:
    """Raise an error before anything is computed if figures cannot be drawn, or not in the format of the file name."""
    if file is None:
        return
    if not importlib.util.find_spec("matplotlib"):
        raise MissingExtra("report", "drawing figures")
    from report.pictures import check_suffix

    check_suffix(file)


def require_pages() -> None:
    """Raise an error if the libraries that draw pages are not installed."""
    if not all(
        importlib.util.find_spec(module) for module in ("fast_sugiyama", "jinja2", "latex2mathml", "matplotlib")
    ):
        raise MissingExtra("report", "writing the report")


def write_figure(file: str | None, draw: Callable[[], Figure]) -> None:
    """Draw a figure into a file, if one is requested, and report it on standard error."""
    if file is None:
        return
    from report.pictures import save_figure

    print(f"wrote {save_figure(draw(), file)}", file=sys.stderr)
