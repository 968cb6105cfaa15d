"""Draw the client drift over the local steps of a round, with its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import plain_float, plain_floats
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from report.figures.style import BLACK, BLUE, ORANGE, SKY, Figure, finish, open_canvas
from verify.check import check

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SUBJECT = (
    r"client drift $\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2$ over the local steps: every client in the "
    "first round (thin), their average, and the largest over all rounds and clients"
)


def _begin_caption(run: Run) -> str:
    """Return the start of the caption: what is drawn, and how it was computed."""
    return f"{run.errors_are.capitalize()} {_SUBJECT}"


def draw_inside_rounds(name: str, run: Run, words: str) -> Figure:
    """Draw the exact drift of every client for k = 0 .. tau in the first round, its average and its maximum."""
    with open_canvas() as (canvas, axes):
        _draw(axes, run)
        return finish(canvas, f"{name}-drift", f"{_begin_caption(run)}. {words}")


def draw_over_local_steps(name: str, claim: Claim, run: Run, setting: str) -> Figure:
    """Draw the exact drift of every client over a round, with the bound of a claim."""
    found = check(claim, run)
    if found.worst is None:
        raise ValueError(f"{claim.id}: {found.reason}")
    with open_canvas() as (canvas, axes):
        axes.axhline(plain_float(found.worst.rhs), color=BLACK, linestyle="--", label="bound")
        _draw(axes, run)
        ratio = plain_float(found.worst.ratio)
        words = f"{_begin_caption(run)}, against the bound. {setting} Largest ratio here: {ratio:.3g}."
        return finish(canvas, f"{name}-drift", words)


def _draw(axes: Axes, run: Run) -> None:
    from matplotlib.ticker import MaxNLocator

    drift = plain_floats(run.trajectory.drift)
    first, steps = drift[0], range(1, drift.shape[1])
    axes.plot(steps, first[1:], color=SKY, linewidth=0.9, alpha=0.8)
    axes.plot(steps, drift.max(axis=(0, 2))[1:], color=BLUE, marker="o", label=f"largest, {run.errors_are}")
    mean = first[1:] @ plain_floats(run.problem.weights)
    axes.plot(steps, mean, color=ORANGE, marker="s", label=f"client average, {run.errors_are}")
    if np.any(drift > 0):
        axes.set_yscale("log", nonpositive="mask")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("local step $k$")
    axes.set_ylabel(r"drift $\mathbb{E}\,|x_i^{(t,k)}-\bar{x}^{(t,k)}|^2$")
    axes.legend()
