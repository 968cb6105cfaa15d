"""Heterogeneity of the clients: dissimilarity of their gradients, distances between their optima."""

from __future__ import annotations

from functools import cache

from fedtheory.language import assumptions as a
from fedtheory.language.quantities.measuring.axes import place_on_clients
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP
from fedtheory.language.quantities.measuring.symbols import CLIENT_OPTIMUM, OPTIMUM, define_by, square
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
client_optimum_distance = constant(
    "client_optimum_distance",
    r"\|w_k^o-w^o\|",
    "distance of each client's minimiser from that of F",
    lambda run: place_on_clients(((run.problem.client_optima - run.problem.optimum) ** 2).sum(axis=1)),
    root=True,
    term=define_by(square(CLIENT_OPTIMUM - OPTIMUM), FIRST_STEP, FIRST_ROUND),
)
