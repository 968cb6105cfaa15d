"""Pictures for papers and notebooks: a run's exact error, and a claim on a run, as Matplotlib figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.language.claim import Claim
from report.curves import BoundCurve, compute_curve_up_to
from report.figures.bounds import draw_exact_error, draw_terms
from report.figures.errors import SCHEDULES, draw_error
from report.figures.rates import draw_ladder
from report.figures.style import PAPER, add_legend_below, complete_axes, open_canvas
from verify.check import Check, check

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FORMATS = (".svg", ".png", ".pdf")
_DOTS_PER_INCH = 300


def error_figure(run: Run, *, schedules: int = SCHEDULES, seed: int = 0) -> Canvas:
    """Draw E F(theta^n) - F* over the rounds of a run, or over clock time if the server does not wait for all clients.

    A random clock is averaged over `schedules` sampled schedules, with an interval of 99 %; all other values are exact.
    A diverging run is drawn as far as floats reach.
    """
    with open_canvas(PAPER) as (canvas, axes):
        draw_error(axes, run, schedules, seed)
        complete_axes(canvas)
        return canvas


def bound_figure(claim: Claim, run: Run) -> Canvas:
    """Draw both sides of a claim and the terms of the right one over the rounds of a run; for a rate, its ladder.

    Raises `NotApplicable` if the claim does not apply to the run, or has no curves.
    """
    found = check(claim, run)
    if not found.applicable:
        raise NotApplicable(f"{claim.id} does not apply: {found.reason}")
    with open_canvas(PAPER) as (canvas, axes):
        if found.rate is not None:
            draw_ladder(axes, claim, found.rate)
        else:
            _draw_sides(axes, _require_curve(found, run))
        add_legend_below(canvas, axes)
        complete_axes(canvas)
        return canvas


def _require_curve(found: Check, run: Run) -> BoundCurve:
    curve = None
    if found.worst is not None:
        curve = compute_curve_up_to(found.claim, run.algorithm.rounds, run.with_rounds)
    if curve is None:
        raise NotApplicable(f"expected positive sides on this run, but one side of {found.claim.id} is not")
    return curve


def _draw_sides(axes: Axes, curve: BoundCurve) -> None:
    draw_terms(axes, curve)
    draw_exact_error(axes, curve)
    axes.set_xlabel("rounds (server updates)")
    axes.set_ylabel("both sides")


def check_suffix(name: str) -> Path:
    """Return the path of a picture; raises `InputError` if its suffix is not that of a supported format."""
    path = Path(name)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            "--figure", f"expected a file that ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {name}"
        )
    return path


def save_figure(canvas: Canvas, name: str) -> Path:
    """Write a figure as an SVG, PNG or PDF, by the suffix of the name; the same bytes for the same data."""
    import logging

    import matplotlib as mpl

    path = check_suffix(name)
    # Warnings about dates of Matplotlib's fonts are of no use to users.
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    dates = {".svg": {"Date": None, "Creator": None}, ".pdf": {"CreationDate": None, "Creator": None, "Producer": None}}
    try:
        with mpl.rc_context(PAPER | {"svg.hashsalt": path.stem}):
            canvas.savefig(path, dpi=_DOTS_PER_INCH, metadata=dates.get(path.suffix.lower()))
    except OSError as error:
        raise InputError("--figure", f"cannot be written ({error.strerror})", name) from None
    return path
