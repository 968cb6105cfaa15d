"""Heterogeneity of the clients: dissimilarity of their gradients, distances between their optima."""

from __future__ import annotations

from functools import cache
from typing import Any

from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average, Expectation, Value
from fedtheory.language import assumptions as a
from fedtheory.language.quantities.measuring.axes import place_on_clients
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP
from fedtheory.language.quantities.measuring.symbols import CLIENT_OBJECTIVE, CLIENT_OPTIMUM, OPTIMUM, define_by, square
from fedtheory.language.quantities.measuring.terms import term_at_steps
from fedtheory.language.quantities.quantity import QuantityFamily, RunQuantity, assumed, constant, supremum

gradient_dissimilarity = assumed(
    "gradient_dissimilarity",
    r"\zeta",
    "zeta = sup_x max_i |grad F_i(x) - grad F(x)| on the region",
    a.bounded_dissimilarity,
)
mean_dissimilarity = assumed(
    "mean_dissimilarity",
    r"\sigma_G",
    "sigma_G, sigma_G^2 = sup_x sum_i p_i |grad F_i(x) - grad F(x)|^2 on the region",
    a.bounded_mean_dissimilarity,
)


@cache
def _growth(factor: int) -> RunQuantity:
    """The smallest G with ``sum_i p_i |grad F_i(x)|^2 <= G^2 + B^2 |grad F(x)|^2`` on the region, B = `factor`."""
    return supremum(
        f"gradient_growth_{factor}",
        f"G_{{B={factor}}}",
        f"the smallest G with sum_i p_i |grad F_i|^2 <= G^2 + B^2 |grad F|^2 on the region, for B = {factor}",
        lambda run: run.gradient_growth_sq(run.arithmetic.number(factor, "B")),
    )


gradient_growth = QuantityFamily(
    "gradient_growth",
    "G_B",
    "gradient_growth(B), the smallest G with sum_i p_i |grad F_i|^2 <= G^2 + B^2 |grad F|^2 on the region",
    _growth,
)
client_dissimilarity = supremum(
    "client_dissimilarity",
    r"\delta_i",
    "delta_i = sup_x |grad F_i(x) - grad F(x)| on the region, for each client",
    lambda run: run.client_dissimilarities_sq,
    a.bounded_dissimilarity,
)
mean_divergence = constant(
    "mean_divergence",
    r"\delta",
    "delta = sum_i p_i delta_i, the mean of the clients' gradient divergences on the region",
    lambda run: run.arithmetic.sqrt(run.client_dissimilarities_sq.value) @ run.problem.weights,
    region=lambda run: run.client_dissimilarities_sq.region,
    assumption=a.bounded_dissimilarity,
    term=term_at_steps(Average(client_dissimilarity.symbol), client_dissimilarity),
)
client_optimum_distance = constant(
    "client_optimum_distance",
    r"\|w_k^o-w^o\|",
    "distance of each client's minimiser from that of F",
    lambda run: place_on_clients(((run.problem.client_optima - run.problem.optimum) ** 2).sum(axis=1)),
    root=True,
    term=define_by(square(CLIENT_OPTIMUM - OPTIMUM), FIRST_STEP, FIRST_ROUND),
)
client_gap_at_optimum = constant(
    "client_gap_at_optimum",
    r"\mathcal L_i(\theta^*)-\mathcal L_i(\theta_i^*)",
    "L_i(x*) - L_i* of each client, x* the optimum of the federated problem",
    lambda run: place_on_clients(
        run.surrogate.client_values(run.problem.about_optimum.optimum) - run.surrogate.least_client_values
    ),
    term=define_by(
        Expectation(Value(CLIENT_OBJECTIVE, OPTIMUM) - Value(CLIENT_OBJECTIVE, CLIENT_OPTIMUM)), FIRST_STEP, FIRST_ROUND
    ),
)


def _optimal_value_gap(run: Run) -> Any:
    """Return F* minus the client average of the clients' least values."""
    return run.problem.optimal_value - run.surrogate.least_client_values @ run.problem.weights


optimal_value_gap = constant(
    "optimal_value_gap",
    r"\Gamma",
    "Gamma = F* - sum_i p_i F_i*, F_i* the least value of F_i",
    _optimal_value_gap,
    term=define_by(
        Average(Expectation(Value(CLIENT_OBJECTIVE, OPTIMUM) - Value(CLIENT_OBJECTIVE, CLIENT_OPTIMUM))),
        FIRST_STEP,
        FIRST_ROUND,
    ),
)
