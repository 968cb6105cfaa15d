"""Draw the exact error of a run, over rounds or over clock time."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import Array, plain_float, plain_floats
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.random_clocks import average_over_schedules
from fedtheory.engine.run import Run
from report.figures.models import draw_band
from report.figures.style import BLUE, Figure, finish, open_canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ERROR = r"$\mathbb{E}F(\theta^n)-F^*$"
SCHEDULES = 100
"""Number of sampled schedules over which a random clock is averaged."""


def draw_exact_error(name: str, run: Run, words: str) -> Figure:
    """Draw E F(theta^n) - F* of a run."""
    with open_canvas() as (canvas, axes):
        draw_error(axes, run)
        return finish(canvas, f"{name}-error", words)


def draw_error(axes: Axes, run: Run, schedules: int = SCHEDULES, seed: int = 0) -> None:
    """Draw E F(theta^n) - F* over rounds, over clock time for servers that do not wait, or averaged over random
    clocks.
    """
    if run.algorithm.clock.is_random:
        _draw_sampled(axes, run, schedules, seed)
    else:
        _draw_exact(axes, run)
    axes.set_ylabel(_ERROR)


def draw_errors(run: Run, times: Array, errors: Array) -> Figure:
    """Draw given errors of a run, (T+1,), over its rounds, or over the (T+1,) times of its server updates."""
    shown = plain_floats(errors)
    name = f"errors-{hashlib.sha256(shown.tobytes()).hexdigest()[:12]}"
    with open_canvas() as (canvas, axes):
        _draw_errors(axes, run, plain_floats(times), shown)
        axes.set_ylabel(_ERROR)
        return finish(canvas, name, "")


def _draw_exact(axes: Axes, run: Run) -> None:
    if isinstance(run, LinearModelRun) and run.is_estimated:
        draw_band(axes, run.attempted_trajectory.interval("suboptimality"), BLUE, "average over replicas")
    errors = plain_floats(run.attempted_trajectory.server_suboptimality)
    times = [0.0, *(plain_float(time) for time in run.algorithm.times(run.problem.weights))]
    _draw_errors(axes, run, np.array(times[: len(errors)]), errors)


def _draw_errors(axes: Axes, run: Run, times: Array, errors: Array) -> None:
    """Draw the errors over the updates of a synchronous run, or over clock time."""
    if run.algorithm.clock.is_synchronous:
        axes.set_xlabel("rounds (server updates)")
        axes.plot(np.arange(len(errors)), errors, color=BLUE)
    else:
        mean = "mean " if run.algorithm.clock.is_random else ""
        axes.set_xlabel(f"{mean}clock time $t$")
        axes.plot(times, errors, color=BLUE, drawstyle="steps-post")
    _make_logarithmic(axes, errors)


def _draw_sampled(axes: Axes, run: Run, schedules: int, seed: int) -> None:
    found = average_over_schedules(run, schedules, seed)
    times, error = np.concatenate([[0.0], np.asarray(found.times.mean)]), found.suboptimality
    axes.set_xlabel("mean clock time $t$ of the server update")
    axes.plot(times, error.mean, color=BLUE, label=f"mean over {schedules} schedules")
    axes.fill_between(times, error.low, error.high, color=BLUE, alpha=0.25, linewidth=0, label="interval of 99 %")
    _make_logarithmic(axes, np.asarray(error.low))
    axes.legend()


def _make_logarithmic(axes: Axes, values: Array) -> None:
    """Make an axis logarithmic, unless it has no positive values."""
    if np.any(values > 0):
        axes.set_yscale("log", nonpositive="mask")
