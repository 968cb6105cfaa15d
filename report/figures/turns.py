"""Clients that take turns: the two examples of fraboni2022, Section 3."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedtheory.engine.run import Run
from report.figures.style import BLACK, CYCLE, DASHES, Figure, drawing, finish


def distances(slug: str, runs: Mapping[str, Run]) -> Figure:
    """|theta^n - theta*| over n for several phi: the roots of r^2 - r + phi decide."""
    with drawing() as (canvas, axes):
        for number, (label, run) in enumerate(runs.items()):
            values = np.sqrt(run.trajectory.server_distance_sq)
            style = {"color": CYCLE[number % len(CYCLE)], "linestyle": DASHES[number % len(DASHES)]}
            axes.semilogy(np.maximum(values, 1e-12), label=rf"$\phi={label}$", **style)
        axes.set_xlabel("server updates $n$")
        axes.set_ylabel(r"$|\theta^n-\theta^*|$")
        axes.legend()
    caption = (
        "Two pairs of clients that report in turn, always on a model that is one update old. The errors solve "
        r"$e_{n+2}-e_{n+1}+\phi e_n=0$; the roots of $r^2-r+\phi$ are inside the unit circle exactly for $0<\phi<1$, "
        r"and on it for $\phi=1$, where the errors repeat after six updates."
    )
    return finish(canvas, f"{slug}-distances", caption)


def cycles(slug: str, runs: Mapping[str, Run], printed: float) -> Figure:
    """theta^n over n for several phi, with the printed limit: the iterates settle in a cycle of two points."""
    with drawing() as (canvas, axes):
        for number, (label, run) in enumerate(runs.items()):
            colour, dash = CYCLE[number % len(CYCLE)], DASHES[number % len(DASHES)]
            values = run.trajectory.server_mean[:, 0]
            axes.plot(values, dash, color=colour, marker="o", markersize=3, label=rf"$\phi={label}$")
        axes.axhline(printed, color=BLACK, linewidth=1, linestyle=":", label="printed limit")
        axes.set_xlabel("server updates $n$")
        axes.set_ylabel(r"$\theta^n$")
        axes.legend()
    ends = "; ".join(f"$\\phi={label}$: {_last_two(run)}" for label, run in runs.items())
    caption = (
        "Two clients that report in turn with weights $q_1=1/2$ and $q_2=1/4$, optima 0 and 1. At a fixed step size "
        "the models settle in a cycle of two points, which come to the printed limit as $\\phi$ goes to 0. "
        f"Last two models: {ends}."
    )
    return finish(canvas, f"{slug}-cycles", caption)


def _last_two(run: Run) -> str:
    return " and ".join(f"{value:.3g}" for value in run.trajectory.server_mean[-2:, 0])
