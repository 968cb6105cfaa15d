"""Constants of the objectives and of the start: curvatures, Lipschitz constants, distances, values."""

from __future__ import annotations

from typing import Any

from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language import assumptions as a
from fedtheory.language.quantities.measuring.axes import place_on_clients
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP, LARGEST_CLIENT
from fedtheory.language.quantities.measuring.symbols import OPTIMUM, SERVER, define_by, gap, square
from fedtheory.language.quantities.measuring.terms import reduce_entries
from fedtheory.language.quantities.quantity import assumed, constant, extremal_constant, setting

clients = setting("clients", "M", "number of clients", lambda run: run.arithmetic.number(run.clients, "M"))
importance = setting(
    "importance", "p_i", "importance of each client in the objective", lambda run: place_on_clients(run.client_weights)
)
largest_importance = reduce_entries(
    "largest_importance", r"p_{\max}", "the largest importance of a client", importance, LARGEST_CLIENT
)
smoothness = extremal_constant(
    "smoothness",
    "L",
    "max_i of the largest curvature of F_i in modulus, for quadratics the largest modulus of an eigenvalue of H_i",
    lambda run: run.smoothness,
    assumption=a.smooth,
)
strong_convexity = extremal_constant(
    "strong_convexity",
    r"\mu",
    "min_i of the smallest curvature of F_i, for quadratics the smallest eigenvalue of H_i",
    lambda run: run.strong_convexity,
    assumption=a.strongly_convex_clients,
)
objective_smoothness = extremal_constant(
    "objective_smoothness",
    r"\delta",
    "largest modulus of an eigenvalue of the Hessian of F",
    lambda run: run.objective_smoothness,
)


def _measure_smallest_curvature(run: Run) -> Any:
    if run.smallest_curvature < 0:
        raise NotApplicable("the objective F is not convex: it has a negative curvature")
    return run.smallest_curvature


smallest_curvature = extremal_constant(
    "smallest_curvature",
    r"\lambda_{\min}(\nabla^2 F)",
    "smallest eigenvalue of the Hessian of F, where F is convex",
    _measure_smallest_curvature,
)
client_smoothness = extremal_constant(
    "client_smoothness",
    r"\delta_k",
    "largest modulus of an eigenvalue of each client's Hessian",
    lambda run: place_on_clients(run.client_smoothness),
    assumption=a.smooth,
)
client_strong_convexity = extremal_constant(
    "client_strong_convexity",
    r"\nu_k",
    "smallest eigenvalue of each client's Hessian",
    lambda run: place_on_clients(run.client_strong_convexity),
    assumption=a.strongly_convex_clients,
)
mean_square_smoothness = extremal_constant(
    "mean_square_smoothness",
    r"\hat\delta_k",
    "the smallest constant with E|g_k(w_1) - g_k(w_2)|^2 <= hat delta_k^2 |w_1 - w_2|^2 for one draw in both gradients",
    lambda run: place_on_clients(run.client_mean_square_smoothness),
    root=True,
)
sample_smoothness = extremal_constant(
    "sample_smoothness",
    r"L_\xi",
    "the largest curvature of an objective that is sampled: the L of single samples, of the clients without them",
    lambda run: run.sample_smoothness,
)
lipschitz = assumed(
    "lipschitz",
    r"\rho",
    "rho = max_i sup_x |grad F_i(x)| on the region, where F_i is rho-Lipschitz",
    a.lipschitz_losses,
)


initial_distance = constant(
    "initial_distance",
    "D",
    "D = |x^0 - x*|, x* the minimiser of F nearest to x^0",
    lambda run: run.initial_distance_sq,
    root=True,
    term=define_by(square(SERVER - OPTIMUM), FIRST_STEP, FIRST_ROUND),
)
initial_gap = constant(
    "initial_gap",
    r"F(x^0)-F^*",
    "F(x^0) - F*",
    lambda run: run.initial_gap,
    term=define_by(gap(SERVER), FIRST_STEP, FIRST_ROUND),
)
