"""Constants of a run: what a bound's right side is made of.  Only `rounds` changes with the horizon."""

from __future__ import annotations

from functools import partial

from fedtheory.errors import NotApplicable
from fedtheory.quantities.notion import Quantity
from fedtheory.run import Run

_constant = partial(Quantity, is_constant=True)


def _steps(run: Run) -> object:
    steps = run.algorithm.work.common_steps
    if steps is None:
        raise NotApplicable("the clients take different numbers of local steps")
    return run.arithmetic.number(steps, "local_steps")


def _step_size(run: Run) -> object:
    size = run.algorithm.work.common_step_size
    if size is None:
        raise NotApplicable("the clients use different step sizes")
    return size


clients = _constant("clients", "M", "number of clients", lambda run: run.arithmetic.number(run.problem.clients, "M"))
rounds = Quantity(
    "rounds", "T", "number of server updates", lambda run: run.arithmetic.number(run.algorithm.rounds, "T")
)
local_steps = _constant("local_steps", r"\tau", "local steps per round, the same for all clients", _steps)
local_step_size = _constant("local_step_size", r"\eta", "local step size, the same for all clients", _step_size)
server_step_size = _constant(
    "server_step_size", r"\eta_g", "server step size", lambda run: run.algorithm.aggregation.server_step_size
)
smoothness = _constant("smoothness", "L", "max_i of the largest eigenvalue of H_i", lambda run: run.smoothness)
strong_convexity = _constant(
    "strong_convexity", r"\mu", "min_i of the smallest eigenvalue of H_i", lambda run: run.strong_convexity
)
smallest_curvature = _constant(
    "smallest_curvature",
    r"\lambda_{\min}(\nabla^2 F)",
    "smallest eigenvalue of the Hessian of F",
    lambda run: run.arithmetic.smallest_eigenvalue(run.problem.hessian),
)
noise_deviation = _constant(
    "noise_deviation",
    r"\sigma",
    "sigma, sigma^2 = max_i sup_x E|g_i(x) - grad F_i(x)|^2 on the region",
    lambda run: run.noise_variance.value,
    root=True,
)
gradient_dissimilarity = _constant(
    "gradient_dissimilarity",
    r"\zeta",
    "zeta = sup_x max_i |grad F_i(x) - grad F(x)| on the region",
    lambda run: run.dissimilarity_sq.value,
    root=True,
)
initial_distance = _constant(
    "initial_distance",
    "D",
    "D = |x^0 - x*|, x* the minimiser of F nearest to x^0",
    lambda run: run.initial_distance_sq,
    root=True,
)
initial_gap = _constant("initial_gap", r"F(x^0)-F^*", "F(x^0) - F*", lambda run: run.initial_gap)
