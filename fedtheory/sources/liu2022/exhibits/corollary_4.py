"""Chart for Corollary 4: exact error over the number of clients, with the explicit bound and the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from fedtheory.arithmetic import FLOAT, plain_float
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.exhibits import BLACK, BLUE, DASHED, DOTTED, GREEN, ORANGE, Axis, Chart, Display, Line
from fedtheory.language.registry import find
from fedtheory.sources.liu2022.exhibits.clients import make_clients

ITERATIONS = 4**9
"""T, the number of iterations; ``K^4 N^3 <= T`` then allows one local step for 64 clients."""
CLIENTS = (1, 4, 16, 64)
MOST_LOCAL_STEPS = (16, 8, 2, 1)
"""The largest power of two with ``K^4 N^3 <= T``, for each N."""
_ON_THE_PAGES_OF = ("cor-4.K1", "cor-4.K", "cor-4.explicit", "cor-4.explicit.T", "cor-4.explicit.sharp")
_BOUND = "liu2022:cor-4.explicit.sharp"


@dataclass(frozen=True)
class Measurement:
    """Error and bound for one number of clients."""

    clients: int
    local_steps: int
    error: float
    """(1/T) sum_t E|grad f(xbar^t)|^2."""
    bound: float
    """The right side of the tightened explicit corollary."""


@cache
def measure_errors(*, most_local_steps: bool) -> tuple[Measurement, ...]:
    """Return the measurements for each N, at K = 1 or at the largest K that the corollary allows."""
    steps = MOST_LOCAL_STEPS if most_local_steps else (1,) * len(CLIENTS)
    return tuple(_measure(clients, count) for clients, count in zip(CLIENTS, steps, strict=True))


def _measure(clients: int, local_steps: int) -> Measurement:
    """Measure the exact error for given numbers of clients and local steps, and its bound."""
    problem = make_clients(clients)
    size = FLOAT.number((clients / ITERATIONS) ** 0.5, "step size")
    rounds = ITERATIONS // local_steps
    run = Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=local_steps))
    error = float(q.average_local_gradient_sq.measure(run))
    claim = find(_BOUND)
    bound = compile_expression(claim.relations[0].right, claim.notation)(whole_run(run))
    return Measurement(clients, local_steps, error, plain_float(bound.item()))


def fit_order(measured: Sequence[Measurement]) -> float:
    """Fit the slope of log(error) over log(N) by least squares."""
    clients, errors = (np.log([getattr(one, name) for one in measured]) for name in ("clients", "error"))
    return float(np.polyfit(clients, errors, 1)[0])


def draw_speed_up() -> Chart:
    """Draw the errors at K = 1 and at the largest K, the bound, and the order 1/sqrt(N)."""
    one, most = (measure_errors(most_local_steps=flag) for flag in (False, True))
    errors, bounds = [found.error for found in one], [found.bound for found in most]
    order = [errors[0] / clients**0.5 for clients in CLIENTS]
    largest_ratio = max(found.error / found.bound for found in (*one, *most))
    steps = ", ".join(f"$K={found.local_steps}$" for found in most)
    return Chart(
        name="speed-up",
        x=Axis("clients $N$", "log", ticks=CLIENTS),
        y=Axis(r"mean of $\mathbb{E}\,|\nabla f(\bar{x}^t)|^2$ over $t$", "log"),
        parts=[
            Line(CLIENTS, bounds, "explicit bound", ORANGE, DASHED, marker="s"),
            Line(CLIENTS, errors, "error, $K=1$", BLUE, marker="o", size=9, hollow=True),
            Line(CLIENTS, [found.error for found in most], "error, largest $K$", GREEN, marker="D", size=4),
            Line(CLIENTS, order, r"order $1/\sqrt{N}$", BLACK, DOTTED, width=1.2),
        ],
        caption=(
            f"Exact error at $s=\\sqrt{{N/T}}$, $T={ITERATIONS}$, for one objective $f$ that is split over $N$ clients "
            f"of two kinds.  Largest $K$ with $K^4N^3\\le T$ among powers of two: {steps}.  Slope in $N$: "
            f"{fit_order(one):.4f} for $K=1$, {fit_order(most):.4f} for the largest $K$; linear speed-up is $-1/2$.  "
            f"The error is at most {largest_ratio:.2f} of the bound, whose dissimilarity term is 0 at $N=1$."
        ),
    )


def concerns_corollary_4(claim: Claim) -> bool:
    """Return whether a claim states the linear speed-up of Corollary 4."""
    return claim.id.partition(":")[2] in _ON_THE_PAGES_OF


def show_corollary_4(_claim: Claim) -> Display:
    """Return the chart as a figure of the page."""
    return Display([draw_speed_up()])
