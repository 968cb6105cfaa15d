"""Measured linear speed-up: exact error over the number of clients at the step size of Corollary 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import Problem, quadratic
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits import BLACK, DOTTED, Axis, Chart, Display, Line

ITERATIONS = 4**7
"""T, local steps in total; the limit on K is ``K^4 N^3 <= T``."""
CLIENTS = tuple(2**power for power in range(9))
LOCAL_STEPS = (1, 2, 4, 16)


@dataclass(frozen=True)
class SpeedUp:
    """The error over N for one number of local steps."""

    local_steps: int
    clients: tuple[int, ...]
    """Values of N."""
    errors: tuple[float, ...]
    """(1/T) sum_t E|grad f(xbar^t)|^2 for each N."""

    @property
    def limit(self) -> float:
        """Return the largest N for which K satisfies the corollary's limit."""
        return float((ITERATIONS / self.local_steps**4) ** (1 / 3))

    @property
    def inside(self) -> int:
        """Count the values of N within the limit."""
        return sum(clients <= self.limit for clients in self.clients)

    def slope(self, first: int, last: int | None) -> tuple[float, float] | None:
        """Return the slope of log(error) over log(N) on some of the values, and half its 95 % interval; None for few
        points.
        """
        from scipy.stats import linregress, t

        chosen = slice(first, last)
        clients, errors = np.log(self.clients[chosen]), np.log(self.errors[chosen])
        if len(clients) < 3:
            return None
        fit = linregress(clients, errors)
        return float(fit.slope), float(fit.stderr * t.ppf(0.975, len(clients) - 2))


def _make_problem(clients: int, *, alike: bool) -> Problem:
    """Return noisy clients in two dimensions: all equal, or of two kinds with different linear terms and curvatures."""
    array = RATIONAL.array
    kinds = [([["1", "0"], ["0", "1/4"]], ["1", "0"]), ([["1/4", "0"], ["0", "1"]], ["-1", "1"])]
    chosen = [kinds[0 if alike else client % 2] for client in range(clients)]
    return quadratic(
        array([hessian for hessian, _ in chosen]),
        array([linear for _, linear in chosen]),
        array(["2", "-1"]),
        noise=array([4] * clients),
    ).as_floats()


@cache
def measure_speed_ups(*, alike: bool) -> tuple[SpeedUp, ...]:
    """Return the measured errors for each number of local steps."""
    # Two kinds of clients need two clients.
    counts = CLIENTS if alike else CLIENTS[1:]
    return tuple(
        SpeedUp(steps, counts, tuple(_compute_error(_make_problem(n, alike=alike), steps) for n in counts))
        for steps in LOCAL_STEPS
    )


def _compute_error(problem: Problem, local_steps: int) -> float:
    # Both kinds of clients have L = 1.
    size = FLOAT.number((problem.clients / ITERATIONS) ** 0.5, "step size")
    algorithm = fedavg(problem, rounds=ITERATIONS // local_steps, local_step_size=size, local_steps=local_steps)
    return float(q.average_local_gradient_sq.measure(Run(problem, algorithm)))


def draw_speed_up(*, alike: bool) -> Chart:
    """Draw the exact error over N, log-log: filled marks if K satisfies its limit, hollow ones beyond it."""
    measured = measure_speed_ups(alike=alike)
    # Curves with few local steps are drawn last, so that their filled marks stay visible where curves coincide.
    curves = [line for number, curve in reversed(list(enumerate(measured))) for line in _draw_lines(curve, number)]
    first = measured[0]
    ideal = [first.errors[0] * (first.clients[0] / clients) ** 0.5 for clients in first.clients]
    kind = "all clients alike" if alike else "every other client of a second kind (other Hessian, other minimiser)"
    return Chart(
        name="speed-up-alike" if alike else "speed-up-unlike",
        x=Axis("clients $N$", "log"),
        y=Axis(r"mean of $\mathbb{E}\,|\nabla f(\bar{x}^t)|^2$ over $t$", "log"),
        parts=[*curves, Line(first.clients, ideal, r"slope $-1/2$", BLACK, DOTTED, width=1.2)],
        caption=(
            f"Exact error at $s=\\sqrt N/(L\\sqrt T)$, $T={ITERATIONS}$, {kind}.  Filled marks keep to "
            f"$K\\le T^{{1/4}}/N^{{3/4}}$, hollow ones do not.  {' '.join(_describe(curve) for curve in measured)}"
        ),
    )


def _draw_lines(curve: SpeedUp, number: int) -> Iterator[Line]:
    """Yield the curve, then its marks beyond the limit and within it."""
    clients, errors, inside = curve.clients, curve.errors, curve.inside
    yield Line(clients, errors, f"$K={curve.local_steps}$, limit $N={curve.limit:.3g}$", number, number)
    for chosen, hollow in ((slice(inside, None), True), (slice(inside), False)):
        yield Line(clients[chosen], errors[chosen], colour=number, dash=None, marker="o", size=5, hollow=hollow)


def _describe(curve: SpeedUp) -> str:
    """Describe the fitted slopes of a curve, within the limit and beyond it."""
    inside, beyond = curve.slope(0, curve.inside), curve.slope(curve.inside, None)
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
    return Display([draw_speed_up(alike=True), draw_speed_up(alike=False)])
