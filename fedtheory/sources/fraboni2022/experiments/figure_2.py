"""Figure 2: the limits of asynchronous FedAvg with identical weights, and with time-based ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.surrogate import Surrogate
from fedtheory.federation.clock import Asynchronous
from fedtheory.sources.fraboni2022.experiments.curves import Curve, make_scenario
from fedtheory.sources.fraboni2022.experiments.digits import Split, make_digits_problem

CLIENTS, SLOWER, LOCAL_STEPS, HORIZON = 10, 80, 1, 50
STEP_SIZES = tuple(2.0**-power for power in range(8, 2, -1))


@dataclass(frozen=True, eq=False)
class WeightsCompared:
    """Identical and time-based weights on one split, at the best step size for identical weights."""

    split: Split
    identical: Curve
    time_based: Curve
    importance: Array
    """p_i, (M,): the weights of problem (2)."""
    shares: Array
    """q_i / sum_j q_j for identical weights, (M,): the weights of problem (10), in proportion to 1/T_i."""
    minimum: float
    """The smallest loss of (2)."""
    surrogate_minimum: float
    """The smallest loss of (10)."""
    identical_limit: float
    """The loss of (2) at the minimiser of (10), the problem that identical weights minimise."""
    time_based_limit: float
    """The loss of (2) at the minimiser of (10) for time-based weights; `minimum` if the run ends with a whole cycle."""

    @property
    def step_size(self) -> float:
        """Return the local step size of both."""
        return self.identical.step_size

    @property
    def gap(self) -> float:
        """Return the excess of the final loss of (2) with identical weights."""
        return self.identical.final_loss - self.time_based.final_loss


def compute_figure_2(
    split: Split,
    *,
    seed: int = 0,
    clients: int = CLIENTS,
    horizon: int = HORIZON,
    step_sizes: Sequence[float] = STEP_SIZES,
) -> WeightsCompared:
    """Return both weightings on one split of the digits: hardware F80, one local step, ties one by one."""
    problem = make_digits_problem(clients, split, seed)
    policy = Asynchronous("one-by-one")
    identical = make_scenario(problem, policy, SLOWER, "Identical", local_steps=LOCAL_STEPS, horizon=horizon)
    time_based = make_scenario(problem, policy, SLOWER, "Time-based", local_steps=LOCAL_STEPS, horizon=horizon)
    best = identical.compute_curves(step_sizes).best
    surrogates = [Surrogate(problem, scenario.make_algorithm(best.step_size)) for scenario in (identical, time_based)]
    shares = surrogates[0].mean_weights / surrogates[0].mean_weights.sum()
    losses = np.stack([surrogate.client_values(surrogate.optimum) for surrogate in surrogates])
    return WeightsCompared(
        split,
        best,
        time_based.compute_curve(best.step_size),
        problem.weights,
        shares,
        float(problem.optimal_value),
        float(losses[0] @ shares),
        *(float(loss) for loss in losses @ problem.weights),
    )
