"""Charts of the two examples of Section 3, in which clients take turns."""

from __future__ import annotations

from functools import cache

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, Policy
from fedtheory.federation.problem import quadratic
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits import Axis, Chart, Display, Level, Line

_PUBLISHED_LIMIT = 1 / 3
"""(q_1 theta_1* + q_2 theta_2*) / (q_1 + q_2) of `clients_in_turn`."""
_SMALLEST = 1e-12
"""Distance below which a point is drawn at this height, since the axis is logarithmic."""


def _take_turns(optima: list[int], phi: str, policy: Policy, weights: list[str], rounds: int) -> Run:
    """Return a run of clients with losses (theta - optimum)^2/2 that take turns, with one local step of size phi, from
    2.
    """
    array, clients = RATIONAL.array, len(optima)
    problem = quadratic(array([[[1]]] * clients), array([[optimum] for optimum in optima]), array([2]))
    clock = Clock(policy, (fmpq(1),) * clients)
    algorithm = fedavg(problem, rounds=rounds, local_step_size=array([phi])[0], clock=clock, aggregation=array(weights))
    return Run(problem, algorithm).as_floats()


@cache
def make_pair_runs() -> dict[str, Run]:
    """Return runs of two pairs of clients, one of each of two types, for several step sizes phi."""
    policy, weights = FedBuff(2, "one-by-one"), ["1/2"] * 4
    return {phi: _take_turns([0, 1, 0, 1], phi, policy, weights, 40) for phi in ("1/4", "3/4", "9/8")}


@cache
def make_client_runs() -> dict[str, Run]:
    """Return runs of two clients with optima 0 and 1 and weights 1/2 and 1/4, for several step sizes phi."""
    policy = Asynchronous("one-by-one")
    return {phi: _take_turns([0, 1], phi, policy, ["1/2", "1/4"], 40) for phi in ("1/8", "1/2", "1")}


def draw_distances(_claim: Claim) -> Display:
    """Draw |theta^n - theta*| over n for several phi; the roots of r^2 - r + phi determine its decay."""
    lines = []
    for number, (phi, run) in enumerate(make_pair_runs().items()):
        values = np.maximum(np.sqrt(run.trajectory.server_distance_sq), _SMALLEST)
        lines.append(Line(range(len(values)), values, rf"$\phi={phi}$", number, number))
    chart = Chart(
        name="distances",
        x=Axis("server updates $n$"),
        y=Axis(r"$|\theta^n-\theta^*|$", "log"),
        parts=lines,
        caption=(
            "Two pairs of clients that report in turn, always on a model that is one update old. The errors solve "
            r"$e_{n+2}-e_{n+1}+\phi e_n=0$; the roots of $r^2-r+\phi$ are inside the unit circle exactly for "
            r"$0<\phi<1$, and on it for $\phi=1$, where the errors repeat after six updates."
        ),
    )
    return Display([chart])


def draw_cycles(_claim: Claim) -> Display:
    """Draw theta^n over n for several phi, with the published limit; the iterates approach a cycle of two points."""
    runs = make_client_runs()
    lines = []
    for number, (phi, run) in enumerate(runs.items()):
        values = run.trajectory.server_mean[:, 0]
        lines.append(Line(range(len(values)), values, rf"$\phi={phi}$", number, number, marker="o", size=3))
    ends = "; ".join(f"$\\phi={phi}$: {_format_last_two(run)}" for phi, run in runs.items())
    chart = Chart(
        name="cycles",
        x=Axis("server updates $n$"),
        y=Axis(r"$\theta^n$"),
        parts=[*lines, Level(_PUBLISHED_LIMIT, "published limit", width=1)],
        caption=(
            "Two clients that report in turn with weights $q_1=1/2$ and $q_2=1/4$, optima 0 and 1. At a fixed step "
            "size the models settle in a cycle of two points, which come to the published limit as $\\phi$ goes to 0. "
            f"Last two models: {ends}."
        ),
    )
    return Display([chart])


def _format_last_two(run: Run) -> str:
    return " and ".join(f"{value:.3g}" for value in run.trajectory.server_mean[-2:, 0])
