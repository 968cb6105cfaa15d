"""Facts about schedules and weights, by the definitions of clocks, sampling and surrogate problems.

Each fact is part of a definition, or follows from one by a line of counting that is given as a comment. The facts are
trusted like the kernel.
"""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, ClientSum
from fedtheory.language import assumptions as a
from fedtheory.proofs.facts import least, n, zero

FEDFIX, ASYNC = (a.fixed_intervals,), (a.asynchronous,)
CYCLES = (a.whole_cycles,)
ALONE = (*ASYNC, a.one_at_a_time)

# Client times.
NOT_FASTER = least("no client is faster than the fastest", n.update_time - n.fastest_time)
NOT_SLOWER = least("no client is slower than the slowest", n.slowest_time - n.update_time)
SPEEDS = least("the fastest is not slower than the slowest", n.slowest_time - n.fastest_time)
RATE = zero("the rates of the clients add up", ClientSum(1 / n.update_time) - n.update_rate)
_MULTIPLE = "a common multiple is not smaller than what it is a multiple of"
PERIOD = least(_MULTIPLE, n.common_period - n.update_time)
PERIOD_OF_SLOWEST = least("a common multiple is not smaller than the slowest", n.common_period - n.slowest_time)
PERIOD_AT_MOST = least(
    "a least common multiple is at most the product: of this time, and of M - 1 that are at most the slowest",
    n.update_time * n.slowest_time ** (n.clients - 1) - n.common_period,
)
IDENTICAL = (a.identical_times,)
PERIOD_OF_EQUALS = zero("equal times are their own least common multiple", n.common_period - n.update_time, *IDENTICAL)
RATIO_OF_EQUALS = zero("the ratio of equal times is one, and is not rounded", n.speed_ratio_above - 1, *IDENTICAL)
IN_A_PERIOD = zero(
    "a period has nu/tau_i reports of each client", n.reports_in_a_period - n.common_period * n.update_rate
)
ROUNDED_UP = least("a number rounded up is at most one more", n.slowest_time / n.fastest_time + 1 - n.speed_ratio_above)
OTHER_REPORTS = least(
    "none of M - 1 ratios of times, rounded up, is larger than that of the slowest and the fastest",
    (n.clients - 1) * n.speed_ratio_above - n.most_other_reports,
)

# Reports.
ASYNC_CYCLES = zero(
    "a whole cycle has T/tau_i reports of each client", n.update_time * n.report_count - n.clock_time, *ASYNC, *CYCLES
)
FEDFIX_CYCLES = zero(
    "in a whole cycle each client reports in every N_i-th update",
    n.report_interval * n.report_count - n.rounds,
    *FEDFIX,
    *CYCLES,
)
ONE_EACH = zero("every update has one report", ClientSum(n.report_count) - n.rounds, *ALONE)
ASYNC_DURATION = zero(
    "the server updates when the first client is done", n.round_duration - n.least_remaining_time, *ASYNC
)
FEDFIX_DURATION = zero("the server updates at fixed intervals", n.round_duration - n.interval, *FEDFIX)
FULL_DURATION = zero("the server waits for the last client", n.round_duration - n.largest_remaining_time, a.full_rounds)
FEDFIX_TIME = zero("N intervals have passed", n.interval * n.rounds - n.clock_time, *FEDFIX)
FULL_TIME = zero("N times of the slowest client have passed", n.slowest_time * n.rounds - n.clock_time, a.full_rounds)

# Staleness: the model of a client becomes one update older with each update, and is new after its report.
STALE = least("a model is not newer than the newest", n.largest_staleness)
SYNC_STALE = zero("all clients start from the newest model", n.largest_staleness, a.synchronous)
FEDFIX_STALE = least(
    "a client reports within N_i updates", n.longest_report_interval - 1 - n.largest_staleness, *FEDFIX
)
FEDFIX_STALE_ATTAINED = zero(
    "the slowest client has reported: with a model that N_i - 1 updates came after",
    n.largest_staleness - n.longest_report_interval + 1,
    *FEDFIX,
    *CYCLES,
)
ASYNC_STALE = least(
    "while client i works, client j reports at most ceil(tau_i/tau_j) times, as ties have an order",
    n.most_other_reports - n.largest_staleness,
    *ASYNC,
)
ASYNC_STALE_AT_END = least(
    "all report when a whole cycle ends, one by one: the last one after all the others",
    n.largest_staleness - n.clients + 1,
    *ALONE,
    *CYCLES,
)

# Windows: the weights of a client have the same sum in each window, in which it reports equally often.
WINDOW = least("a window has an update", n.window - 1)
SYNC_WINDOW = zero("all updates have the same expected weights", n.window - 1, a.synchronous)
FEDFIX_WINDOW = zero(
    "each N_i divides a window, and their least common multiple is one",
    n.window - n.common_report_interval,
    *FEDFIX,
    *CYCLES,
    a.positive_weights,
)
ASYNC_WINDOW = zero(
    "a window takes a time that each tau_i divides, and the least such time is one",
    n.window - n.reports_in_a_period,
    *ALONE,
    *CYCLES,
    a.positive_weights,
)
LONGEST_DIVIDES = least(_MULTIPLE, n.common_report_interval - n.longest_report_interval)
INTERVALS_AT_MOST = least(
    "a least common multiple is at most the product of M numbers, and each of them at most the longest",
    n.longest_report_interval**n.clients - n.common_report_interval,
)

