"""Existence of objects that a run may lack: minimisers, integer periods, weights without reports.

Where a claim names such a quantity it says nothing of a run without it.  So what it says is used, and what is known of
the quantity, only where something is named that exists on the same runs, or where an assumption says that they do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fedtheory.kernel.expressions import Symbol
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import (
    Quantity,
    client_gap_at_surrogate_optimum,
    largest_chi_sq,
    mean_misrepresentation,
)

PER_SHARE = (
    q.weight_share,
    q.largest_share,
    q.client_spread,
    q.mean_square_gradient,
    q.square_mean_gradient,
    q.round_optimum_noise,
    q.round_optimum_mixed_noise,
    q.misrepresentation,
    q.chi_sq,
    q.square_mean_gradient_at_step,
    q.past_mean_square_gradient,
    q.mixed_gradient_change,
    q.mixed_noise_at_virtual,
    q.mean_gradient_at_virtual_sq,
    q.gradient_deviation_sq,
)
"""Quantities of updates that are known only where somebody has a weight in each."""


FROM_OPTIMUM: frozenset[Quantity] = frozenset(
    {
        q.optimum,
        q.initial_distance,
        q.initial_gap,
        q.average_suboptimality,
        q.discounted_suboptimality,
        q.last_round_suboptimality,
        q.final_suboptimality,
        q.final_distance_sq,
        q.round_suboptimality,
        q.suboptimality_at_step,
        q.suboptimality_after_step,
        q.server_suboptimality,
        q.server_suboptimality_after,
        q.server_distance_sq,
        q.next_server_distance_sq,
        q.server_distance_after_sq,
        q.best_aggregated_suboptimality,
        q.mean_server_suboptimality,
        q.final_mean_distance_sq,
        q.total_progress,
        q.limiting_suboptimality,
        q.limiting_model_suboptimality,
        q.limiting_distance_sq,
        q.limiting_mean_distance_sq,
        q.leading_limiting_distance_sq,
        q.optimum_displacement_sq,
        q.optimum_gradient,
        q.optimum_noise,
        q.noise_at_optimum,
        q.dissimilarity_at_optimum,
        q.client_gap_at_optimum,
        q.client_optimum_distance,
        q.optimal_value_gap,
        q.comparator,
        q.comparator_suboptimality,
        q.comparator_distance,
        q.comparator_noise,
        q.comparator_dissimilarity,
        q.comparator_curved_noise,
        q.comparator_curved_dissimilarity,
        q.total_comparator_progress,
        q.final_comparator_distance_sq,
        q.interval_start_gap,
        q.interval_end_gap,
        q.next_interval_start_gap,
        q.last_interval_gap,
        q.reciprocal_progress,
        q.smallest_gap,
        q.nearest_start,
        q.whole_time_suboptimality,
        q.doubled_synchronous_suboptimality,
        q.doubled_asynchronous_suboptimality,
        q.synchronous_final_suboptimality,
        q.asynchronous_final_suboptimality,
        q.mixed_descent,
        q.selected_descent,
        q.server_descent,
        q.fastest_gap,
        q.fastest_gradient,
        q.small_step_bias,
        q.distance_to_small_step_limit,
        q.surrogate_optimum_distance,
        q.second_order_residual,
        q.first_energy,
        q.last_energy,
        q.virtual_suboptimality,
        q.mean_virtual_suboptimality,
        q.virtual_distance_sq,
        q.next_virtual_distance_sq,
        q.virtual_start_distance_sq,
        q.virtual_end_distance_sq,
    }
)
"""What is measured from x* or F*, which only an objective that is bounded below has."""


@dataclass(frozen=True)
class Existing:
    """Quantities that exist on the same runs, and the assumptions each of which says that they do."""

    name: str
    quantities: frozenset[Quantity]
    by: frozenset[Assumption]


def _existing(name: str, *quantities: Quantity, by: Assumption) -> Existing:
    return Existing(name, frozenset(quantities), frozenset({by}))


OPTIMUM = Existing("a minimiser of F", FROM_OPTIMUM, a.IMPLY_CONVEXITY)
KINDS = (
    OPTIMUM,
    Existing(
        "smallest curvatures of convex clients",
        frozenset[Quantity]({q.strong_convexity, q.client_strong_convexity}),
        a.IMPLY_CONVEXITY,
    ),
    Existing(
        "a comparator of the updates",
        frozenset[Quantity](
            {
                *(q.surrogate_comparator, q.surrogate_comparator_distance, q.final_surrogate_comparator_distance_sq),
                *(q.comparator_alignment, q.comparator_gap, q.mean_comparator_gap, q.comparator_residual),
                *(q.comparator_progress, q.mean_comparator_progress),
            }
        ),
        a.IMPLY_CONVEXITY,
    ),
    Existing(
        "the smallest curvature of a convex objective", frozenset[Quantity]({q.smallest_curvature}), a.IMPLY_CONVEXITY
    ),
    _existing(
        "minimisers of the clients",
        *(q.client_optimum, q.client_optimum_distance, q.relative_noise, q.absolute_noise),
        *(q.client_gap_at_optimum, client_gap_at_surrogate_optimum, q.optimal_value_gap),
        *(q.virtual_client_gap, q.unrepresented_gap, q.mean_unrepresented_gap),
        *(q.misrepresentation, mean_misrepresentation),
        by=a.strongly_convex_clients,
    ),
    _existing(
        "minimisers of the updates",
        *(q.round_gap, q.round_gap_at_step, q.mean_round_gap, q.round_optimum_gap, q.round_optimum_slope_sq),
        *(q.round_optimum_noise, q.round_optimum_mixed_noise, q.mean_round_optimum_noise),
        *(q.mean_round_optimum_mixed_noise, q.change_from_round_optimum, q.second_moment_at_round_optimum),
        *(q.residual, q.comparator_residual, q.misrepresentation, mean_misrepresentation, q.change_between_optima),
        by=a.strongly_convex_clients,
    ),
    _existing(
        "a minimiser of the surrogate problem",
        *(q.surrogate_optimum, q.surrogate_optimum_distance, q.surrogate_optimum_slope_sq),
        *(q.surrogate_initial_distance, q.final_surrogate_distance_sq, q.residual, client_gap_at_surrogate_optimum),
        *(q.surrogate_gap, q.mean_surrogate_gap, q.alignment, q.selected_alignment, q.progress, q.mean_progress),
        *(q.surrogate_suboptimality_at_step, q.surrogate_suboptimality, q.mean_surrogate_suboptimality),
        *(q.surrogate_noise, q.second_moment_at_surrogate_optimum),
        by=a.strongly_convex_clients,
    ),
    _existing("the minimiser for small steps", q.small_step_optimum, q.small_step_bias, by=a.strongly_convex_clients),
    _existing("periods of whole times", q.common_period, q.reports_in_a_period, by=a.whole_times),
    _existing(
        "shares of the clients in every update",
        *(*PER_SHARE, q.mean_round_optimum_noise, q.mean_round_optimum_mixed_noise, mean_misrepresentation),
        *(q.type_share, largest_chi_sq, q.largest_share_of_all, q.mean_of_shares, q.distance_from_shares_sq),
        *(q.past_gradient_spread, q.weighted_past_sum, q.past_sum_of_sums, q.sum_without_last),
        by=a.somebody_reports,
    ),
)


def missing(claim: Claim, quantities: frozenset[Quantity]) -> Iterator[str]:
    """Return the existence assumptions of some quantities that a claim lacks."""
    yield from (kind.name for kind in KINDS if kind.quantities & quantities and not is_known(kind, claim))


def is_known(kind: Existing, claim: Claim) -> bool:
    """Whether a claim speaks of what exists on the same runs, or makes an assumption that says that it exists."""
    return bool(kind.quantities & frozenset(claim.notation.values()) or kind.by & {*claim.assumptions})


def select_existing_symbols(claim: Claim) -> dict[Symbol, Quantity]:
    """The symbols of a claim, without those that it does not use, of what may not exist."""
    return {s: one for s, one in claim.where.items() if not any(missing(claim, frozenset({one})))}
