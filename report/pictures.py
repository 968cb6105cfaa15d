"""Pictures for papers and notebooks: a run's exact error, and a claim on a run, as figures of Matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import Array, plain_float, plain_floats
from fedtheory.engine.random_clocks import drawn_runs
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.language.claim import Claim
from report.curves import BoundCurve, curve_up_to
from report.figures.bounds import draw_left, draw_terms
from report.figures.rates import draw_ladder
from report.figures.style import BLUE, PAPER, drawing, legend_below
from verify.check import Check, check

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FORMATS = (".svg", ".png", ".pdf")
_DOTS_PER_INCH = 300


def error_figure(run: Run, *, schedules: int = 100, seed: int = 0) -> Canvas:
    """E F(theta^n) - F* over the rounds of a run, or over clock time where the server does not wait for everybody.

    A random clock is averaged over so many sampled `schedules`, with an
    interval of 99 %; all else is exact.  A run that diverges is drawn as far
    as it goes.
    """
    with drawing(PAPER) as (canvas, axes):
        if run.algorithm.clock.is_random:
            _draw_sampled(axes, run, schedules, seed)
        else:
            _draw_exact(axes, run)
        axes.set_ylabel(r"$\mathbb{E}F(\theta^n)-F^*$")
        return canvas


def _draw_exact(axes: Axes, run: Run) -> None:
    errors = plain_floats(run.attempted_trajectory.server_suboptimality)
    if run.algorithm.clock.is_synchronous:
        axes.set_xlabel("number of server updates")
        axes.plot(np.arange(len(errors)), errors, color=BLUE)
    else:
        axes.set_xlabel("clock time $t$")
        times = [0.0, *(plain_float(time) for time in run.algorithm.times(run.problem.weights))]
        axes.plot(times[: len(errors)], errors, color=BLUE, drawstyle="steps-post")
    _logarithmic(axes, errors)


def _draw_sampled(axes: Axes, run: Run, schedules: int, seed: int) -> None:
    found = drawn_runs(run, schedules, seed)
    times, error = np.concatenate([[0.0], np.asarray(found.times.mean)]), found.suboptimality
    axes.set_xlabel("mean clock time $t$ of the server update")
    axes.plot(times, error.mean, color=BLUE, label=f"mean over {schedules} schedules")
    axes.fill_between(times, error.low, error.high, color=BLUE, alpha=0.25, linewidth=0, label="interval of 99 %")
    _logarithmic(axes, np.asarray(error.low))
    axes.legend()


def _logarithmic(axes: Axes, values: Array) -> None:
    """A logarithmic axis, unless there is nothing that it can show."""
    if np.any(values > 0):
        axes.set_yscale("log", nonpositive="mask")


def bound_figure(claim: Claim, run: Run) -> Canvas:
    """Both sides of a claim and the terms of the right one, over the rounds of a run; of a rate its ladder.

    Raises `NotApplicable` where the claim does not apply to the run, or has
    nothing that curves could show.
    """
    found = check(claim, run)
    if not found.applicable:
        raise NotApplicable(f"{claim.id} does not apply: {found.reason}")
    with drawing(PAPER) as (canvas, axes):
        if found.rate is not None:
            draw_ladder(axes, claim, found.rate)
        else:
            _draw_sides(axes, _curve(found, run))
        legend_below(canvas, axes)
        return canvas


def _curve(found: Check, run: Run) -> BoundCurve:
    curve = None
    if found.worst is not None:
        curve = curve_up_to(found.claim, run.algorithm.rounds, run.with_rounds)
    if curve is None:
        raise NotApplicable(f"{found.claim.id} has no two sides that are positive on this run")
    return curve


def _draw_sides(axes: Axes, curve: BoundCurve) -> None:
    draw_terms(axes, curve)
    draw_left(axes, curve)
    axes.set_xlabel("number of server updates")
    axes.set_ylabel("both sides")


def picture_file(name: str) -> Path:
    """The path of a picture; `InputError` where its ending is not that of a format."""
    path = Path(name)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            "--figure", f"expected a file that ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {name}"
        )
    return path


def save_figure(canvas: Canvas, name: str) -> Path:
    """Write a figure as an SVG, PNG or PDF, by the ending of the name; the same bytes for the same data."""
    import logging

    import matplotlib as mpl

    path = picture_file(name)
    # Dates of Matplotlib's own fonts are nothing that a user can mend.
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    dates = {".svg": {"Date": None, "Creator": None}, ".pdf": {"CreationDate": None, "Creator": None, "Producer": None}}
    try:
        with mpl.rc_context(PAPER | {"svg.hashsalt": path.stem}):
            canvas.savefig(path, dpi=_DOTS_PER_INCH, metadata=dates.get(path.suffix.lower()))
    except OSError as error:
        raise InputError("--figure", f"cannot be written ({error.strerror})", name) from None
    return path
