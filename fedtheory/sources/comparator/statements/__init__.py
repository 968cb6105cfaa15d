"""The statements, one module per setting."""

from fedtheory.sources.comparator.statements import (
    forgetting_means,
    full_rounds,
    last_model,
    last_rounds,
    own_curvatures,
    sampled_rounds,
    sampled_strong_convexity,
    strong_convexity,
)

CLAIMS = (
    *full_rounds.CLAIMS,
    *strong_convexity.CLAIMS,
    *sampled_rounds.CLAIMS,
    *sampled_strong_convexity.CLAIMS,
    *forgetting_means.CLAIMS,
    *last_rounds.CLAIMS,
    *last_model.CLAIMS,
    *own_curvatures.CLAIMS,
)