# Weights and their moments.
WEIGHT_SUM = zero("the importances add up to one", ClientSum(n.importance) - 1)
FULL_WEIGHTS = zero("aggregation weights are the importances", n.aggregation_weight - n.importance, a.full_rounds)
_COUNTED, _UNCOUNTED = (
    "a client counts with d_i whenever it reports",
    n.mean_weight * n.rounds - n.aggregation_weight * n.report_count,
)
ASYNC_WEIGHTS = zero(_COUNTED, _UNCOUNTED, *ASYNC)
FEDFIX_WEIGHTS = zero(_COUNTED, _UNCOUNTED, *FEDFIX)
MEAN_SHARE = zero("a share is a weight over the sum of all", n.mean_weight_share * n.mean_weight_sum - n.mean_weight)
MEAN_SUM = zero("the weights add up to their sum", ClientSum(n.mean_weight) - n.mean_weight_sum)
SHARES = zero("the shares of an update add up to one", ClientSum(n.weight_share) - 1, a.somebody_reports)
FULL_PAIRING = zero("weights that are given are their means", n.weight_pairing - 1, a.full_rounds)
FULL_EXCESS = zero("weights that are given are their means", n.weight_excess, a.full_rounds)
FEDFIX_PAIRING = zero(
    "all clients report when a whole cycle ends", n.weight_pairing - 1, *FEDFIX, *CYCLES, a.several_clients
)
FEDFIX_EXCESS = zero(
    "a reporting client has the weight d_i, and alpha is one where two may report",
    n.reporting_excess,
    *FEDFIX,
    *CYCLES,
    a.several_clients,
)
ALONE_PAIRING = zero("no update has two reports", n.weight_pairing, *ALONE)
ALONE_EXCESS = zero(
    "no update has two reports, so that beta is the largest weight",
    n.weight_excess - n.largest_aggregation_weight,
    *ALONE,
)
SLOWEST_WEIGHT = zero(
    "of weights in proportion to the times the slowest client has the largest",
    n.clients * n.largest_aggregation_weight - n.update_rate * n.slowest_time,
    *ASYNC,
    a.uniform_shares,
    where=n.aggregation_weight - n.update_rate * n.update_time * n.importance,
)
UNIFORM_PAIRING = zero(
    "a pair is drawn with the chance m (m - 1)/(M (M - 1))",
    n.clients * (n.participants - 1) - n.weight_pairing * n.participants * (n.clients - 1),
    a.uniform_sampling,
)
UNIFORM_EXCESS = zero(
    "a drawn client has M/m times its importance",
    n.weight_excess - n.largest_expected_weight * (n.clients / n.participants - n.weight_pairing),
    a.uniform_sampling,
)
MULTINOMIAL_PAIRING = zero(
    "two of m draws are independent",
    n.weight_pairing - 1 + 1 / n.participants,
    a.multinomial_sampling,
    a.several_clients,
)
MULTINOMIAL_EXCESS = zero(
    "the mean square of a number of m draws is p_i/m + (1 - 1/m) p_i^2",
    n.weight_excess - 1 / n.participants,
    a.multinomial_sampling,
    a.several_clients,
)

# Problems of the updates: the least value of a sum is at least the sum of the least values.
_MISSED = ClientSum(n.expected_weight * n.client_gap_at_surrogate_optimum) - n.round_optimum_gap
_MISSED_IN_THE_MEAN = ClientSum(n.mean_weight * n.client_gap_at_surrogate_optimum) - n.residual
GAP = least("the gap of an update at the surrogate optimum is at least that at its own optimum", _MISSED)
MEAN_GAPS = least("the residual is at most the mean gap of the clients at the surrogate optimum", _MISSED_IN_THE_MEAN)
ALONE_GAP = zero("an update of one client has its optimum", _MISSED, *ALONE)
ALONE_MEAN_GAPS = zero("updates of one client have its optimum", _MISSED_IN_THE_MEAN, *ALONE)
MEAN_OF_GAPS = zero(
    "a mean over the clients has the importances as weights",
    Average(n.client_gap_at_optimum) - ClientSum(n.importance * n.client_gap_at_optimum),
)

_UNFAIR, _BIASED = n.mean_weight_share - n.importance, n.mean_weight - n.importance
_GAPS_APART = n.client_gap_at_surrogate_optimum - n.client_gap_at_optimum
_SAME = "the surrogate problem is a multiple of the federated one"
FAIR_SHARES_OPTIMUM = zero(_SAME, n.surrogate_optimum_distance, where=_UNFAIR)
FAIR_WEIGHTS_OPTIMUM = zero(_SAME, n.surrogate_optimum_distance, where=_BIASED)
FAIR_SHARES_GAPS = zero(_SAME, _GAPS_APART, where=_UNFAIR)
FAIR_WEIGHTS_GAPS = zero(_SAME, _GAPS_APART, where=_BIASED)
FAIR_SHARES_CHI = zero("types have the shares of their clients", n.mean_chi_sq, where=_UNFAIR)
FAIR_UPDATES = zero(
    "types have the weights of their clients",
    n.type_share - n.type_importance,
    where=n.expected_weight - n.importance,
)
SYNC_RESIDUAL = zero("all updates have the same problem", n.residual, a.synchronous)
SYNC_CHI = zero("all updates have the same shares", n.chi_sq - n.mean_chi_sq, a.synchronous)
_FAIR = "fair types have their shares"
FAIR_SHARES = zero(_FAIR, n.type_share - n.type_importance, a.fair_types)
FAIR_CHI = zero(_FAIR, n.chi_sq, a.fair_types)
FAIR_MEAN_CHI = zero(_FAIR, n.mean_chi_sq, a.fair_types)
FAIR_OPTIMUM = zero("every update has a multiple of the problem", n.surrogate_optimum_distance, a.fair_types)
FAIR_MISFITS = zero(_FAIR, n.mean_misrepresentation, a.fair_types)
FAIR_MEAN_GAP = zero("no fair type is missing", n.mean_unrepresented_gap, a.fair_types)
FAIR_ABSENCES = zero("no fair type is missing", n.absences, a.fair_types)
