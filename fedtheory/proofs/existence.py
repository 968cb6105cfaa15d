"""What a run may not have: minimisers, periods of whole times, shares where nobody reports.

Where a claim names such a quantity it says nothing of a run without it.  So what it says is used, and what is known of
the quantity, only where something is named that exists on the same runs, or where an assumption says that they do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fedtheory.kernel.expressions import Letter
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import (
    Notion,
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


@dataclass(frozen=True)
class Existing:
    """Quantities that exist on the same runs, and the assumptions each of which says that they do."""

    name: str
    notions: frozenset[Notion]
    by: frozenset[Assumption]


def _existing(name: str, *notions: Notion, by: Assumption) -> Existing:
    return Existing(name, frozenset(notions), frozenset({by}))


KINDS = (
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


def missing(claim: Claim, notions: frozenset[Notion]) -> Iterator[str]:
    """What some notions need to exist, and a claim does not."""
    mine = frozenset(claim.notation.values())
    for kind in KINDS:
        if kind.notions & notions and not kind.notions & mine and not kind.by & {*claim.assumptions}:
            yield kind.name


def letters_that_exist(claim: Claim) -> dict[Letter, Notion]:
    """The letters of a claim, without those that it does not use, of what may not exist."""
    return {s: one for s, one in claim.where.items() if not any(missing(claim, frozenset({one})))}
