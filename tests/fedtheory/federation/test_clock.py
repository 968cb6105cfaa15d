"""Clocks against a naive server that counts ticks, and closed forms of fraboni2022."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from stale_enumeration import Event, Server, events

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation import Algorithm, Fixed, Full, Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.clock import (
    Asynchronous,
    Clock,
    FedBuff,
    FedFix,
    Policy,
    Schedule,
    Synchronous,
    Ties,
    Update,
    synchronous,
)
from fedtheory.federation.problem import quadratic

times_of_clients = st.lists(st.builds(fmpq, st.integers(1, 12), st.sampled_from([1, 2, 3, 4])), min_size=1, max_size=5)
both_ties: Any = st.sampled_from(["together", "one-by-one"])


def _clock(policy: Policy, *times: Any) -> Clock:
    return Clock(policy, tuple(RATIONAL.array(list(times))))


def _seen(schedule: Schedule) -> list[Event]:
    return [Event(update.time, update.reports, update.staleness) for update in schedule.updates]


def _pairs(clients: int, ties: Ties, buffer: int, interval: fmpq) -> list[tuple[Policy, Server]]:
    """Return every policy with the naive server of the same kind."""
    together, filled = ties == "together", 1 + buffer % clients
    return [
        (Synchronous(), Server("sync")),
        (Asynchronous(ties), Server("buffer", 1, together=together)),
        (FedBuff(filled, ties), Server("buffer", filled, together=together)),
        (FedFix(interval), Server("fedfix", interval=interval)),
    ]


@given(times_of_clients, both_ties, st.integers(0, 4), st.builds(fmpq, st.integers(1, 9), st.sampled_from([1, 2, 3])))
@settings(max_examples=150, deadline=None)
def test_every_policy_against_ticks(times: list[fmpq], ties: Ties, buffer: int, interval: fmpq) -> None:
    """Times, reports and staleness of the first updates agree with the naive server."""
    for policy, server in _pairs(len(times), ties, buffer, interval):
        schedule = Clock(policy, tuple(times)).schedule(14)
        expected = events(server, times, 14)
        assert _seen(schedule) == expected, policy
        assert schedule.times == [0, *(event.time for event in expected)]
        assert schedule.largest_staleness == max(max(event.staleness) for event in expected)
        for n, event in enumerate(expected):
            assert tuple(np.flatnonzero(schedule.participates[n])) == event.reports
            assert tuple(schedule.staleness[n]) == event.staleness
            assert tuple(n - schedule.received[n]) == event.staleness


@given(times_of_clients, both_ties, st.integers(0, 4), st.builds(fmpq, st.integers(0, 40), st.integers(1, 4)))
@settings(max_examples=60, deadline=None)
def test_updates_within_a_budget(times: list[fmpq], ties: Ties, buffer: int, budget: fmpq) -> None:
    """Updates at time t^n <= budget count."""
    for policy, server in _pairs(len(times), ties, buffer, fmpq(3, 2)):
        count = Clock(policy, tuple(times)).updates_within(budget)
        following = events(server, times, count + 1)
        assert all(event.time <= budget for event in following[:count])
        assert following[count].time > budget


def test_figure_1() -> None:
    """In Figure 1 of fraboni2022, C1 reports in every round of FedFix, C2 in every second one."""
    schedule = _clock(FedFix(fmpq(1)), 1, 2).schedule(6)
    assert [update.reports for update in schedule.updates] == [(0,), (0, 1)] * 3
    assert [update.staleness for update in schedule.updates] == [(0, 0), (0, 1)] * 3
    assert schedule.times == [0, 1, 2, 3, 4, 5, 6]


def test_a_client_waits_for_the_end_of_the_interval() -> None:
    """With T = 3/2 and interval 1 a client finishes at 3/2, reports at 2, and again at 4."""
    schedule = _clock(FedFix(fmpq(1)), "3/2").schedule(5)
    assert [update.reports for update in schedule.updates] == [(), (0,), (), (0,), ()]
    assert [update.staleness for update in schedule.updates] == [(0,), (1,), (0,), (1,), (0,)]


def test_ties_by_hand() -> None:
    """Times 1, 1, 2: together {0,1} at 1 and all at 2; one by one the same moments in client order."""
    together = _clock(Asynchronous(), 1, 1, 2).schedule(2)
    assert _seen(together) == [Event(fmpq(1), (0, 1), (0, 0, 0)), Event(fmpq(2), (0, 1, 2), (0, 0, 1))]
    apart = _clock(Asynchronous("one-by-one"), 1, 1, 2).schedule(5)
    assert _seen(apart) == [
        Event(fmpq(1), (0,), (0, 0, 0)),
        Event(fmpq(1), (1,), (0, 1, 1)),
        Event(fmpq(2), (0,), (1, 0, 2)),
        Event(fmpq(2), (1,), (0, 1, 3)),
        Event(fmpq(2), (2,), (1, 0, 4)),
    ]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_asynchronous_period(times: list[int]) -> None:
    """One by one, with nu = lcm(tau_i), there are sum_i nu/tau_i updates per period, of which nu/tau_i are client
    i's.
    """
    nu = math.lcm(*times)
    counts = [nu // time for time in times]
    schedule = _clock(Asynchronous("one-by-one"), *times).schedule(3 * sum(counts))
    assert schedule.participates[: sum(counts)].sum(axis=0).tolist() == counts
    assert schedule.times[sum(counts)] == nu
    weights = schedule.participates.astype(int)
    assert sum(counts) % schedule.smallest_window(weights) == 0
    assert all(len(update.reports) == 1 for update in schedule.updates)
    first, second = (schedule.updates[sum(counts) * n : sum(counts) * (n + 1)] for n in (0, 1))
    assert [update.reports for update in first] == [update.reports for update in second]


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 3), st.booleans())
@settings(max_examples=100, deadline=None)
def test_smallest_window_against_brute_force(seed: int, updates: int, clients: int, exact: bool) -> None:
    """The first divisor W of N for which all blocks of W updates have equal sums, in both arithmetics."""
    generator = np.random.default_rng(seed)
    values = np.tile(generator.integers(0, 2, (max(1, updates // 2), clients)), (3, 1))[:updates]
    weights: Array = RATIONAL.array(values) / fmpq(7) if exact else values / 7
    total = len(values)
    fitting = [
        w
        for w in range(1, total + 1)
        if total % w == 0 and len({tuple(values[n : n + w].sum(axis=0)) for n in range(0, total, w)}) == 1
    ]
    schedule = Schedule(tuple(Update(fmpq(n), (), (0,) * clients) for n in range(total)))
    assert schedule.smallest_window(weights) == fitting[0]


def test_smallest_window_of_fedfix() -> None:
    """W = lcm of ceil(T_i / interval): 1, 2 and 3 intervals give six updates."""
    schedule = _clock(FedFix(fmpq(1)), 1, "3/2", 3).schedule(24)
    assert schedule.smallest_window(schedule.participates.astype(int)) == 6


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_time_based_weights_make_every_client_count_alike(whole: list[int], unit: int) -> None:
    """Over a period, the sum of d_i over client i's reports is proportional to p_i; one by one it is N p_i."""
    times = tuple(fmpq(time, unit) for time in whole)
    importance = RATIONAL.array(list(range(1, len(times) + 1))) / fmpq(len(times) * (len(times) + 1), 2)
    asynchronous = Clock(Asynchronous("one-by-one"), times)
    updates = asynchronous.updates_within(fmpq(math.lcm(*whole), unit))
    counted = asynchronous.schedule(updates).participates.sum(axis=0)
    weights = compute_time_based_weights(asynchronous, importance)
    assert [int(n) * d for n, d in zip(counted, weights, strict=True)] == [updates * p for p in importance]
    fedfix = Clock(FedFix(fmpq(3, 2 * unit)), times)
    intervals = [-(-2 * time // 3) for time in whole]
    weights = compute_time_based_weights(fedfix, importance)
    assert weights.tolist() == [n * p for n, p in zip(intervals, importance, strict=True)]
    period = math.lcm(*intervals)
    counted = fedfix.schedule(period).participates.sum(axis=0)
    assert [int(n) * d for n, d in zip(counted, weights, strict=True)] == [period * p for p in importance]
    assert compute_time_based_weights(Clock(Synchronous(), times), importance).tolist() == importance.tolist()


def test_fedbuff_has_no_closed_form() -> None:
    """Time-based weights are rejected for a buffer."""
    with pytest.raises(InputError, match=r"algorithm\.aggregation"):
        compute_time_based_weights(_clock(FedBuff(1), 1, 2), RATIONAL.array(["1/2", "1/2"]))


IMPORTANCE = ["1/10", "1/5", "3/10", "2/5"]
LAWS: list[Participation] = [
    Full(),
    Fixed((2,)),
    Fixed((0, 3)),
    *(Uniform(m) for m in (1, 2, 3, 4)),
    *(Multinomial(m) for m in (1, 2, 3)),
]


@pytest.mark.parametrize("times", [[1, 1, 1, 1], [3, 1, "5/2", 1], [1, 2, 3, 4], ["1/2", 7, "1/3", 2]], ids=str)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_round_time_against_all_draws(law: Participation, times: list[Any]) -> None:
    """E[max over participants of T_i], and the probability that participants are among some clients."""
    importance, durations = RATIONAL.array(IMPORTANCE), RATIONAL.array(times)
    chances, weights = law.outcomes(importance)
    drawn = [{int(i) for i in np.flatnonzero(row != 0)} for row in weights]
    slowest = [max(durations[i] for i in chosen) for chosen in drawn]
    expected = sum((c * t for c, t in zip(chances, slowest, strict=True)), fmpq(0))
    assert law.round_time(durations, importance) == expected
    for mask in range(16):
        among = [i for i in range(4) if mask >> i & 1]
        share = sum((c for c, chosen in zip(chances, drawn, strict=True) if chosen <= set(among)), fmpq(0))
        assert law.compute_probability_within(among, importance) == share, among


def _algorithm(clock: Clock, law: Participation, rounds: int = 5) -> Algorithm:
    count = 3
    problem = quadratic(RATIONAL.array([[[1]]] * count), RATIONAL.array([[1], [2], [3]]), RATIONAL.array([1]))
    return fedavg(problem, rounds=rounds, local_step_size=fmpq(1, 4), clock=clock, participation=law)


def test_times_of_an_algorithm() -> None:
    """Times are multiples of a round's expected time if the server waits, and those of the schedule otherwise."""
    importance = RATIONAL.array(["1/3"] * 3)
    waiting = _algorithm(_clock(Synchronous(), 1, 2, 6), Uniform(1))
    assert waiting.times(importance) == [3, 6, 9, 12, 15]
    assert _algorithm(_clock(Asynchronous(), 1, 2, 6), Full()).times(importance) == [1, 2, 3, 4, 5]
    assert _algorithm(_clock(FedBuff(2), 1, 2, 6), Full()).times(importance) == [2, 4, 6, 8, 10]


def test_no_schedule_is_listed_for_synchronous_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The staleness of synchronous rounds is zero; that of other clocks follows from their schedules."""
    for clock in (synchronous(3), _clock(Asynchronous(), 1, 2, 5), _clock(FedFix(fmpq(1)), 1, 2, 5)):
        algorithm = _algorithm(clock, Full(), rounds=20)
        assert algorithm.largest_staleness == algorithm.schedule.largest_staleness
    waiting = _algorithm(_clock(Synchronous(), 1, 2, 5), Full(), rounds=10**9)
    monkeypatch.setattr(Clock, "schedule", None)
    assert waiting.largest_staleness == 0


def test_the_default_clock() -> None:
    """The default clock has rounds of one unit of time without stale models."""
    clock = synchronous(3)
    assert clock.is_synchronous
    assert _seen(clock.schedule(2)) == [Event(fmpq(n), (0, 1, 2), (0, 0, 0)) for n in (1, 2)]
    assert not _clock(FedBuff(3), 1, 1, 1).is_synchronous


# Random times.


def _draws(policy: Policy, means: tuple[fmpq, ...], updates: int, seed: int) -> Schedule:
    return Clock(policy, means, "exponential").draw(updates, np.random.default_rng(seed))


def _within_five_errors(values: Array, expected: float) -> bool:
    error = values.std(ddof=1) / math.sqrt(len(values))
    return bool(abs(values.mean() - expected) <= 5 * error) and bool(error < 0.05 * expected)


def test_a_seed_decides_a_random_schedule() -> None:
    """A seed determines a random schedule; a fixed clock has one schedule."""
    means = (fmpq(1), fmpq(2), fmpq(5))
    first, again, other = (_draws(Asynchronous(), means, 20, seed) for seed in (1, 1, 2))
    assert _seen(first) == _seen(again)
    assert first.times != other.times
    fixed = Clock(Asynchronous(), means)
    assert _seen(fixed.draw(9, np.random.default_rng(0))) == _seen(fixed.schedule(9))
    assert not fixed.is_random


def test_exponential_asynchronous_times() -> None:
    """By memorylessness, an update takes 1 / sum_i(1/tau_i) on average, and comes from i in proportion to 1/tau_i."""
    means = (fmpq(1), fmpq(2), fmpq(6))
    schedule = _draws(Asynchronous(), means, 4000, 3)
    rate = 1 + 1 / 2 + 1 / 6
    assert _within_five_errors(np.diff(np.array(schedule.times)), 1 / rate)
    for client, share in enumerate([1 / rate, 1 / 2 / rate, 1 / 6 / rate]):
        reported = schedule.participates[:, client].mean()
        assert abs(reported - share) <= 5 * math.sqrt(share * (1 - share) / 4000)


def test_exponential_rounds_that_wait() -> None:
    """E max(T_1, T_2) = a + b - ab/(a+b), for rounds that wait for all clients and for a full buffer."""
    for policy in (Synchronous(), FedBuff(2)):
        schedule = _draws(policy, (fmpq(1), fmpq(3)), 4000, 4)
        assert _within_five_errors(np.diff(np.array(schedule.times)), 1 + 3 - 3 / 4)
        assert schedule.participates.all()
        assert schedule.largest_staleness == 0


def test_exponential_fedfix_reports() -> None:
    """With interval 1 and mean 2, a client reports in a round with probability 1 - exp(-1/2)."""
    schedule = _draws(FedFix(fmpq(1)), (fmpq(2), fmpq(1, 2)), 4000, 5)
    for client, mean in enumerate((2, 0.5)):
        share = 1 - math.exp(-1 / mean)
        error = math.sqrt(share * (1 - share) / 4000)
        assert abs(schedule.participates[:, client].mean() - share) <= 5 * error
    assert np.array(schedule.times, dtype=float) == pytest.approx(np.arange(4001))


def test_random_times_have_no_schedule() -> None:
    """Quantities that need the schedule are rejected, and so is a time budget."""
    clock = Clock(Asynchronous(), (fmpq(1),) * 3, "exponential")
    assert clock.is_random
    with pytest.raises(NotApplicable, match="random"):
        clock.schedule(3)
    with pytest.raises(NotApplicable, match="random"):
        _ = _algorithm(clock, Full()).schedule
    with pytest.raises(InputError, match=r"algorithm\.time"):
        clock.updates_within(fmpq(3))


# Invalid clocks.


@pytest.mark.parametrize("buffer", [0, -1, 4])
def test_buffers_that_never_fill(buffer: int) -> None:
    """A buffer holds from one to M contributions."""
    with pytest.raises(InputError, match=r"algorithm\.clock\.buffer.*1 to 3"):
        _clock(FedBuff(buffer), 1, 1, 1)


@pytest.mark.parametrize("time", [0, -1])
@pytest.mark.parametrize("policy", [Synchronous(), Asynchronous(), FedBuff(1), FedFix(fmpq(1))], ids=str)
def test_work_takes_time(policy: Policy, time: int) -> None:
    """Times that are not positive are rejected by every policy."""
    with pytest.raises(InputError, match=r"algorithm\.clock\.times.*positive"):
        _clock(policy, 1, time)


@pytest.mark.parametrize("policy", [Synchronous(), Asynchronous()], ids=str)
def test_one_time_for_each_client(policy: Policy) -> None:
    """Two times for three clients are rejected."""
    with pytest.raises(InputError, match=r"algorithm\.clock\.times.*3"):
        _algorithm(_clock(policy, 1, 1), Full())


@pytest.mark.parametrize("policy", [Asynchronous(), FedBuff(2), FedFix(fmpq(1))], ids=str)
@pytest.mark.parametrize("law", [Uniform(2), Multinomial(2), Fixed((0,))], ids=str)
def test_the_clock_alone_decides_who_reports(policy: Policy, law: Participation) -> None:
    """Participation laws need a server that waits for rounds."""
    with pytest.raises(InputError, match=r"algorithm\.participation"):
        _algorithm(_clock(policy, 1, 1, 1), law)
    _algorithm(_clock(Synchronous(), 1, 1, 1), law)
