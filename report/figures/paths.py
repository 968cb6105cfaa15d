"""Draw a bound along one path: both sides at every local step."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import plain_floats
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.claim_places import iterate_sites
from report.figures.style import BLACK, BLUE, Figure, finish, open_canvas
from verify.check.links import compile_relations


def draw_path(claim: Claim, run: Run, setting: str) -> Figure:
    """Draw the first relation of a claim about local steps over t, at the client with the largest ratio."""
    link = compile_relations(claim)[0]
    left, right = ([], [])  # type: tuple[list[float], list[float]]
    for site in iterate_sites(claim, run):
        sides = np.broadcast_arrays(link.left(site), link.right(site))
        lhs, rhs = (plain_floats(side).ravel() for side in sides)
        # Of several clients the one closest to its bound is drawn.
        tightest = int(np.argmin(rhs - lhs))
        left.append(float(lhs[tightest]))
        right.append(float(rhs[tightest]))
    from matplotlib.ticker import MaxNLocator

    steps = np.arange(1, len(left) + 1)
    with open_canvas() as (canvas, axes):
        axes.plot(steps, right, color=BLACK, linestyle="--", label="bound")
        axes.plot(steps, left, color=BLUE, marker="o", markersize=3.5, label="exact left side")
        axes.set_yscale("symlog", linthresh=max(min(v for v in right if v > 0), 1e-12))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("local step $t$")
        axes.set_ylabel("both sides")
        axes.legend()
    ratios = [a / b for a, b in zip(left, right, strict=True) if b > 0]
    caption = f"Both sides at every local step; the bound restarts in each round. {setting}"
    caption += f" Largest ratio here: {max(ratios, default=0):.3g}."
    return finish(canvas, f"{claim.slug}-along-path", caption)
