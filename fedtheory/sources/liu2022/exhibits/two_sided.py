"""Chart for generalised FedAvg: exact error over the number of clients, for K = O(T/N) and beyond."""

from __future__ import annotations

from functools import cache

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.run import Run
from fedtheory.federation.settings import two_sided_fedavg
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits import BLACK, DOTTED, Axis, Chart, Display, Line
from fedtheory.sources.liu2022.exhibits.clients import Curve, make_clients

ROUNDS = 1024
CLIENTS = tuple(2**power for power in range(9))
LOCAL_STEPS = (1, 4, 16, 64)
_REACH = 4
"""Largest multiple of R/N for local steps; far beyond it runs diverge."""
_ON_THE_PAGES_OF = ("two-sided", "cor-4.rounds", "cor-4.rounds.two-sided")


@cache
def measure_curves() -> tuple[Curve, ...]:
    """Return the exact errors for each number of local steps."""
    return tuple(_compute_curve(steps) for steps in LOCAL_STEPS)


def _compute_curve(steps: int) -> Curve:
    counts = tuple(clients for clients in CLIENTS if clients * steps <= _REACH * ROUNDS)
    return Curve(steps, counts, tuple(_compute_error(clients, steps) for clients in counts), limit=ROUNDS / steps)


def scale_errors(curve: Curve) -> list[float]:
    """Return the errors within the limit, times sqrt(N K R)."""
    pairs = zip(curve.clients[: curve.inside], curve.errors[: curve.inside], strict=True)
    return [error * (clients * curve.local_steps * ROUNDS) ** 0.5 for clients, error in pairs]


def _compute_error(clients: int, steps: int) -> float:
    # L = 1 for the pairs; the single client has 3/4, and takes the same steps.
    problem = make_clients(clients)
    algorithm = two_sided_fedavg(
        problem,
        rounds=ROUNDS,
        local_step_size=FLOAT.number(1 / (ROUNDS**0.5 * steps), "step size"),
        local_steps=steps,
        server_step_size=FLOAT.number((clients * steps) ** 0.5, "server step size"),
    )
    return float(q.average_gradient_sq.measure(Run(problem, algorithm)))


def draw_two_sided_steps() -> Chart:
    """Draw the error over N, log-log: filled marks for K <= R/N, hollow ones beyond."""
    curves = measure_curves()
    lines = [line for number, curve in enumerate(curves) for line in curve.draw(f"$K={curve.local_steps}$", number)]
    order = Line(curves[0].clients, curves[0].scale_first_error(), r"order $1/\sqrt{N}$", BLACK, DOTTED, width=1.2)
    constants = [constant for curve in curves for constant in scale_errors(curve)]
    return Chart(
        name="two-sided",
        x=Axis("clients $N$", "log"),
        y=Axis(r"mean of $\mathbb{E}\,|\nabla f(\bar{x}^t)|^2$ over rounds", "log"),
        parts=[*lines, order],
        caption=(
            f"Exact error of generalised FedAvg after $R={ROUNDS}$ rounds with $s_L=1/(\\sqrt RKL)$ and "
            "$s=\\sqrt{KN}$, for one objective, split over $N$ clients of two kinds.  Filled marks: $K\\le R/N$.  "
            f"There the error times $\\sqrt{{NKR}}$ is between {min(constants):.2f} and {max(constants):.2f}; beyond, "
            "it grows with $NK/R$."
        ),
    )


def concerns_two_sided_steps(claim: Claim) -> bool:
    """Return whether a claim is about generalised FedAvg, or its limit on local steps."""
    return claim.id.partition(":")[2] in _ON_THE_PAGES_OF


def show_two_sided(_claim: Claim) -> Display:
    """Return the chart as a figure of the page."""
    return Display([draw_two_sided_steps()])
