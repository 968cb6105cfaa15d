"""Facts of schedules and of weights: what a clock, a law of sampling and a surrogate problem are, by definition.

Each is what a schedule of fixed update times, or the problem of an update, is made to be, or one line of counting
from it, which stands beside it.  They are as much trusted as the kernel is.
"""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, ClientSum, Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import Notion, client_gap_at_surrogate_optimum
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.numbers import Letters

FEDFIX, ASYNC, SYNC = (a.fixed_intervals,), (a.asynchronous,), (a.synchronous,)
CYCLES = (a.whole_cycles,)
ALONE = (*ASYNC, a.one_at_a_time)
FAIR = (a.fair_types,)


def equal(name: str, left: Notion, right: Notion, *needs: Assumption) -> Fact:
    """Two quantities are the same."""
    return Fact(name, lambda letter: letter(left) - letter(right), needs, is_zero=True)


def constant(name: str, notion: Notion, value: int, *needs: Assumption) -> Fact:
    """A quantity is a number."""
    return Fact(name, lambda letter: letter(notion) - value, needs, is_zero=True)


def _at_most(name: str, smaller: Notion, larger: Notion, *needs: Assumption) -> Fact:
    return Fact(name, lambda letter: letter(larger) - letter(smaller), needs)


# Update times.
NOT_FASTER = _at_most("no client is faster than the fastest", q.fastest_time, q.update_time)
NOT_SLOWER = _at_most("no client is slower than the slowest", q.update_time, q.slowest_time)
SPEEDS = _at_most("the fastest is not slower than the slowest", q.fastest_time, q.slowest_time)
RATE = Fact(
    "the rates of the clients add up",
    lambda letter: ClientSum(1 / letter(q.update_time)) - letter(q.update_rate),
    is_zero=True,
)
PERIOD = _at_most("a common multiple is not smaller than what it is a multiple of", q.update_time, q.common_period)
PERIOD_OF_SLOWEST = _at_most("a common multiple is not smaller than the slowest", q.slowest_time, q.common_period)
PERIOD_AT_MOST = Fact(
    "a least common multiple is at most the product: of this time, and of M - 1 that are at most the slowest",
    lambda letter: letter(q.update_time) * letter(q.slowest_time) ** (letter(q.clients) - 1) - letter(q.common_period),
)
IN_A_PERIOD = Fact(
    "a period has nu/tau_i reports of each client",
    lambda letter: letter(q.reports_in_a_period) - letter(q.common_period) * letter(q.update_rate),
    is_zero=True,
)
ROUNDED_UP = Fact(
    "a number rounded up is at most one more",
    lambda letter: letter(q.slowest_time) / letter(q.fastest_time) + 1 - letter(q.speed_ratio_above),
)
OTHER_REPORTS = Fact(
    "none of M - 1 ratios of times, rounded up, is larger than that of the slowest and the fastest",
    lambda letter: (letter(q.clients) - 1) * letter(q.speed_ratio_above) - letter(q.most_other_reports),
)

# Reports.
ASYNC_CYCLES = Fact(
    "a whole cycle has T/tau_i reports of each client",
    lambda letter: letter(q.update_time) * letter(q.report_count) - letter(q.clock_time),
    (*ASYNC, *CYCLES),
    is_zero=True,
)
FEDFIX_CYCLES = Fact(
    "in a whole cycle each client reports in every N_i-th update",
    lambda letter: letter(q.report_interval) * letter(q.report_count) - letter(q.rounds),
    (*FEDFIX, *CYCLES),
    is_zero=True,
)
ONE_EACH = Fact(
    "every update has one report",
    lambda letter: ClientSum(letter(q.report_count)) - letter(q.rounds),
    ALONE,
    is_zero=True,
)
ASYNC_DURATION = equal(
    "the server updates when the first client is done", q.round_duration, q.least_remaining_time, *ASYNC
)
FEDFIX_DURATION = equal("the server updates at fixed intervals", q.round_duration, q.interval, *FEDFIX)
FULL_DURATION = equal("the server waits for the last client", q.round_duration, q.largest_remaining_time, a.full_rounds)
FEDFIX_TIME = Fact(
    "N intervals have passed",
    lambda letter: letter(q.interval) * letter(q.rounds) - letter(q.clock_time),
    FEDFIX,
    is_zero=True,
)
FULL_TIME = Fact(
    "N times of the slowest client have passed",
    lambda letter: letter(q.slowest_time) * letter(q.rounds) - letter(q.clock_time),
    (a.full_rounds,),
    is_zero=True,
)

