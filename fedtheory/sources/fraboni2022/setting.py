"""Defaults of plain FedAvg that the paper's quantities remove from a user's claim.

For example, a claim that mentions staleness concerns any clock instead of synchronous rounds.
"""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.setting import Lifted, list_removals, list_replacements

_CLOCK_QUANTITIES = (
    *(q.staleness, q.largest_staleness, q.reports, q.report_count, q.window, q.buffer, q.common_period),
    *(q.reports_in_a_period, q.most_other_reports, q.update_rate, q.speed_ratio_below, q.speed_ratio_above),
    *(q.remaining_time, q.largest_remaining_time, q.least_remaining_time, q.received_distance_sq, q.received_model),
    *(q.past_step_lengths_sq, q.doubled_server_gap, q.whole_time_suboptimality),
    *(q.doubled_synchronous_suboptimality, q.doubled_asynchronous_suboptimality),
)
_INTERVAL_QUANTITIES = (
    *(q.interval, q.report_interval, q.common_report_interval, q.longest_report_interval),
    *(q.report_chance, q.exponential_share),
)
_TURN_QUANTITIES = (q.cycle_residual, q.even_cycle_distance_sq, q.odd_cycle_distance_sq, q.mean_cycle_distance_sq)
_SAMPLING_QUANTITIES = (
    *(q.weight_pairing, q.weight_excess, q.reporting_excess, q.expected_square_weight),
    *(q.spread_factor, q.fastest_pairing, q.fastest_excess, q.fastest_gap, q.fastest_gradient),
)
_CLIENT_WEIGHT_QUANTITIES = (q.type_importance, q.first_importance)
_AGGREGATION_QUANTITIES = (
    *(q.aggregation_weight, q.largest_aggregation_weight, q.first_weight, q.second_weight, q.weight_sum),
    *(q.expected_weight, q.largest_expected_weight, q.mean_weight, q.mean_weight_sum, q.largest_weight_sum),
    *(q.smallest_weight_sum, q.weight_share, q.mean_weight_share, q.mean_of_shares, q.largest_share),
    *(q.largest_share_of_all, q.exponential_share, q.weight_pairing, q.weight_excess, q.reporting_excess),
    *(q.expected_square_weight, q.spread_factor, q.distance_from_shares_sq),
)
_UPDATE_QUANTITIES = (
    *(q.type_weight, q.type_share, q.mean_type_weight, q.unrepresented_importance, q.chi_sq, q.mean_chi_sq),
    *(q.largest_chi_sq, q.misfit, q.absences, q.misrepresentation, q.mean_misrepresentation, q.unrepresented_gap),
    *(q.mean_unrepresented_gap, q.window_loss, q.window_round_loss, q.window_surrogate_loss, q.window_weight),
    *(q.surrogate_optimum, q.surrogate_objective, q.surrogate_noise, q.surrogate_initial_distance),
    *(q.surrogate_optimum_distance, q.client_gap_at_surrogate_optimum, q.surrogate_at_start),
    *(q.surrogate_optimum_slope_sq, q.surrogate_gap, q.mean_surrogate_gap, q.surrogate_suboptimality),
    *(q.mean_surrogate_suboptimality, q.surrogate_suboptimality_at_step, q.final_surrogate_distance_sq),
    *(q.second_moment_at_surrogate_optimum, q.change_between_optima, q.gradient_deviation_sq),
    *(q.round_optimum, q.mean_round_objective, q.round_optimum_noise, q.round_optimum_mixed_noise),
    *(q.mean_round_optimum_noise, q.mean_round_optimum_mixed_noise, q.residual, q.round_optimum_gap),
    *(q.round_objective_at_start, q.mean_round_objective_at_start, q.round_optimum_slope_sq, q.round_gap),
    *(q.mean_round_gap, q.round_gap_at_step, q.round_objective_at_virtual, q.change_from_round_optimum),
    *(q.second_moment_at_round_optimum, q.surrogate_comparator, q.surrogate_comparator_distance),
    *(q.final_surrogate_comparator_distance_sq, q.comparator_gap, q.mean_comparator_gap, q.comparator_residual),
)
"""Quantities of the surrogate problem, which depend on the weights q_i(n) of each update."""

LIFTED: Lifted = {
    a.every_client: list_removals(*_SAMPLING_QUANTITIES),
    a.importance_weights: list_removals(*_AGGREGATION_QUANTITIES, *_UPDATE_QUANTITIES, *_TURN_QUANTITIES),
    a.synchronous: {
        **list_replacements(a.turns_of_clients, *_TURN_QUANTITIES),
        **list_replacements(a.fixed_intervals, *_INTERVAL_QUANTITIES),
        **list_removals(*_CLOCK_QUANTITIES, *_UPDATE_QUANTITIES),
    },
    a.uniform_shares: list_removals(*_CLIENT_WEIGHT_QUANTITIES, *_AGGREGATION_QUANTITIES, *_UPDATE_QUANTITIES),
}
"""For each part of plain FedAvg, the quantities that remove it, and the assumption that takes its place, if any."""
