"""Signs of the paper's quantities, and the runs on which a quantity has a value; trusted like the kernel."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity, RunQuantity
from fedtheory.language.signs import Existing, Signs, list_defined_with, list_existing

_WITH_SHARES: tuple[Quantity, ...] = (
    q.weight_share,
    *sorted(
        (
            quantity
            for quantity in list_defined_with({q.weight_share})
            if isinstance(quantity, RunQuantity) and quantity.per_round
        ),
        key=lambda quantity: quantity.name,
    ),
)
"""Quantities of updates that have a value only if some client has a positive weight in each update."""
_EXISTING = (
    Existing(
        "a minimiser of F",
        frozenset[Quantity](
            {
                q.doubled_synchronous_suboptimality,
                q.doubled_asynchronous_suboptimality,
                q.synchronous_final_suboptimality,
                q.asynchronous_final_suboptimality,
                q.fastest_gap,
                q.fastest_gradient,
            }
        ),
        a.IMPLY_CONVEXITY,
    ),
    Existing("a comparator of the updates", frozenset[Quantity]({q.surrogate_comparator}), a.IMPLY_CONVEXITY),
    list_existing("minimisers of the updates", q.round_optimum, by=a.strongly_convex_clients),
    list_existing("a minimiser of the surrogate problem", q.surrogate_optimum, by=a.strongly_convex_clients),
    list_existing("periods of whole times", q.common_period, q.reports_in_a_period, by=a.whole_times),
    list_existing("shares of the clients in every update", *_WITH_SHARES, by=a.somebody_reports),
)
SIGNS = Signs(
    counts=(
        *(q.window, q.common_period, q.reports_in_a_period, q.longest_report_interval, q.common_report_interval),
        q.speed_ratio_above,
    ),
    positive=(
        *(q.sample_smoothness, q.interval),
        *(q.clock_time, q.expected_round_time),
    ),
    at_least_one=(q.largest_weight_sum,),
    times=(q.slowest_time, q.fastest_time),
    nonnegative=(
        *(q.weight_pairing, q.weight_excess, q.reporting_excess, q.largest_staleness),
        *(q.mean_chi_sq, q.mean_round_optimum_noise, q.optimum_noise),
        *(q.mean_round_optimum_mixed_noise, q.residual, q.comparator_residual),
    ),
    of_an_update=(q.chi_sq,),
    positive_of_clients=(q.update_time, q.report_interval),
    nonnegative_of_clients=(
        *(q.weight_share, q.aggregation_weight, q.expected_weight, q.mean_weight_share),
        *(q.report_count, q.client_gap_at_surrogate_optimum, q.client_gap_at_optimum),
    ),
    flat=(q.sample_smoothness,),
    divided_by=(q.weight_sum, q.smallest_weight_sum, q.mean_weight_sum, q.sample_smoothness),
    positive_with={
        q.weight_sum: frozenset((a.somebody_reports, *_WITH_SHARES)),
        q.smallest_weight_sum: frozenset((a.somebody_reports,)),
    },
    existing=_EXISTING,
    given=(q.surrogate_optimum,),
)