# Staleness: what a client works on ages by one with each update, and is new after its report.
STALE = Fact("a model is not newer than the newest", lambda letter: letter(q.largest_staleness))
SYNC_STALE = constant("everybody starts from the newest model", q.largest_staleness, 0, *SYNC)
FEDFIX_STALE = Fact(
    "a client reports within N_i updates",
    lambda letter: letter(q.longest_report_interval) - 1 - letter(q.largest_staleness),
    FEDFIX,
)
FEDFIX_STALE_ATTAINED = Fact(
    "the slowest client has reported: with a model that N_i - 1 updates came after",
    lambda letter: letter(q.largest_staleness) - letter(q.longest_report_interval) + 1,
    (*FEDFIX, *CYCLES),
    is_zero=True,
)
ASYNC_STALE = _at_most(
    "while client i works, client j reports at most ceil(tau_i/tau_j) times, as ties have an order",
    q.largest_staleness,
    q.most_other_reports,
    *ASYNC,
)
ASYNC_STALE_AT_END = Fact(
    "all report when a whole cycle ends, one by one: the last one after all the others",
    lambda letter: letter(q.largest_staleness) - letter(q.clients) + 1,
    (*ALONE, *CYCLES),
)

# Windows: the weights of a client add up to the same in each, so that it reports equally often, where it counts.
WINDOW = Fact("a window has an update", lambda letter: letter(q.window) - 1)
SYNC_WINDOW = constant("all updates have the same expected weights", q.window, 1, *SYNC)
FEDFIX_WINDOW = equal(
    "each N_i divides a window, and their least common multiple is one",
    q.window,
    q.common_report_interval,
    *FEDFIX,
    *CYCLES,
    a.positive_weights,
)
ASYNC_WINDOW = equal(
    "a window takes a time that each tau_i divides, and the least such time is one",
    q.window,
    q.reports_in_a_period,
    *ALONE,
    *CYCLES,
    a.positive_weights,
)
LONGEST_DIVIDES = _at_most(
    "a common multiple is not smaller than what it is a multiple of",
    q.longest_report_interval,
    q.common_report_interval,
)
INTERVALS_AT_MOST = Fact(
    "a least common multiple is at most the product of M numbers, and each of them at most the longest",
    lambda letter: letter(q.longest_report_interval) ** letter(q.clients) - letter(q.common_report_interval),
)

# Weights and their moments.
WEIGHT_SUM = Fact("the importances add up to one", lambda letter: ClientSum(letter(q.importance)) - 1, is_zero=True)
FULL_WEIGHTS = equal("everybody counts with its importance", q.aggregation_weight, q.importance, a.full_rounds)


def _mean_weight(letter: Letters) -> Expr:
    return letter(q.mean_weight) * letter(q.rounds) - letter(q.aggregation_weight) * letter(q.report_count)


_COUNTED = "a client counts with d_i whenever it reports"
ASYNC_WEIGHTS = Fact(_COUNTED, _mean_weight, ASYNC, is_zero=True)
FEDFIX_WEIGHTS = Fact(_COUNTED, _mean_weight, FEDFIX, is_zero=True)
MEAN_SHARE = Fact(
    "a share is a weight over the sum of all",
    lambda letter: letter(q.mean_weight_share) * letter(q.mean_weight_sum) - letter(q.mean_weight),
    is_zero=True,
)
MEAN_SUM = Fact(
    "the weights add up to their sum",
    lambda letter: ClientSum(letter(q.mean_weight)) - letter(q.mean_weight_sum),
    is_zero=True,
)
SHARES = Fact(
    "the shares of an update add up to one",
    lambda letter: ClientSum(letter(q.weight_share)) - 1,
    (a.somebody_reports,),
    is_zero=True,
)
FULL_PAIRING = constant("weights that are given are their means", q.weight_pairing, 1, a.full_rounds)
FULL_EXCESS = constant("weights that are given are their means", q.weight_excess, 0, a.full_rounds)
FEDFIX_PAIRING = constant(
    "all clients report when a whole cycle ends", q.weight_pairing, 1, *FEDFIX, *CYCLES, a.several_clients
)
FEDFIX_EXCESS = constant(
    "whoever reports has the weight d_i, and where two report alpha is one",
    q.reporting_excess,
    0,
    *FEDFIX,
    *CYCLES,
    a.several_clients,
)
ALONE_PAIRING = constant("no update has two reports", q.weight_pairing, 0, *ALONE)
ALONE_EXCESS = equal(
    "no update has two reports, so that beta is the largest weight",
    q.weight_excess,
    q.largest_aggregation_weight,
    *ALONE,
)
SLOWEST_WEIGHT = Fact(
    "of weights in proportion to the times the slowest client has the largest",
    lambda letter: (
        letter(q.clients) * letter(q.largest_aggregation_weight) - letter(q.update_rate) * letter(q.slowest_time)
    ),
    (*ASYNC, a.uniform_shares),
    is_zero=True,
    where_zero=lambda letter: (
        letter(q.aggregation_weight) - letter(q.update_rate) * letter(q.update_time) * letter(q.importance)
    ),
)
UNIFORM_PAIRING = Fact(
    "a pair is drawn with the chance m (m - 1)/(M (M - 1))",
    lambda letter: (
        letter(q.clients) * (letter(q.participants) - 1)
        - letter(q.weight_pairing) * letter(q.participants) * (letter(q.clients) - 1)
    ),
    (a.uniform_sampling,),
    is_zero=True,
)
UNIFORM_EXCESS = Fact(
    "whoever is drawn has M/m times its importance",
    lambda letter: (
        letter(q.weight_excess)
        - letter(q.largest_expected_weight) * (letter(q.clients) / letter(q.participants) - letter(q.weight_pairing))
    ),
    (a.uniform_sampling,),
    is_zero=True,
)

