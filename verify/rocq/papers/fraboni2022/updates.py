"""Updates with stale models in Rocq: names of quantities, hypotheses of assumptions, and lemmas of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import Quantity
from fedtheory.proofs import facts
from fedtheory.proofs.decoding import FACTS as KNOWN

SAMPLES: Mapping[Quantity, str] = {
    q.sample_smoothness: "L_xi",
    q.spread_factor: "spread_factor A alpha d",
    q.progress: "progress A bar n",
    q.comparator_progress: "progress A y n",
    q.selected_alignment: "selected_alignment A bar n",
    q.mean_step_length_sq: "mean_step_length_sq A",
    q.client_distance_sq: "client_distance_sq A n k i",
    q.past_applied_spread: "past_applied_spread A n k i",
    q.past_mean_square_gradient: "past_mean_square_gradient A n k",
    q.local_step_index: "INR k",
    q.round_gap_at_step: "round_gap_at A bar_n n k",
    q.stale_gradient_change: "stale_change A draw n k i",
    q.mixed_gradient_change: "mixed_change A draw n k",
    q.change_from_round_optimum: "change_from_optimum A draw bar_n n k i",
    q.virtual_second_moment: "virtual_second_moment A draw n k i",
    q.mixed_noise_at_virtual: "mixed_noise A draw n k",
    q.second_moment_at_round_optimum: "optimum_moment A draw bar_n n i",
    q.round_optimum_noise: "optimum_noise A draw bar_n n",
    q.round_optimum_mixed_noise: "mixed_optimum_noise A draw bar_n n",
    q.mean_round_optimum_noise: "mean_optimum_noise A draw bar_n",
    q.mean_round_optimum_mixed_noise: "mean_mixed_optimum_noise A draw bar_n",
}

COMPARATORS: Mapping[Quantity, str] = {
    q.surrogate_comparator_distance: "initial_distance A y",
    q.final_surrogate_comparator_distance_sq: "server_distance_sq A y (updates A)",
    q.comparator_alignment: "alignment A y n",
    q.comparator_gap: "surrogate_gap A y n",
    q.mean_comparator_progress: "mean_progress A y",
    q.mean_comparator_gap: "mean_surrogate_gap A y",
    q.comparator_residual: "residual A y bar_n",
}
"""Names for an arbitrary point: those of the surrogate optimum, on which the library has no hypothesis."""

TYPES: Mapping[Quantity, str] = {
    q.virtual_client_gap: "virtual_client_gap A own n k i",
    q.unrepresented_importance: "unrepresented_importance A n i",
    q.virtual_gradient_lengths: "client_slope_sq A n k i",
    q.misrepresentation: "misrepresentation A own bar_n n",
    q.unrepresented_gap: "unrepresented_gap A own n",
    q.largest_chi_sq: "largest_chi_sq A",
    q.virtual_gradient_sq: "virtual_gradient_sq A n",
    q.mean_virtual_gradient_sq: "mean_virtual_gradient_sq A",
    q.mean_virtual_suboptimality: "mean_virtual_suboptimality A star",
}
"""Names of `library/Types.v`."""

WINDOWS: Mapping[Quantity, str] = {
    q.gradient_bound: "B_g",
    q.local_change_sq: "local_change_sq A n i",
    q.virtual_loss_change: "virtual_loss_change A n k i",
    q.window_loss: "window_loss A W b i",
    q.window_round_loss: "window_round_loss A W b i",
    q.window_weight: "window_weight A W b i",
    q.mean_weight_sum: "mean_weight_sum A",
    q.mean_weight_share: "mean_weight_share A i",
    q.client_gap_at_surrogate_optimum: "client_gap_at_surrogate_optimum A own bar i",
    q.surrogate_suboptimality_at_step: "surrogate_suboptimality_at A bar n k",
    q.surrogate_suboptimality: "surrogate_suboptimality A bar n",
    q.mean_surrogate_suboptimality: "mean_surrogate_suboptimality A bar",
}
"""Names of `library/Windows.v`."""

_ROUND_OPTIMUM = "minimiser_bar_n n Hn"

_SAMPLE_FACTS: Mapping[str, Sequence[str]] = {
    KNOWN["spread"].name: ("client_spread_nonneg A n",),
    KNOWN["square_gradient"].name: ("mean_square_nonneg A n",),
    KNOWN["mean_gradient"].name: ("square_mean_gradient_nonneg A n",),
    KNOWN["past_moves"].name: ("past_moves_nonneg A n",),
    KNOWN["mean_move"].name: ("mean_move_nonneg A",),
    KNOWN["round_gap"].name: (f"round_gap_nonneg A bar_n n ({_ROUND_OPTIMUM})",),
    KNOWN["optimum_noise"].name: ("optimum_noise_nonneg A draw bar_n n",),
    KNOWN["mixed_optimum_noise"].name: ("mixed_optimum_noise_nonneg A draw bar_n n",),
    KNOWN["mean_optimum_noise"].name: ("mean_optimum_noise_nonneg A draw bar_n",),
    KNOWN["mean_mixed_noise"].name: ("mean_mixed_optimum_noise_nonneg A draw bar_n",),
    KNOWN["residual"].name: ("residual_nonneg A bar bar_n minimiser_bar_n",),
    KNOWN["comparator_residual"].name: ("residual_nonneg A y bar_n minimiser_bar_n",),
    KNOWN["comparator_gaps"].name: ("gaps_split A y bar_n",),
    KNOWN["telescoped_from_y"].name: ("telescoped A y scheme",),
    KNOWN["final_surrogate_comparator_distance"].name: ("server_distance_nonneg A y (updates A)",),
    KNOWN["mean_weights"].name: ("mean_sum_below A",),
}
"""For each fact the lemmas of the library of which one proves it."""

_START = "(model A O)"

UPDATES: Mapping[Quantity, str] = {
    q.clients: "M_of A",
    q.rounds: "N_of A",
    q.local_steps: "K_of A",
    q.local_step_size: "local_size A",
    q.server_step_size: "server_size A",
    q.importance: "share (clients_of A) i",
    q.expected_weight: "expected_weight A n i",
    q.weight_share: "weight_share A n i",
    q.weight_sum: "weight_sum A n",
    q.smallest_weight_sum: "smallest_weight_sum A",
    q.mean_weight: "mean_weight A i",
    q.type_importance: "type_importance A i",
    q.type_weight: "type_weight A n i",
    q.type_share: "type_share A n i",
    q.client_value_at_start: f"value (objective_of A i) {_START}",
    q.objective_at_start: f"value (federated A) {_START}",
    q.round_objective_at_start: f"value (round_objective A n) {_START}",
    q.mean_round_objective_at_start: f"mean_over_updates A (fun n => value (round_objective A n) {_START})",
    q.surrogate_at_start: f"value (surrogate A) {_START}",
    q.server_distance_sq: "server_distance_sq A star n",
    q.server_distance_after_sq: "server_distance_sq A star (S n)",
    q.virtual_start_distance_sq: "distance_sq A star n O",
    q.virtual_end_distance_sq: "distance_sq A star n (steps A)",
    q.round_optimum_slope_sq: "‖grad (round_objective A n) (bar_n n)‖²",
    q.surrogate_optimum_slope_sq: "‖grad (surrogate A) bar‖²",
    q.residual: "residual A bar bar_n",
    q.round_gap: "round_gap A bar_n n",
    q.mean_round_gap: "mean_round_gap A bar_n",
    q.mean_surrogate_gap: "mean_surrogate_gap A bar",
    q.virtual_suboptimality: "virtual_suboptimality A star n",
    q.mean_progress: "mean_progress A bar",
    q.surrogate_initial_distance: "initial_distance A bar",
    q.final_surrogate_distance_sq: "server_distance_sq A bar (updates A)",
    q.mean_square_gradient: "mean_square_gradient A n",
    q.past_sum_of_sums: "past_sum_of_sums A n",
    q.weighted_past_sum: "weighted_past_sum A n",
    q.surrogate_optimum_distance: "length (bar - star)%vec",
    q.chi_sq: "chi_sq A n",
    q.mean_chi_sq: "mean_chi_sq A",
    q.absences: "absences A",
    q.mean_misrepresentation: "mean_misrepresentation A own bar_n",
    q.mean_unrepresented_gap: "mean_unrepresented_gap A own",
    q.window: "INR W",
    q.full_gradient_bound: "full_gradient_bound A",
    q.weight_pairing: "alpha",
    q.weight_excess: "weight_excess A alpha d",
    q.expected_square_weight: "expected_square A d n i",
    q.stochastic_gradient_sq: "gradient_sq A n k i",
    q.square_mean_gradient_at_step: "square_mean_at A n k",
    q.selected_gradient_sq: "selected_sq A n k",
    q.square_mean_gradient: "square_mean_gradient A n",
    q.step_length_sq: "step_length_sq A n",
    q.past_step_lengths_sq: "past_step_lengths_sq A n",
    q.received_distance_sq: "received_distance_sq A n i",
    q.largest_staleness: "largest_staleness A",
    q.objective_gradient_sq: "slope_sq A (federated A) n k",
    q.mean_gradient_at_virtual_sq: "slope_sq A (shared_objective A n) n k",
    q.gradient_deviation_sq: "slope_difference_sq A n k",
    q.smoothness: "L",
    q.virtual_distance_sq: "distance_sq A star n k",
    q.next_virtual_distance_sq: "distance_sq A star n (S k)",
    q.virtual_step_sq: "virtual_step_sq A n k",
    q.selected_descent: "selected_descent A star n k",
    q.largest_share: "largest_share A n",
    q.client_spread: "client_spread A n",
    q.alignment: "alignment A bar n",
    q.surrogate_gap: "surrogate_gap A bar n",
    q.reporting_excess: "reporting_excess A alpha d",
    q.largest_weight_sum: "largest_weight_sum A",
    q.sum_without_last: "sum_without_last A n",
    **SAMPLES,
    **COMPARATORS,
    **TYPES,
    **WINDOWS,
}

UPDATE_ASSUMED: Mapping[Assumption, tuple[str, str]] = {
    a.aggregation_scheme: ("scheme", "aggregation_scheme A"),
    a.somebody_reports: ("somebody_reports", "no_empty_update A"),
    a.fair_types: ("fair", "fair_types A"),
    a.one_type: ("one_type_A", "one_type A"),
    a.synchronous: ("synchronous_A", "synchronous A"),
}

UPDATE_FACTS: Mapping[str, Sequence[str]] = {
    KNOWN["shares"].name: ("shares_add_up A n somebody_reports Hn",),
    KNOWN["sync_residual"].name: ("same_problem A bar bar_n synchronous_A minimiser_bar minimiser_bar_n",),
    KNOWN["fair_updates"].name: ("shares_of_importances A n i equation1",),
    KNOWN["fair_optimum"].name: ("fair_optimum A fair star bar minimiser_star minimiser_bar unique_star",),
    KNOWN["fair_chi"].name: (
        "fair_share A fair n i Hn Hi",
        "fair_chi A fair n Hn",
        "fair_mean_chi A fair",
        "fair_misrepresentation A fair own bar_n",
    ),
    KNOWN["fair_absences"].name: ("fair_unrepresented A fair own", "fair_absences A fair positive_importances_A"),
    KNOWN["sync_chi"].name: ("same_shares A n synchronous_A",),
    "all updates have the same expected weights": ("window_of_same A W synchronous_A smallest_window_W",),
    facts.ONE.name: ("Rle_0_1",),
    KNOWN["pairing"].name: ("pairing_below_one A alpha d weights",),
    KNOWN["reporting_excess"].name: ("excess_of_given A alpha d weights given",),
    KNOWN["gaps"].name: ("gaps_split A bar bar_n",),
    KNOWN["telescoped_updates"].name: ("telescoped A bar scheme",),
    KNOWN["final_surrogate_distance"].name: ("server_distance_nonneg A bar (updates A)",),
    KNOWN["step_numbers"].name: ("step_numbers A n",),
    KNOWN["earlier_sums"].name: ("earlier_sums A n",),
    KNOWN["last_step"].name: ("without_last A n",),
    KNOWN["fair_residual"].name: ("fair_residual A fair bar bar_n minimiser_bar minimiser_bar_n",),
    KNOWN["fair_loss"].name: ("fair_loss A fair star bar_n n Hn minimiser_star (minimiser_bar_n n Hn)",),
    KNOWN["loss"].name: ("loss_nonneg A star n minimiser_star",),
    "the virtual iterate starts at the server's model, and ends where that goes": (
        "virtual_starts A star n",
        "virtual_ends A star n scheme",
    ),
    "a sum of objectives has no slope where it is least": (
        "no_slope A (round_objective A n) (bar_n n) (minimiser_bar_n n Hn)",
        "no_slope A (surrogate A) bar minimiser_bar",
    ),
    "sums of objectives have the sums of their values": (
        f"mean_of_objectives A {_START}",
        f"surrogate_by_values A {_START}",
        f"federated_by_types A {_START}",
        f"update_by_types A n {_START}",
    ),
    "a share in an update is a weight over the sum of its weights": ("share_of_weight A n i somebody_reports Hn",),
    **_SAMPLE_FACTS,
}
"""For each fact the lemmas of the library of which one proves it."""
