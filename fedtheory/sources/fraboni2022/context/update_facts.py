"""Facts about updates of scheme (6), by the definitions of their quantities; trusted like the kernel."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.proofs.facts import least, n, zero

SCHEME = (a.aggregation_scheme,)
CONVEX = (*SCHEME, a.convex_and_smooth)

SPREAD = least("a mean squared distance is not negative", n.client_spread, *SCHEME)
SQUARE_GRADIENT = least("a mean of squared lengths is not negative", n.mean_square_gradient, *SCHEME)
MEAN_GRADIENT = least("the squared length of a mean is not negative", n.square_mean_gradient, *SCHEME)
PAST_MOVES = least("a sum of squared lengths is not negative", n.past_step_lengths_sq, *SCHEME)
MEAN_MOVE = least("a mean of squared moves is not negative", n.mean_step_length_sq, *SCHEME)
FINAL_SURROGATE_DISTANCE = least(
    "a squared distance from the surrogate optimum is not negative", n.final_surrogate_distance_sq, *SCHEME
)
ROUND_GAP = least("the gap above the least value of L^n is not negative", n.round_gap, *CONVEX)
OPTIMUM_NOISE = least("a second moment at the optimum of L^n is not negative", n.round_optimum_noise, *SCHEME)
MIXED_OPTIMUM_NOISE = least(
    "a mixed second moment at the optimum of L^n is not negative", n.round_optimum_mixed_noise, *SCHEME
)
MEAN_OPTIMUM_NOISE = least("a mean of second moments is not negative", n.mean_round_optimum_noise, *SCHEME)
MEAN_MIXED_NOISE = least("a mean of mixed second moments is not negative", n.mean_round_optimum_mixed_noise, *SCHEME)
RESIDUAL = least("a mean of gaps above the least values of the L^n is not negative", n.residual, *CONVEX)
GAPS = zero(
    "the gaps at the virtual iterates are those above the surrogate optimum, and the residual",
    n.mean_round_gap - n.mean_surrogate_gap - n.residual,
    *SCHEME,
)
TELESCOPED_UPDATES = zero(
    "the progress of the updates telescopes: an update ends where the next one starts",
    n.local_steps * n.rounds * n.mean_progress - n.final_surrogate_distance_sq + n.surrogate_initial_distance**2,
    *SCHEME,
)
COMPARATOR_RESIDUAL = least(
    "a mean of gaps of a point above the least values of the L^n is not negative", n.comparator_residual, *CONVEX
)
COMPARATOR_GAPS = zero(
    "the gaps at the virtual iterates are those above the comparator, and its residual",
    n.mean_round_gap - n.mean_comparator_gap - n.comparator_residual,
    *SCHEME,
)
FINAL_SURROGATE_COMPARATOR_DISTANCE = least(
    "a squared distance from the comparator of updates is not negative",
    n.final_surrogate_comparator_distance_sq,
    *SCHEME,
)
TELESCOPED_FROM_Y = zero(
    "the progress of the updates towards the comparator telescopes: an update ends where the next one starts",
    n.local_steps * n.rounds * n.mean_comparator_progress
    - n.final_surrogate_comparator_distance_sq
    + n.surrogate_comparator_distance**2,
    *SCHEME,
)
STEP_NUMBERS = least(
    "no local step has a larger number than K - 1",
    (n.local_steps - 1) * n.past_sum_of_sums - n.weighted_past_sum,
    *SCHEME,
)
EARLIER_SUMS = least(
    "no sum over the steps before one of K - 1 others is larger than that of all but the last",
    (n.local_steps - 1) * n.sum_without_last - n.past_sum_of_sums,
    *SCHEME,
)
LAST_STEP = least(
    "a sum without its last member is not larger", n.local_steps * n.mean_square_gradient - n.sum_without_last, *SCHEME
)
PAIRING = least(
    "two weights of an update have at most the product of their means (Assumption 5)",
    1 - n.weight_pairing,
    a.weight_covariance,
)
REPORTING_EXCESS = least(
    "a given weight is at most the sum of all", n.largest_weight_sum - n.reporting_excess, *SCHEME, a.given_weights
)
MEAN_WEIGHTS = least(
    "a mean of sums of weights is at most the largest", n.largest_weight_sum - n.mean_weight_sum, *SCHEME
)
LOSS = least("the loss above its least value is not negative", n.virtual_suboptimality, *CONVEX)
FAIR_LOSS = zero(
    "for fair types the gap of an update is a multiple of the loss above its least value",
    n.weight_sum * n.virtual_suboptimality - n.round_gap,
    *CONVEX,
    a.fair_types,
)
FAIR_RESIDUAL = zero("for fair types all updates have the optimum of the federated problem", n.residual, a.fair_types)
