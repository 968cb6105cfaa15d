"""Certificates for the bounds against any comparator, one module per setting."""

from fedtheory.sources.comparator.certificates import (
    full_rounds,
    last_model,
    last_rounds,
    own_curvatures,
    sampled_rounds,
    strongly_convex,
)

CERTIFICATES = [
    *full_rounds.CERTIFICATES,
    *sampled_rounds.CERTIFICATES,
    *strongly_convex.CERTIFICATES,
    *last_rounds.CERTIFICATES,
    *last_model.CERTIFICATES,
    *own_curvatures.CERTIFICATES,
]
