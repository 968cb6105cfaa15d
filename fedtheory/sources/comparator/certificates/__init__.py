"""Certificates for the bounds against any comparator, one module per setting."""

from fedtheory.sources.comparator.certificates import (
    client_curvatures,
    full_rounds,
    last_model,
    last_rounds,
    sampled_rounds,
    strongly_convex,
)

CERTIFICATES = [
    *full_rounds.CERTIFICATES,
    *sampled_rounds.CERTIFICATES,
    *strongly_convex.CERTIFICATES,
    *last_rounds.CERTIFICATES,
    *last_model.CERTIFICATES,
    *client_curvatures.CERTIFICATES,
]
