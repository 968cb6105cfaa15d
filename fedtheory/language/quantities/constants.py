"""Constants of a run: what a bound's right side is made of.  Only `rounds` changes with the horizon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fedtheory.engine.run import Bound, Run
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities.axes import on_clients
from fedtheory.language.quantities.notion import Quantity, constant


def assumed(name: str, latex: str, meaning: str, bound: Callable[[Run], Bound]) -> Quantity:
    """A constant of an assumption, whose square is a supremum over a region."""
    return Quantity(
        name,
        latex,
        meaning,
        lambda run: on_clients(bound(run).value),
        root=True,
        is_constant=True,
        region=lambda run: bound(run).region,
    )


def _steps(run: Run) -> Any:
    steps = run.algorithm.work.common_steps
    if steps is None:
        raise NotApplicable("the clients take different numbers of local steps")
    return run.arithmetic.number(steps, "local_steps")


def _step_size(run: Run) -> object:
    size = run.algorithm.work.common_step_size
    if size is None:
        raise NotApplicable("the clients use different step sizes")
    return size


clients = constant("clients", "M", "number of clients", lambda run: run.arithmetic.number(run.problem.clients, "M"))
rounds = Quantity(
    "rounds", "T", "number of server updates", lambda run: run.arithmetic.number(run.algorithm.rounds, "T")
)
iterations = Quantity(
    "iterations",
    "T",
    "number of local steps of the whole run, rounds times local steps",
    lambda run: run.arithmetic.number(run.algorithm.rounds, "T") * _steps(run),
)
local_step_index = Quantity(
    "local_step_index",
    "k",
    "number of local steps that a round has taken, from 0 on",
    lambda run: run.arithmetic.array(list(range(max(run.algorithm.work.steps))))[None, :, None],
)
round_index = Quantity(
    "round_index",
    "n",
    "number of the server update, from 1 on",
    lambda run: run.arithmetic.array(list(range(1, run.algorithm.rounds + 1)))[:, None, None],
    per_round=True,
)
local_steps = constant("local_steps", r"\tau", "local steps per round, the same for all clients", _steps)
local_step_size = constant("local_step_size", r"\eta", "local step size, the same for all clients", _step_size)
server_step_size = constant(
    "server_step_size", r"\eta_g", "server step size", lambda run: run.algorithm.aggregation.server_step_size
)
smoothness = constant(
    "smoothness",
    "L",
    "max_i of the largest curvature of F_i, for quadratics the largest eigenvalue of H_i",
    lambda run: run.smoothness,
)
strong_convexity = constant(
    "strong_convexity",
    r"\mu",
    "min_i of the smallest curvature of F_i, for quadratics the smallest eigenvalue of H_i",
    lambda run: run.strong_convexity,
)
objective_smoothness = constant(
    "objective_smoothness",
    r"\delta",
    "largest eigenvalue of the Hessian of F",
    lambda run: run.objective_smoothness,
)
participants = constant(
    "participants",
    "L",
    "number of clients that a round selects",
    lambda run: run.arithmetic.number(run.algorithm.aggregation.participation.count(run.problem.clients), "L"),
)
smallest_curvature = constant(
    "smallest_curvature",
    r"\lambda_{\min}(\nabla^2 F)",
    "smallest eigenvalue of the Hessian of F",
    lambda run: run.smallest_curvature,
)
noise_deviation = assumed(
    "noise_deviation",
    r"\sigma",
    "sigma, sigma^2 = max_i sup_x E|g_i(x) - grad F_i(x)|^2 on the region",
    lambda run: run.noise_variance,
)
second_moment = assumed(
    "second_moment",
    "G",
    "G, G^2 = max_i sup_x E|g_i(x)|^2 on the region",
    lambda run: run.second_moment,
)
visited_second_moment = assumed(
    "visited_second_moment",
    r"G_{\mathrm{run}}",
    "the largest E|g_i(x_i^{t,k})|^2 of the run, its root",
    lambda run: run.visited_second_moment,
)
lipschitz = assumed(
    "lipschitz",
    r"\rho",
    "rho = max_i sup_x |grad F_i(x)| on the region, where F_i is rho-Lipschitz",
    lambda run: run.lipschitz_sq,
)


objective_lipschitz = assumed(
    "objective_lipschitz",
    r"\rho_F",
    "rho_F = sup_x |grad F(x)| on the region, where F is rho_F-Lipschitz",
    lambda run: run.objective_lipschitz_sq,
)
gradient_dissimilarity = assumed(
    "gradient_dissimilarity",
    r"\zeta",
    "zeta = sup_x max_i |grad F_i(x) - grad F(x)| on the region",
    lambda run: run.dissimilarity_sq,
)
mean_dissimilarity = assumed(
    "mean_dissimilarity",
    r"\sigma_G",
    "sigma_G, sigma_G^2 = sup_x sum_i p_i |grad F_i(x) - grad F(x)|^2 on the region",
    lambda run: run.mean_dissimilarity_sq,
)


def gradient_growth(factor: int) -> Quantity:
    """The smallest G with ``sum_i p_i |grad F_i(x)|^2 <= G^2 + B^2 |grad F(x)|^2`` on the region, B = `factor`."""
    return assumed(
        f"gradient_growth_{factor}",
        f"G_{{B={factor}}}",
        f"the smallest G with sum_i p_i |grad F_i|^2 <= G^2 + B^2 |grad F|^2 on the region, for B = {factor}",
        lambda run: run.gradient_growth_sq(run.arithmetic.number(factor, "B")),
    )


def _optimal_value_gap(run: Run) -> Any:
    return run.problem.optimal_value - run.surrogate.least_client_values @ run.problem.weights


optimal_value_gap = constant(
    "optimal_value_gap", r"\Gamma", "Gamma = F* - sum_i p_i F_i*, F_i* the least value of F_i", _optimal_value_gap
)
initial_distance = constant(
    "initial_distance",
    "D",
    "D = |x^0 - x*|, x* the minimiser of F nearest to x^0",
    lambda run: run.initial_distance_sq,
    root=True,
)
initial_gap = constant("initial_gap", r"F(x^0)-F^*", "F(x^0) - F*", lambda run: run.initial_gap)
