"""Divergences of the clients' gradients from that of F, and the Lipschitz constant of F."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average
from fedtheory.language import assumptions as a
from fedtheory.language.quantities.measuring.terms import term_at_steps
from fedtheory.language.quantities.quantity import constant, supremum

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
objective_lipschitz = supremum(
    "objective_lipschitz",
    r"\rho_F",
    "rho_F = sup_x |grad F(x)| on the region, where F is rho_F-Lipschitz",
    lambda run: run.objective_lipschitz_sq,
)
