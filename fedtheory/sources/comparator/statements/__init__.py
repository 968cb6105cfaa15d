"""The statements, one module per setting."""

from fedtheory.sources.comparator.statements import (
    client_curvatures,
    discounted_averages,
    full_rounds,
    last_model,
    last_rounds,
    sampled_rounds,
    sampled_strong_convexity,
    strong_convexity,
)

CLAIMS = (
    *full_rounds.CLAIMS,
    *strong_convexity.CLAIMS,
    *sampled_rounds.CLAIMS,
    *sampled_strong_convexity.CLAIMS,
    *discounted_averages.CLAIMS,
    *last_rounds.CLAIMS,
    *last_model.CLAIMS,
    *client_curvatures.CLAIMS,
)