MULTINOMIAL_PAIRING = Fact(
    "two of m draws are independent",
    lambda letter: letter(q.weight_pairing) - 1 + 1 / letter(q.participants),
    (a.multinomial_sampling, a.several_clients),
    is_zero=True,
)
MULTINOMIAL_EXCESS = Fact(
    "the mean square of a number of m draws is p_i/m + (1 - 1/m) p_i^2",
    lambda letter: letter(q.weight_excess) - 1 / letter(q.participants),
    (a.multinomial_sampling, a.several_clients),
    is_zero=True,
)

# The problems of the updates: the least value of a sum is at least the sum of the least values.
GAP = Fact(
    "nobody misses more at the common optimum than at its own",
    lambda letter: (
        ClientSum(letter(q.expected_weight) * letter(client_gap_at_surrogate_optimum)) - letter(q.round_optimum_gap)
    ),
)
MEAN_GAPS = Fact(
    "the residual is the mean of what the updates miss",
    lambda letter: ClientSum(letter(q.mean_weight) * letter(client_gap_at_surrogate_optimum)) - letter(q.residual),
)
ALONE_GAP = Fact(
    "an update of one client has its optimum",
    lambda letter: (
        ClientSum(letter(q.expected_weight) * letter(client_gap_at_surrogate_optimum)) - letter(q.round_optimum_gap)
    ),
    ALONE,
    is_zero=True,
)
ALONE_MEAN_GAPS = Fact(
    "updates of one client have its optimum",
    lambda letter: ClientSum(letter(q.mean_weight) * letter(client_gap_at_surrogate_optimum)) - letter(q.residual),
    ALONE,
    is_zero=True,
)
MEAN_OF_GAPS = Fact(
    "a mean over the clients has the importances as weights",
    lambda letter: (
        Average(letter(q.client_gap_at_optimum)) - ClientSum(letter(q.importance) * letter(q.client_gap_at_optimum))
    ),
    is_zero=True,
)


def _unfair(letter: Letters) -> Expr:
    return letter(q.mean_weight_share) - letter(q.importance)


def _biased(letter: Letters) -> Expr:
    return letter(q.mean_weight) - letter(q.importance)


def _moved(letter: Letters) -> Expr:
    return letter(q.surrogate_optimum_distance)


def _gaps_apart(letter: Letters) -> Expr:
    return letter(client_gap_at_surrogate_optimum) - letter(q.client_gap_at_optimum)


_SAME = "the surrogate problem is a multiple of the federated one"
FAIR_SHARES_OPTIMUM = Fact(_SAME, _moved, is_zero=True, where_zero=_unfair)
FAIR_WEIGHTS_OPTIMUM = Fact(_SAME, _moved, is_zero=True, where_zero=_biased)
FAIR_SHARES_GAPS = Fact(_SAME, _gaps_apart, is_zero=True, where_zero=_unfair)
FAIR_WEIGHTS_GAPS = Fact(_SAME, _gaps_apart, is_zero=True, where_zero=_biased)
FAIR_SHARES_CHI = Fact(
    "types have the shares of their clients", lambda letter: letter(q.mean_chi_sq), is_zero=True, where_zero=_unfair
)
FAIR_UPDATES = Fact(
    "types have the weights of their clients",
    lambda letter: letter(q.type_share) - letter(q.type_importance),
    is_zero=True,
    where_zero=lambda letter: letter(q.expected_weight) - letter(q.importance),
)
SYNC_RESIDUAL = constant("all updates have the same problem", q.residual, 0, *SYNC)
SYNC_CHI = equal("all updates have the same shares", q.chi_sq, q.mean_chi_sq, *SYNC)
FAIR_SHARES = equal("fair types have their shares", q.type_share, q.type_importance, *FAIR)
FAIR_CHI = constant("fair types have their shares", q.chi_sq, 0, *FAIR)
FAIR_MEAN_CHI = constant("fair types have their shares", q.mean_chi_sq, 0, *FAIR)
FAIR_OPTIMUM = constant("every update has a multiple of the problem", q.surrogate_optimum_distance, 0, *FAIR)
FAIR_MISFITS = constant("fair types have their shares", q.mean_misrepresentation, 0, *FAIR)
FAIR_GAP = constant("no fair type is missing", q.unrepresented_gap, 0, *FAIR)
FAIR_MEAN_GAP = constant("no fair type is missing", q.mean_unrepresented_gap, 0, *FAIR)
FAIR_ABSENCES = constant("no fair type is missing", q.absences, 0, *FAIR)
