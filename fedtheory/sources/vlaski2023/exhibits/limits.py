"""Limit of the expected model for small common step sizes, where agents take unequal numbers of steps."""

from __future__ import annotations

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import FLOAT, plain_floats
from fedtheory.engine.moments.stationary import compute_stationary_mean
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits import BLACK, BLUE, ORANGE, RED, Axis, Chart, Display, Legend, Line, Mark
from fedtheory.sources.vlaski2023.exhibits.agents import LOCAL_STEPS, make_sampled_run
from fedtheory.sources.vlaski2023.small_steps import compute_small_step_limit

_DIVISIONS = tuple(2**power for power in range(7))


def has_limits(claim: Claim) -> bool:
    """Return whether a claim states the distance of the limit of the expected model from the minimiser."""
    return claim.rate is not None and q.distance_to_small_step_limit in claim.notation.values()


def draw_limits(_claim: Claim) -> Display:
    """Draw in the plane the agents' minimisers, w^o, the minimiser of sum E_k J_k, and the limits of the
    expectation.
    """
    exactly = make_sampled_run((fmpq(1, 2),) * len(LOCAL_STEPS))
    run, size = exactly.as_floats(), exactly.algorithm.work.common_step_size
    optimum = plain_floats(run.problem.optimum)
    ladder = [run.with_step_factor(FLOAT.number(1 / division, "factor")) for division in _DIVISIONS]
    ends = np.stack([plain_floats(compute_stationary_mean(at.trajectory.recursion)) for at in ladder]) + optimum
    weighted = plain_floats(compute_small_step_limit(run)) + optimum
    agents = [
        Mark(x, y, "" if number else "agents' minimisers $w_k^o$", ORANGE, "^", 7, note=f"$E_k={steps}$")
        for number, ((x, y), steps) in enumerate(zip(run.problem.client_optima, LOCAL_STEPS, strict=True))
    ]
    distances = np.linalg.norm(ends - weighted, axis=1)
    bias = np.linalg.norm(weighted - optimum)
    chart = Chart(
        name="limits",
        x=Axis("first coordinate of $w$"),
        y=Axis("second coordinate of $w$"),
        parts=[
            *agents,
            Mark(optimum[0], optimum[1], r"$w^o$, minimiser of $\sum_k J_k$", BLACK, "*", 13),
            Mark(weighted[0], weighted[1], r"$\bar{w}$, minimiser of $\sum_k E_kJ_k$", RED, "D", 7),
            Line(ends[:, 0], ends[:, 1], r"limits of $\mathbb{E}\,w_i$", BLUE, width=1, marker="o", size=3.5),
        ],
        caption=(
            "Without normalised step sizes the mean of the run settles near the minimiser of "
            r"$\sum_kE_kJ_k$, not at $w^o$. Three agents in the plane with $E_k=1,2,4$ and a common step size; $\mu$ "
            rf"starts at ${size}$. Over six halvings of $\mu$ its distance from $\bar w$ falls from "
            rf"{distances[0]:.3g} to {distances[-1]:.3g}, while $\bar w$ stays {bias:.3g} away from $w^o$."
        ),
        legend=Legend(size=8),
        equal_units=True,
    )
    return Display([chart])
