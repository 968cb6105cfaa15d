"""Figure 3: the final loss of asynchronous FedAvg over the amount of local work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fedtheory.arithmetic import Array
from fedtheory.federation.clock import Asynchronous
from fedtheory.sources.fraboni2022.experiments.curves import WEIGHTINGS, Curve, Scenario, make_scenario
from fedtheory.sources.fraboni2022.experiments.digits import Split, make_digits_problem

CLIENTS, SLOWER, HORIZON = 10, 80, 50
SPLIT: Split = "Dirichlet"
LOCAL_STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 25)


@dataclass(frozen=True, eq=False)
class LocalWorkCompared:
    """Curves by the number of local steps, of both weightings, at one step size."""

    step_size: float
    identical: dict[int, Curve]
    """Curves by K, ascending, up to the first that diverges."""
    time_based: dict[int, Curve]
    weights: Array
    """d_i of the time-based weights, (M,), from the fastest client to the slowest."""
    minimum: float
    """The smallest loss of (2)."""


def compute_figure_3(
    step_size: float,
    *,
    seed: int = 0,
    clients: int = CLIENTS,
    horizon: int = HORIZON,
    local_steps: Sequence[int] = LOCAL_STEPS,
) -> LocalWorkCompared:
    """Return both weightings for ascending numbers of local steps: hardware F80, Dirichlet split.

    `step_size` is the best one for identical weights and one local step.
    """
    problem = make_digits_problem(clients, SPLIT, seed)
    policy = Asynchronous("one-by-one")
    identical, time_based = (
        [make_scenario(problem, policy, SLOWER, weighting, local_steps=k, horizon=horizon) for k in local_steps]
        for weighting in WEIGHTINGS
    )
    return LocalWorkCompared(
        step_size,
        _run_until_divergence(identical, step_size),
        _run_until_divergence(time_based, step_size),
        time_based[0].weights,
        float(problem.optimal_value),
    )


def _run_until_divergence(scenarios: Sequence[Scenario], step_size: float) -> dict[int, Curve]:
    """Run scenarios with increasing local steps up to the first one that diverges."""
    curves: dict[int, Curve] = {}
    for each in scenarios:
        curves[each.local_steps] = each.compute_curve(step_size)
        if curves[each.local_steps].diverges:
            break
    return curves
