"""Heterogeneity of the clients: dissimilarity of their gradients, distances between their optima."""

from __future__ import annotations

from functools import cache

from fedtheory.language import assumptions as a
from fedtheory.language.quantities.quantity import QuantityFamily, RunQuantity, assumed, supremum

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
def _define_growth(factor: int) -> RunQuantity:
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
    _define_growth,
)
