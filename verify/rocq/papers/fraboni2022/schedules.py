"""Schedules of clocks in Rocq: names and lemmas of `Schedule.v`, `Cycles.v` and `Ties.v`."""

from __future__ import annotations

from collections.abc import Mapping

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import Quantity
from fedtheory.proofs import facts
from fedtheory.proofs.decoding import FACTS as KNOWN

SCHEDULES: Mapping[Quantity, str] = {
    q.clients: "M_of A",
    q.rounds: "N_of A",
    q.clock_time: "clock_time A",
    q.update_time: "time_of A i",
    q.slowest_time: "slowest_time A",
    q.fastest_time: "fastest_time A",
    q.update_rate: "update_rate A",
    q.interval: "interval",
    q.round_duration: "duration A n",
    q.least_remaining_time: "least_remaining A n",
    q.report_count: "report_count A i",
    q.aggregation_weight: "weight_of A i",
    q.largest_aggregation_weight: "largest_weight A",
    q.mean_weight: "mean_weight A i",
    q.importance: "share (clients_of A) i",
    q.largest_staleness: "largest_staleness A",
    q.weight_pairing: "weight_pairing A",
    q.weight_excess: "weight_excess A",
    q.reporting_excess: "reporting_excess A",
    q.report_interval: "report_interval A interval i",
    q.longest_report_interval: "longest_report_interval A interval",
    q.common_report_interval: "common_report_interval A interval",
    q.window: "INR W",
    q.common_period: "nu",
    q.reports_in_a_period: "reports_in_a_period A nu",
    q.most_other_reports: "most_other_reports A",
    q.speed_ratio_above: "speed_ratio_above A",
}

SCHEDULE_ASSUMED: Mapping[Assumption, tuple[str, str]] = {
    a.asynchronous: ("asynchronous_A", "asynchronous A"),
    a.one_at_a_time: ("one_at_a_time_A", "one_at_a_time A"),
    a.positive_weights: ("positive_weights_A", "positive_weights A"),
    a.whole_times: ("whole_times_A", "whole_times A"),
    a.identical_times: ("identical_times_A", "identical_times A"),
    a.several_clients: ("several_clients_A", "several_clients A"),
    a.uniform_shares: ("uniform_shares_A", "uniform (clients_of A)"),
}

_INTERVALS = "A interval fixed_intervals_A"

_CYCLES = f"{_INTERVALS} whole_cycles_A"

SCHEDULE_FACTS: Mapping[str, str] = {
    facts.ONE.name: "Rle_0_1",
    KNOWN["not_faster"].name: "faster A i Hi",
    KNOWN["not_slower"].name: "slower A i Hi",
    KNOWN["speeds"].name: "fastest_below_slowest A",
    KNOWN["rate"].name: "eq_refl (update_rate A)",
    KNOWN["in_a_period"].name: "in_a_period A nu",
    KNOWN["async_cycles"].name: "reports_per_time A whole_cycles_A i Hi",
    KNOWN["one_each"].name: "one_report_each A one_at_a_time_A",
    KNOWN["async_duration"].name: "duration_is_least A asynchronous_A n",
    KNOWN["alone_pairing"].name: "pairing_alone A one_at_a_time_A",
    KNOWN["alone_excess"].name: "excess_alone A one_at_a_time_A",
    KNOWN["slowest_weight"].name: "slowest_weight A uniform_shares_A equation1",
    KNOWN["async_weights"].name: "mean_weight_by_count A i",
    KNOWN["fedfix_cycles"].name: f"reports_in_cycles {_CYCLES} i Hi",
    KNOWN["fedfix_duration"].name: f"duration_is_interval {_INTERVALS} n",
    KNOWN["fedfix_time"].name: f"intervals_passed {_INTERVALS}",
    KNOWN["stale"].name: "stale_nonneg A",
    KNOWN["fedfix_stale"].name: f"stale_at_most {_INTERVALS}",
    KNOWN["fedfix_stale_attained"].name: f"stale_exactly {_CYCLES}",
    KNOWN["window"].name: "window_at_least_one A W smallest_window_W",
    KNOWN["fedfix_window"].name: f"window_of_cycles {_CYCLES} W positive_weights_A smallest_window_W",
    KNOWN["longest_divides"].name: f"longest_divides {_CYCLES}",
    KNOWN["intervals_at_most"].name: f"intervals_at_most {_INTERVALS}",
    KNOWN["fedfix_pairing"].name: f"pairing_of_cycles {_CYCLES} several_clients_A",
    KNOWN["fedfix_excess"].name: f"excess_of_cycles {_CYCLES} several_clients_A",
}
"""For each fact the lemma of the library that implies it by linear arithmetic."""

CYCLE_FACTS: Mapping[str, str] = {
    KNOWN["async_window"].name: (
        "window_of_period A asynchronous_A one_at_a_time_A whole_cycles_A nu least_period_nu"
        " W positive_weights_A smallest_window_W"
    ),
    KNOWN["period_of_equals"].name: "period_of_equals A nu i identical_times_A least_period_nu Hi",
    KNOWN["period"].name: "a_period A nu i least_period_nu Hi",
    KNOWN["period_of_slowest"].name: "a_period_of_slowest A nu least_period_nu",
    KNOWN["period_at_most"].name: "period_at_most A nu i whole_times_A least_period_nu Hi",
}
"""For each fact on whole cycles of asynchronous servers its lemma in `Cycles.v`."""

TIE_FACTS: Mapping[str, str] = {
    KNOWN["ratio_of_equals"].name: "ratio_of_equals A identical_times_A",
    KNOWN["rounded_up"].name: "ratio_below A",
    KNOWN["other_reports"].name: "ratios_below A",
    KNOWN["async_stale"].name: "stale_by_others A asynchronous_A",
    KNOWN["async_stale_at_end"].name: "stale_at_end A asynchronous_A one_at_a_time_A whole_cycles_A",
}
"""For each fact on the staleness of models its lemma in `Ties.v`."""
