"""Draw the error over clock time for different policies of the server."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedtheory.arithmetic import plain_float
from fedtheory.engine.run import Run
from report.figures.style import Figure, choose_colour, choose_dash, finish, open_canvas


def draw_over_clock_time(name: str, runs: Mapping[str, Run], words: str) -> Figure:
    """Draw E F(theta^n) - F* of several runs over clock time; a model is used until the next one is computed."""
    with open_canvas() as (canvas, axes):
        for number, (label, run) in enumerate(runs.items()):
            times = [0.0, *(plain_float(time) for time in run.algorithm.times(run.problem.weights))]
            style = {"color": choose_colour(number), "linestyle": choose_dash(number)}
            errors = np.asarray(run.trajectory.server_suboptimality)
            axes.semilogy(times, errors, drawstyle="steps-post", label=label, **style)
        axes.set_xlabel("clock time $t$")
        axes.set_ylabel(r"$\mathbb{E}F(\theta^n)-F^*$")
        axes.legend()
    finals = "; ".join(f"{label}: {run.trajectory.server_suboptimality[-1]:.3g}" for label, run in runs.items())
    return finish(canvas, f"{name}-clock", f"Exact expected error over clock time. {words} Final errors: {finals}.")
