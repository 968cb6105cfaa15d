"""Generalised FedAvg, measured: exact error over the number of clients, for K = O(T/N) and beyond."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.run import Run
from fedtheory.federation.settings import two_sided_fedavg
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits import BLACK, DOTTED, Axis, Chart, Display, Line
from fedtheory.sources.liu2022.exhibits.clients import make_clients

ROUNDS = 1024
CLIENTS = tuple(2**power for power in range(9))
LOCAL_STEPS = (1, 4, 16, 64)
_REACH = 4
"""Largest multiple of R/N for local steps; far beyond it runs diverge."""
_ON_THE_PAGES_OF = ("two-sided", "cor-4.rounds", "cor-4.rounds.two-sided")


@dataclass(frozen=True)
class Curve:
    """The error over N for one number of local steps."""

    local_steps: int
    clients: tuple[int, ...]
    errors: tuple[float, ...]
    """(1/R) sum_n E|grad f(x^n)|^2 over the rounds, for each N."""

    @property
    def inside(self) -> int:
        """Return the number of values of N with K <= R/N."""
        return sum(self.local_steps * clients <= ROUNDS for clients in self.clients)

    @property
    def constants(self) -> tuple[float, ...]:
        """Return the errors times sqrt(N K R)."""
        factors = ((clients * self.local_steps * ROUNDS) ** 0.5 for clients in self.clients)
        return tuple(error * factor for error, factor in zip(self.errors, factors, strict=True))


@cache
def measure_curves() -> tuple[Curve, ...]:
    """Return the measured errors for each number of local steps."""
    return tuple(_compute_curve(steps) for steps in LOCAL_STEPS)


def _compute_curve(steps: int) -> Curve:
    counts = tuple(clients for clients in CLIENTS if clients * steps <= _REACH * ROUNDS)
    return Curve(steps, counts, tuple(_compute_error(clients, steps) for clients in counts))


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
    parts = []
    for number, curve in enumerate(measure_curves()):
        clients, errors, inside = curve.clients, curve.errors, curve.inside
        parts.append(Line(clients, errors, f"$K={curve.local_steps}$", number, number))
        for chosen, hollow in ((slice(inside, None), True), (slice(inside), False)):
            parts.append(
                Line(clients[chosen], errors[chosen], colour=number, dash=None, marker="o", size=5, hollow=hollow)
            )
    first = measure_curves()[0]
    order = [first.errors[0] / clients**0.5 for clients in first.clients]
    constants = [constant for curve in measure_curves() for constant in curve.constants[: curve.inside]]
    return Chart(
        name="two-sided",
        x=Axis("clients $N$", "log"),
        y=Axis(r"mean of $\mathbb{E}\,|\nabla f(\bar{x}^t)|^2$ over rounds", "log"),
        parts=[*parts, Line(first.clients, order, r"order $1/\sqrt{N}$", BLACK, DOTTED, width=1.2)],
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
