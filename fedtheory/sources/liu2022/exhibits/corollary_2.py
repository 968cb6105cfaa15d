"""Charts for Corollary 2: exact error over the number of clients at its step size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import Problem
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits import BLACK, DOTTED, Axis, Chart, Display, Line
from fedtheory.sources.liu2022.exhibits.clients import Curve, Kind, alternate_kinds

ITERATIONS = 4**7
"""T, local steps in total; the limit on K is ``K^4 N^3 <= T``."""
CLIENTS = tuple(2**power for power in range(9))
LOCAL_STEPS = (1, 2, 4, 16)


_KINDS: Sequence[Kind] = (
    ([["1", "0"], ["0", "1/4"]], ["1", "0"]),
    ([["1/4", "0"], ["0", "1"]], ["-1", "1"]),
)
"""Two kinds of clients with different linear terms and curvatures, and L = 1."""


def fit_slope(curve: Curve, first: int, last: int | None) -> tuple[float, float] | None:
    """Return the slope of log(error) over log(N) on some values, and half its 95 % interval; None for few values."""
    # `scipy.stats` fits lines too, but takes half a second to import.
    from scipy.special import stdtrit

    chosen = slice(first, last)
    clients, errors = np.log(curve.clients[chosen]), np.log(curve.errors[chosen])
    if len(clients) < 3:
        return None
    across, free = clients - clients.mean(), len(clients) - 2
    slope = across @ errors / (across @ across)
    residuals = errors - errors.mean() - slope * across
    deviation = np.sqrt(residuals @ residuals / free / (across @ across))
    return float(slope), float(deviation * stdtrit(free, 0.975))


@cache
def measure_speed_ups(*, alike: bool) -> tuple[Curve, ...]:
    """Return the exact errors for each number of local steps, with clients of one kind or of two."""
    # Two kinds of clients need two clients.
    kinds, counts = (_KINDS[:1], CLIENTS) if alike else (_KINDS, CLIENTS[1:])
    problems = [alternate_kinds(kinds, clients, ["2", "-1"], noise=4) for clients in counts]
    return tuple(
        Curve(
            steps,
            counts,
            tuple(_compute_error(problem, steps) for problem in problems),
            limit=float((ITERATIONS / steps**4) ** (1 / 3)),
        )
        for steps in LOCAL_STEPS
    )


def _compute_error(problem: Problem, local_steps: int) -> float:
    size = FLOAT.number((problem.clients / ITERATIONS) ** 0.5, "step size")
    algorithm = fedavg(problem, rounds=ITERATIONS // local_steps, local_step_size=size, local_steps=local_steps)
    return float(q.average_local_gradient_sq.measure(Run(problem, algorithm)))


def draw_speed_up(*, alike: bool) -> Chart:
    """Draw the exact error over N, log-log: filled marks if K satisfies its limit, hollow ones beyond it."""
    measured = measure_speed_ups(alike=alike)
    # Curves with few local steps are drawn last, so that their filled marks stay visible where curves coincide.
    lines = [
        line
        for number, curve in reversed(list(enumerate(measured)))
        for line in curve.draw(f"$K={curve.local_steps}$, limit $N={curve.limit:.3g}$", number)
    ]
    first = measured[0]
    speed_up = Line(first.clients, first.scale_first_error(), r"slope $-1/2$", BLACK, DOTTED, width=1.2)
    kind = "all clients alike" if alike else "every other client of a second kind (other Hessian, other minimiser)"
    return Chart(
        name="speed-up-alike" if alike else "speed-up-unlike",
        x=Axis("clients $N$", "log"),
        y=Axis(r"mean of $\mathbb{E}\,|\nabla f(\bar{x}^t)|^2$ over $t$", "log"),
        parts=[*lines, speed_up],
        caption=(
            f"Exact error at $s=\\sqrt N/(L\\sqrt T)$, $T={ITERATIONS}$, {kind}.  Filled marks satisfy "
            f"$K\\le T^{{1/4}}/N^{{3/4}}$, hollow ones do not.  {' '.join(_describe(curve) for curve in measured)}"
        ),
    )


def _describe(curve: Curve) -> str:
    """Describe the fitted slopes of a curve, within the limit and beyond it."""
    inside, beyond = fit_slope(curve, 0, curve.inside), fit_slope(curve, curve.inside, None)
    parts = [
        f"{fit[0]:.3f} ± {fit[1]:.3f} {where}"
        for fit, where in ((inside, "within the limit"), (beyond, "beyond it"))
        if fit is not None
    ]
    return f"$K={curve.local_steps}$: slope {', '.join(parts)}."


def gives_iterations(claim: Claim) -> bool:
    """Return whether a claim gives the iterations to an accuracy, at a step size for linear speed-up."""
    return a.speedup_step in claim.assumptions and claim.kind == "rate"


def show_speed_up(_claim: Claim) -> Display:
    """Return the charts for equal clients and for two kinds as figures of the page."""
    return Display([draw_speed_up(alike=True), draw_speed_up(alike=False)])
