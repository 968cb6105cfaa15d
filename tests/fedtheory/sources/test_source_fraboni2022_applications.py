"""Section 4 and Appendix C of fraboni2022: small schedules by hand, and algebra of closed forms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from tiny_runs import quadratics

from fedtheory import RATIONAL, Run
from fedtheory.arithmetic import Array, plain_floats
from fedtheory.federation import Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, FedFix, Policy, Synchronous, Ties
from fedtheory.federation.problem import least_squares
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import unbiased_updates
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.sources.fraboni2022.statements import asynchronous, corollary_2, fedfix, hardware, sampling, table_2
from fedtheory.sources.fraboni2022.statements.notation import R_L, K, M, N, Sigma_star, W, tau, theta0_distance
from fedtheory.sources.fraboni2022.statements.relaxed import write_bound
from verify.check import check

MODULES = (hardware, table_2, asynchronous, fedfix, sampling)
CLAIMS = {claim.id.partition(":")[2]: claim for module in MODULES for claim in module.CLAIMS}
CLOSED_FORMS = [
    *(f"table-2.async.{cell}" for cell in ("N", "alpha-beta", "tau", "W", "R")),
    *("dl-case", "eq-35", "eq-35.bounds", "eq-35.identical", "eq-36", "eq-37", "eq-39"),
]
"""Statements of Sections 4.1 and 4.3 about asynchronous FedAvg."""


def scheduled(policy: Policy, times: tuple[int, ...], rounds: int, optima: tuple[int, ...] = ()) -> Run:
    """Return clients (x - b_i)^2 / 2 from x = 1 with time-based weights, full gradients and steps of 1/4."""
    clients = len(times)
    problem = quadratics([[["1"]]] * clients, [[b] for b in optima or (0,) * clients], [1], eta="1/4").engine.problem
    clock = Clock(policy, tuple(fmpq(time) for time in times))
    weights = compute_time_based_weights(clock, problem.weights)
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=fmpq(1, 4), clock=clock, aggregation=weights))


def cycle(ties: Ties, times: tuple[int, ...], rounds: int) -> Run:
    """Return asynchronous clients with the optima 0 and 1 in turn."""
    return scheduled(Asynchronous(ties), times, rounds, tuple(i % 2 for i in range(len(times))))


def sampled(law: Participation, times: tuple[int, ...] = (1, 3)) -> Run:
    """Return clients (x + 1)^2 / 2 and (x - 1)^2 / 2 in turn, in synchronous rounds."""
    clients = len(times)
    problem = quadratics(
        [[["1"]]] * clients, [[(-1) ** (i + 1)] for i in range(clients)], [2], eta="1/4"
    ).engine.problem
    clock = Clock(Synchronous(), tuple(fmpq(time) for time in times))
    return Run(problem, fedavg(problem, rounds=2, local_step_size=fmpq(1, 4), clock=clock, participation=law))


def holds(name: str, run: Run) -> bool | None:
    """Return whether a claim of these sections holds on a run to which it applies."""
    found = check(CLAIMS[name], run)
    assert found.applicable, found.reason
    return found.holds


# Ties: identical clients report one by one, or all at once.


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_forms_are_about_single_reports(name: str) -> None:
    """With one report per update the closed forms hold; with simultaneous reports they do not apply."""
    assert holds(name, cycle("one-by-one", (1, 1), 4)) is True
    found = check(CLAIMS[name], cycle("together", (1, 1), 2))
    assert not found.applicable
    assert "more than one report" in str(found.reason)


def test_simultaneous_reports_break_every_closed_form() -> None:
    """Two clients that always report together run synchronous FedAvg, and violate every closed form."""
    claim, run = CLAIMS["algorithm-1.ties"], cycle("together", (1, 1), 2)
    assert len(claim.relations) == 5
    for relation in claim.relations:
        part = replace(claim, lhs=None, rhs=None, chain=(relation.left, relation.operator, relation.right), also=())
        assert check(part, run).holds is False


def test_the_window_of_identical_clients_is_their_number() -> None:
    """Three clients with the time 2: W = M = 3, tau = 2, and their period is 2."""
    run = cycle("one-by-one", (2, 2, 2), 6)
    assert [q.window.measure(run), q.largest_staleness.measure(run), q.common_period.measure(run)] == [3, 2, 2]
    assert not check(CLAIMS["dl-case"], cycle("one-by-one", (1, 2), 6)).applicable


def test_the_cycle_of_two_clients() -> None:
    """Times 1 and 2: reports of 1, then of both; the window is 2 or 3, and q_i is 3/4 or p_i = 1/2."""
    together, single = cycle("together", (1, 2), 4), cycle("one-by-one", (1, 2), 6)
    assert (q.window.measure(together), q.window.measure(single)) == (2, 3)
    assert q.mean_weight.measure(together).ravel().tolist() == [fmpq(3, 4)] * 2
    assert q.mean_weight.measure(single).ravel().tolist() == [fmpq(1, 2)] * 2
    assert q.reports_in_a_period.measure(single) == 3


def test_the_constant_of_the_staleness() -> None:
    """(34) with the constant one fails for times 2 and 3: the slower client is 2 updates behind, more than 3/2."""
    run = cycle("one-by-one", (2, 3), 5)
    assert q.largest_staleness.measure(run) == q.most_other_reports.measure(run) == 2
    assert q.largest_staleness.measure(run) > fmpq(3, 2) * (2 - 1)
    assert holds("eq-34", run) is True


def test_fedfix_counts_from_zero() -> None:
    """Clients that report in every update have staleness zero; with short intervals even equal clients skip updates."""
    prompt, late = scheduled(FedFix(fmpq(2)), (1, 2), 2), scheduled(FedFix(fmpq(1)), (3, 3), 3)
    assert [q.largest_staleness.measure(run) for run in (prompt, late)] == [0, 2]
    assert [q.window.measure(run) for run in (prompt, late)] == [1, 3]
    for run in (prompt, late):
        assert holds("fedfix.schedule", run) is False
        for name in ("reports", "fixed", "window"):
            assert holds(f"fedfix.schedule.{name}", run) is True
    assert holds("eq-42.identical", late) is False
    assert [q.speed_ratio_below.measure(late), q.speed_ratio_above.measure(late)] == [1, 1]
    assert holds("table-2.fedfix.tau", late) is False
    assert holds("table-2.fedfix.W", late) is False


def test_speed_ratios_are_rounded() -> None:
    """Slowest over fastest, 5/2, between 2 and 3."""
    run = scheduled(FedFix(fmpq(1)), (2, 5, 4), 2)
    assert [q.speed_ratio_below.measure(run), q.speed_ratio_above.measure(run)] == [2, 3]


def test_remaining_times_of_a_round() -> None:
    """For times 1 and 2, one by one, the remaining times agree by hand."""
    run = cycle("one-by-one", (1, 2), 3)
    assert q.largest_remaining_time.measure(run).ravel().tolist() == [2, 1, 1]
    assert q.least_remaining_time.measure(run).ravel().tolist() == [1, 1, 0]
    assert q.round_duration.measure(run).ravel().tolist() == [1, 1, 0]


def test_fedfix_may_outperform_synchronous_fedavg() -> None:
    """x^2/2 twice, times 1 and 2, interval 1: after two updates FedFix is at 33/64, synchronous FedAvg at 36/64."""
    run, together = scheduled(FedFix(fmpq(1)), (1, 2), 2), scheduled(Synchronous(), (1, 2), 2)
    assert run.trajectory.server_mean[-1].tolist() == [fmpq(33, 64)]
    assert together.trajectory.server_mean[-1].tolist() == [fmpq(36, 64)]


def test_errors_of_other_policies() -> None:
    """x^2/2 twice, after two updates: synchronous FedAvg is at 9/16 of the start, asynchronous FedAvg at 1/2."""
    run = scheduled(FedFix(fmpq(1)), (1, 1), 2)
    assert q.final_suboptimality.measure(run) == q.synchronous_final_suboptimality.measure(run) == fmpq(81, 512)
    assert q.asynchronous_final_suboptimality.measure(run) == fmpq(1, 8)
    assert q.synchronous_final_suboptimality.measure(scheduled(FedFix(fmpq(1)), (1, 2), 2)) == fmpq(81, 512)


def test_regimes_of_the_interval() -> None:
    """Times 1 and 2: synchronous for the interval 2, and only the first client is for the interval 1."""
    prompt, late = scheduled(FedFix(fmpq(2)), (1, 2), 2), scheduled(FedFix(fmpq(1)), (1, 2), 2)
    assert holds("fedfix.regimes.synchronous", prompt) is True
    assert not check(CLAIMS["fedfix.regimes.synchronous"], late).applicable
    assert holds("fedfix.regimes.client", late) is True
    assert holds("fedfix.regimes", prompt) is False


@pytest.mark.parametrize("length", ["1/4", "1"])
def test_short_intervals_make_the_bound_of_fedfix_the_larger_one(length: str) -> None:
    """Optima 0 and 1, times 1 and 2: at the interval 1/4 the last terms of (42) exceed those of (38), at 1 not."""
    updates = 8 if length == "1/4" else 2
    assert holds("eq-42.ordering", scheduled(FedFix(fmpq(length)), (1, 2), updates, (0, 1))) is (length == "1")


# Exponential update times.


def test_enclosures_contain_the_floats() -> None:
    """Report probabilities of exponential clocks agree in both arithmetics, and with the formula."""
    run = scheduled(FedFix(fmpq(1)), (1, 3), 3)
    chances = q.report_chance.measure(run.as_floats())[0, 0]
    assert chances.tolist() == pytest.approx([1 - math.exp(-1), 1 - math.exp(-1 / 3)], rel=1e-14)
    assert plain_floats(q.report_chance.measure(run)[0, 0]).tolist() == pytest.approx(chances.tolist(), rel=1e-14)
    shares = q.exponential_share.measure(run.as_floats())[0, 0]
    assert shares.tolist() == pytest.approx((chances * [1, 3] / (chances @ [1, 3])).tolist(), rel=1e-14)


def _report_frequencies(policy: Policy, updates: int) -> Array:
    clock = Clock(policy, (fmpq(1), fmpq(3)), "exponential")
    frequencies: Array = clock.draw(updates, np.random.default_rng(5)).participates.mean(axis=0)
    return frequencies


@pytest.mark.parametrize(
    ("policy", "chances"),
    [
        (FedFix(fmpq(1)), [1 - math.exp(-1), 1 - math.exp(-1 / 3)]),
        (Asynchronous(), [3 / 4, 1 / 4]),
    ],
    ids=["fedfix", "async"],
)
def test_exponential_clocks_report_as_said(policy: Policy, chances: list[float]) -> None:
    """Sampled schedules agree with the probabilities of the claims within four standard errors."""
    updates = 4000
    for found, chance in zip(_report_frequencies(policy, updates), chances, strict=True):
        assert abs(found - chance) <= 4 * math.sqrt(chance * (1 - chance) / updates)


def test_the_closed_form_of_fedfix_needs_fixed_times() -> None:
    """For exponential times 1 and 3 with interval 1 the normalised weights are 0.4273 and 0.5727."""
    run = scheduled(FedFix(fmpq(1)), (1, 3), 3)
    assert holds("hardware", run) is False
    assert holds("eq-40", run) is True
    assert holds("hardware.fixed", run) is True


# The algebra of the closed forms.


def test_the_window_term_lost_a_factor() -> None:
    """In (38) and (42) the window term is too small by a factor of K: 1/sqrt(K N) instead of sqrt(K/N)."""
    for substituted, printed in (
        (asynchronous.async_substituted, asynchronous.async_epsilon),
        (fedfix.fedfix_substituted, fedfix.fedfix_epsilon),
    ):
        assert sp.simplify(sp.diff(substituted, W) / sp.diff(printed, W)) == K


def test_the_other_terms_are_those_of_theorem_3() -> None:
    """Apart from (K-1)^2/(K N) for (K-1)/N, the repaired closed forms are Theorem 3 with Table 2."""
    local = (K - 1) / N - (K - 1) ** 2 / (K * N)
    for substituted, closed, factor in (
        (asynchronous.sync_substituted, asynchronous.sync_epsilon, Sigma_star),
        (asynchronous.async_substituted, asynchronous.async_epsilon_fixed, R_L + Sigma_star),
        (fedfix.fedfix_substituted, fedfix.fedfix_epsilon_fixed, R_L + Sigma_star),
    ):
        assert sp.simplify(closed - substituted - local * factor) == 0


@pytest.mark.parametrize(
    ("exponents", "excesses"),
    [
        (("1/4", "1/4", "1/2"), (3, 3, 3, 0, 0)),
        (("1/2", "1/4", "3/4"), (3, 0, 15, 3, 0)),
        (("0", "1/2", "3/4"), (3, 0, 15, 0, 15)),
        (("0", "0", "1/4"), (3, 15, 0, 0, 0)),
    ],
)
def test_powers_of_corollary_2(exponents: tuple[str, str, str], excesses: tuple[int, ...]) -> None:
    """For N = 256 the symbols of Corollary 2 stand for the powers of N that its parameters have."""
    a, b, c = map(sp.Rational, exponents)
    size, delay, width, updates = corollary_2.size, corollary_2.delay, corollary_2.width, sp.Integer(256)
    direct = write_bound(size * updates**-c, updates, delay * updates**b, 1 + width * updates**a)
    values = dict(zip(corollary_2.EXCESSES, excesses, strict=True))
    assert corollary_2.largest.subs(values) == updates ** -min(1 - c, c - a, c - b)
    claim = corollary_2.CLAIMS[0]
    assert sp.expand(claim.relations[0].left.subs(values) - direct) == 0


def test_the_first_rate_of_the_literature() -> None:
    """The bound of Theorem 3 with W = tau + 1, times sqrt(N/tau), stays bounded for N = tau^2 and growing tau."""
    stale, grown = sp.symbols("r s", nonnegative=True)
    n = sp.Symbol("n", positive=True)
    values = {R_L: 1, theta0_distance: 1, Sigma_star: 1, asynchronous.tau_M: 2, asynchronous.tau_0: 1}
    bound = asynchronous.delayed_bound.subs(values) * (1 + grown)
    assert sp.limit(bound.subs({stale: n, grown: n}), n, sp.oo) == 2


def test_the_rates_of_the_literature() -> None:
    """Times sqrt(N), (38) for iid data is bounded with M = N^(1/4) and is not with M = sqrt(N)."""
    n = sp.Symbol("n", positive=True)
    values = {theta0_distance: 1, Sigma_star: 1, asynchronous.tau_M: 2, asynchronous.tau_0: 1}
    bound = asynchronous.iid_async.subs(values)
    assert sp.limit(bound.subs({M: n, N: n**2}) * n, n, sp.oo) == sp.oo
    assert sp.limit(bound.subs({M: n, N: n**4}) * n**2, n, sp.oo) == 11
    slow = asynchronous.slow_step_bound.subs(values)
    assert sp.limit(slow.subs({tau: n, N: n**4}) * n, n, sp.oo) == 1


def test_a_delay_as_long_as_the_window() -> None:
    """Eight clients and a buffer of four, each of them at least once in a window: W = 3, and the staleness is 3."""
    times = tuple(map(fmpq, (9, 7, 1, 8, 10, 4, 3, 6)))
    schedule = Clock(FedBuff(4, "one-by-one"), times).schedule(6)
    counts = schedule.participates.reshape(2, 3, 8).sum(axis=1)
    assert (counts[0] == counts[1]).all()
    assert counts.min() == 1
    assert schedule.smallest_window(schedule.participates.astype(int)) == schedule.largest_staleness == 3


# Sampling.


def test_the_expected_time_of_a_round() -> None:
    """Times 1 and 3: one uniform client takes 2 on average, two draws take 5/2."""
    assert q.expected_round_time.measure(sampled(Uniform(1))) == 2
    assert q.expected_round_time.measure(sampled(Multinomial(2))) == fmpq(5, 2)
    assert q.expected_clock_time.measure(sampled(Multinomial(2))) == 5


def test_a_round_with_too_many_outcomes_is_not_enumerated() -> None:
    """Ten of twenty clients have 184,756 outcomes, which are not enumerated."""
    run = sampled(Uniform(10), tuple(range(1, 21)))
    found = check(CLAIMS["sampling.unbiased.time"], run)
    assert not found.applicable
    assert "outcomes" in (found.reason or "")


def test_moments_of_sampled_weights() -> None:
    """One of two clients: alpha = 0 and beta = 1; two of three: alpha = 3/4 and beta = 1/4."""
    one, two = sampled(Uniform(1)), sampled(Uniform(2), (1, 2, 3))
    assert [q.weight_pairing.measure(run) for run in (one, two)] == [0, fmpq(3, 4)]
    assert [q.weight_excess.measure(run) for run in (one, two)] == [1, fmpq(1, 4)]
    assert holds("sampling.unbiased.alpha", one) is False
    assert holds("sampling.unbiased", two) is False
    assert all(holds(f"sampling.unbiased.{name}", two) for name in ("weights", "fixed", "alpha.fixed"))
    assert holds("sampling.unbiased.uniform", two) is True


def test_the_fastest_clients_have_an_optimum_of_their_own() -> None:
    """The faster of the clients (x + 1)^2/2 and (x - 1)^2/2 leads to -1 with gap 1/2; both lead to 0."""
    one, both = sampled(Uniform(1)), sampled(Uniform(2))
    assert [q.fastest_gap.measure(run) for run in (one, both)] == [fmpq(1, 2), 0]
    assert [q.fastest_gradient.measure(run) for run in (one, both)] == [1, 0]
    assert [q.fastest_pairing.measure(one), q.fastest_excess.measure(one)] == [1, 0]


def test_biased_sampling_may_keep_the_optimum() -> None:
    """Two clients of the same type: the faster one alone has the optimum of both."""
    run = sampled(Uniform(1))
    alike = Run(replace(run.problem, linear=RATIONAL.array([[1], [1]])), run.algorithm)
    assert holds("sampling.biased", run) is True
    assert not check(find("fraboni2022:sampling.biased"), alike).applicable
    assert q.fastest_gap.measure(alike) == 0


def test_noise_of_mini_batches_depends_on_the_model() -> None:
    """The bound for sampled clients needs additive noise, whose distribution does not depend on the model."""
    data = ClientData((RATIONAL.array([[1], [2]]),), (RATIONAL.array([0, 1]),))
    batches = least_squares(data, RATIONAL.array([1]), batch=1)
    additive = quadratics([[["1"]]], [[0]], [1], eta="1/64", deviation=1).engine
    run = Run(batches, fedavg(batches, rounds=1, local_step_size=fmpq(1, 64)))
    assert sampling.model_free_noise.failure(run) is not None
    assert not check(CLAIMS["sampling.unbiased.bound"], run).applicable
    assert holds("sampling.unbiased.bound", additive) is True


def test_unbiased_updates_are_seen() -> None:
    """Full participation has q_i(n) = p_i; asynchronous clients do not."""
    assert unbiased_updates.failure(sampled(Uniform(1))) is None
    assert unbiased_updates.failure(cycle("one-by-one", (1, 2), 3)) is not None


def test_every_refuted_print_has_its_repair() -> None:
    """Every refuted claim is followed by a supported correction."""
    ordered: list[Claim] = list(CLAIMS.values())
    for claim, following in zip(ordered, [*ordered[1:], None], strict=True):
        if claim.verdict == "refuted":
            assert following is not None
            assert following.corrects == claim.id
            assert following.verdict in ("supported", "proved")
