"""Where the mean of a run ends for smaller and smaller common steps, when clients take unequal numbers of them."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import FLOAT, plain_floats
from fedtheory.engine.moments.stationary import stationary_mean
from fedtheory.engine.run import Run
from fedtheory.engine.small_steps import small_step_limit
from fedtheory.language.claim import Claim
from report.figures.style import BLACK, BLUE, ORANGE, RED, Figure, drawing, finish

_DIVISIONS = tuple(2**power for power in range(7))


def limit_points(claim: Claim, run: Run, setting: str) -> Figure:
    """In the plane: the clients' minimisers, w^o, the minimiser of sum E_k J_k, and the limits of the mean."""
    optimum = plain_floats(run.problem.optimum)
    ladder = [run.with_step_factor(FLOAT.number(1 / division, "factor")) for division in _DIVISIONS]
    limits = np.stack([plain_floats(stationary_mean(at.trajectory.recursion)) for at in ladder]) + optimum
    weighted = plain_floats(small_step_limit(run)) + optimum
    with drawing() as (canvas, axes):
        for number, (at, steps) in enumerate(zip(run.problem.client_optima, run.algorithm.work.steps, strict=True)):
            axes.plot(*at, "^", color=ORANGE, markersize=7, label="agents' minimisers $w_k^o$" if not number else None)
            axes.annotate(f"$E_k={steps}$", at, textcoords="offset points", xytext=(6, 5), fontsize=9)
        axes.plot(*optimum, "*", color=BLACK, markersize=13, label=r"$w^o$, minimiser of $\sum_k J_k$")
        axes.plot(*weighted, "D", color=RED, markersize=7, label=r"$\bar{w}$, minimiser of $\sum_k E_kJ_k$")
        axes.plot(*limits.T, "o-", color=BLUE, markersize=3.5, linewidth=1, label=r"limits of $\mathbb{E}\,w_i$")
        axes.set_xlabel("first coordinate of $w$")
        axes.set_ylabel("second coordinate of $w$")
        axes.legend(loc="best", fontsize=8)
        axes.set_aspect("equal", adjustable="datalim")
    apart = np.linalg.norm(limits - weighted, axis=1)
    bias = np.linalg.norm(weighted - optimum)
    caption = (
        "Without normalised step sizes the mean of the run settles near the minimiser of "
        rf"$\sum_kE_kJ_k$, not at $w^o$. {setting} Over six halvings of $\mu$ its distance from $\bar w$ falls from "
        rf"{apart[0]:.3g} to {apart[-1]:.3g}, while $\bar w$ stays {bias:.3g} away from $w^o$."
    )
    return finish(canvas, f"{claim.slug}-limits", caption)
