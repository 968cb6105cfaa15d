"""Client drift over the local steps of a round, beside its bound."""

from __future__ import annotations

from fedtheory.arithmetic import plain_float
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from report.figures.style import BLACK, BLUE, ORANGE, SKY, Figure, drawing, finish
from verify.check import check


def over_local_steps(claim: Claim, run: Run, setting: str) -> Figure:
    """Exact drift of every client over k = 0 .. tau in the first round, its mean and largest, and the bound."""
    found = check(claim, run)
    if found.worst is None:
        raise ValueError(f"{claim.id}: {found.reason}")
    from matplotlib.ticker import MaxNLocator

    bound, drift = plain_float(found.worst.rhs), run.trajectory.drift
    first, steps = drift[0], range(1, drift.shape[1])
    with drawing() as (canvas, axes):
        axes.axhline(bound, color=BLACK, linestyle="--", label="bound")
        axes.semilogy(steps, first[1:], color=SKY, linewidth=0.9, alpha=0.8)
        axes.semilogy(steps, drift.max(axis=(0, 2))[1:], color=BLUE, marker="o", markersize=3.5, label="largest, exact")
        mean = first[1:] @ run.problem.weights
        axes.semilogy(steps, mean, color=ORANGE, marker="s", markersize=3.5, label="mean of the clients, exact")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("local step $k$")
        axes.set_ylabel(r"drift $\mathbb{E}\,|x_i^{(t,k)}-\bar{x}^{(t,k)}|^2$")
        axes.legend()
    caption = (
        r"Exact client drift $\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2$ over the local steps: every client in the "
        f"first round (thin), their mean, and the largest over all rounds and clients, against the bound. {setting} "
        f"Largest ratio here: {plain_float(found.worst.ratio):.3g}."
    )
    return finish(canvas, f"{claim.slug}-drift", caption)
