"""Signs by definition: square roots are constant on a run, and few signs are listed separately."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.errors import FedtheoryError
from fedtheory.language import quantities as q
from fedtheory.language.quantities.measuring.terms import compile_term
from fedtheory.language.quantities.quantity import MeanOverRounds, RunQuantity
from fedtheory.language.signs import iterate_run_quantities
from fedtheory.proofs import numbers
from verify.instances import Instance

ROOTS = [one for one in iterate_run_quantities() if one.root and one in numbers.NUMBERS]


@pytest.mark.parametrize("family", ["short rounds", "sampled clients", "asynchronous cycles", "full gradients"])
def test_square_roots_are_one_number_of_a_run(family: str) -> None:
    """A square root that proofs take as constant has one value on a run."""
    for number in (0, 4):
        run = Instance(family, number).run()
        for one in ROOTS:
            try:
                value = one.on(run)
            except FedtheoryError:
                continue
            assert np.size(value) == 1, one.name
            assert np.asarray(value).reshape(-1)[0] >= 0, one.name


def test_every_square_root_of_a_run_has_a_sign() -> None:
    of_clients = {one for one in iterate_run_quantities() if one.root and one in numbers.NONNEGATIVE} - set(ROOTS)
    assert set(ROOTS) | of_clients == {one for one in iterate_run_quantities() if one.root and one.place == "run"}
    assert of_clients == {
        *(q.client_optimum_distance, q.client_dissimilarity, q.mean_square_smoothness),
        *(q.relative_noise, q.absolute_noise),
    }


def _is_listed(one: RunQuantity) -> bool:
    """Return whether a table lists a number as non-negative that is no square root."""
    tables = (getattr(signs, kind) for signs in numbers._TABLES for kind in KINDS)
    return not one.root and any(one in table for table in tables)


KINDS = ("positive", "nonnegative", "gaps", "of_an_update", "positive_of_clients", "nonnegative_of_clients")
SIGNS_BESIDE_TERMS = {
    "average_local_gradient_sq",
    "chi_sq",
    "client_gap_at_optimum",
    "client_gap_at_surrogate_optimum",
    "comparator_residual",
    "comparator_suboptimality",
    "final_suboptimality",
    "initial_gap",
    "interval_end_gap",
    "interval_start_gap",
    "last_interval_gap",
    "mean_chi_sq",
    "mean_round_optimum_mixed_noise",
    "mean_round_optimum_noise",
    "mean_weight_share",
    "nearest_start",
    "next_interval_start_gap",
    "optimum_noise",
    "report_count",
    "reporting_excess",
    "residual",
    "smallest_gap",
    "weight_excess",
    "weight_share",
}
"""Quantities whose listed signs follow from their terms; none may be added."""
ROUTINES_BESIDE_TERMS = {
    "average_gradient_sq",
    "average_local_gradient_sq",
    "average_round_drift",
    "average_suboptimality",
    "best_aggregated_suboptimality",
    "change_between_optima",
    "client_gap_at_optimum",
    "client_gap_at_surrogate_optimum",
    "client_optimum_distance",
    "client_value_at_start",
    "comparator_curved_dissimilarity",
    "comparator_curved_noise",
    "comparator_dissimilarity",
    "comparator_distance",
    "comparator_gap",
    "comparator_noise",
    "comparator_residual",
    "comparator_suboptimality",
    "curvature_drift",
    "curvature_imbalance",
    "dissimilarity_at_optimum",
    "exponential_share",
    "final_distance_sq",
    "final_mean_distance_sq",
    "final_suboptimality",
    "full_gradient_bound",
    "gradient_bound",
    "initial_distance",
    "initial_gap",
    "interval_end_gap",
    "interval_start_gap",
    "last_round_suboptimality",
    "max_drift",
    "mean_divergence",
    "mean_server_suboptimality",
    "mean_weight_share",
    "misrepresentation",
    "next_interval_start_gap",
    "next_server_distance_sq",
    "noise_at_optimum",
    "objective_at_start",
    "optimal_value_gap",
    "optimum_gradient",
    "optimum_noise",
    "received_distance_sq",
    "round_drift",
    "round_gap",
    "round_objective_at_start",
    "round_objective_at_virtual",
    "round_optimum_gap",
    "round_optimum_mixed_noise",
    "round_optimum_noise",
    "round_optimum_slope_sq",
    "round_suboptimality",
    "second_moment_at_round_optimum",
    "second_moment_at_surrogate_optimum",
    "server_distance_after_sq",
    "server_distance_sq",
    "server_suboptimality",
    "server_suboptimality_after",
    "small_step_bias",
    "suboptimality_after_step",
    "suboptimality_at_step",
    "surrogate_at_start",
    "surrogate_comparator_distance",
    "surrogate_gap",
    "surrogate_initial_distance",
    "surrogate_noise",
    "surrogate_optimum_distance",
    "surrogate_optimum_slope_sq",
    "surrogate_suboptimality",
    "total_comparator_progress",
    "total_descent",
    "total_progress",
    "unrepresented_gap",
    "virtual_gradient_sq",
    "virtual_suboptimality",
    "visited_second_moment",
    "weight_share",
}
"""Quantities with a routine in addition to their terms; none may be added."""


def test_a_quantity_with_a_term_is_written_once() -> None:
    defined = [(one, one.term) for one in iterate_run_quantities() if one.term is not None]
    listed = {one.name for one, _ in defined if _is_listed(one)}
    computed = {
        one.name
        for one, term in defined
        if one.measure != compile_term(term) and not isinstance(one.measure, MeanOverRounds)
    }
    assert listed == SIGNS_BESIDE_TERMS
    assert computed == ROUTINES_BESIDE_TERMS
