"""Kinds of runs in the search: rare rows, units at the edge of conditions, user-defined algorithms."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from flint import fmpq
from known_errors import known_errors
from verdicts import SEARCH

from fedtheory import Claim, Rate
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.language.targets import resolve
from fedtheory.runfile import parse_run
from verify.check import check
from verify.effort import measure_work, spend
from verify.falsify.regimes import search_regimes
from verify.falsify.regimes.evaluation import Evaluation, Seen
from verify.falsify.regimes.factors import BASE, Point, normalise
from verify.falsify.regimes.regime_search import Search
from verify.falsify.regimes.violations import SETTLED, Violations
from verify.falsify.run_tables import Table
from verify.falsify.search_result import EVALUATIONS

eta, L, D, N, K = sp.symbols("eta L D N K", positive=True)
omega = sp.Symbol("omega", nonnegative=True)
WHERE = {eta: q.local_step_size, L: q.smoothness, D: q.initial_distance, N: q.clients, K: q.local_steps}
WHERE |= {omega: q.compression_variance}
SEARCH_BY_DEFAULT = SEARCH * EVALUATIONS


def search_for(claim: Claim, evaluations: int) -> Search:
    """Return the search for a violation of a claim."""
    return search_regimes(resolve(claim), evaluations)


@pytest.mark.parametrize(("level", "rows"), [(0, 32), (5, 128), (-5, 8)])
def test_a_step_on_a_rare_row_turns_the_error_round(level: int, rows: int) -> None:
    """The largest step is that of a row, as far as the claim allows it: one in many rows says anything."""
    claim = resolve(Claim(id="mine:step", lhs=q.local_step_size, rhs=10**9, assumptions=[a.update_rule, a.smooth]))
    point: Point = {**BASE, "loss": "rare rows", "gradients": level, "clients": 0, "step size": 0, "sources": "s"}
    assert normalise(point)["sources"] == "sn"
    table = Evaluation(claim).table(normalise(point))
    assert table is not None
    (row, *_), *_ = table["problem"]["inputs"]
    curvature = 2 * Fraction(row[0]) ** 2
    assert len(table["problem"]["inputs"][0]) == rows
    assert Fraction(str(table["algorithm"]["local_step_size"])) * curvature == 2
    assert parse_run(table, RATIONAL).smoothness == 1


@pytest.mark.parametrize(
    ("quantity", "most"),
    [
        (q.max_drift, 4096),
        (q.round_gap, 256),
        (q.visited_second_moment, 4096),
        (q.average_suboptimality, 2**22),
    ],
)
def test_runs_are_as_long_as_a_claim_allows(quantity: q.RunQuantity, most: int) -> None:
    """Equal rounds are doubled; what a claim asks for at each step bounds the steps of all clients."""
    claim = resolve(Claim(id="mine:long", lhs=quantity, rhs=10**9, assumptions=[a.update_rule]))
    point: Point = {**BASE, "clients": 1, "local steps": 0, "step size": -10, "horizon": ("T", 30)}
    table = Evaluation(claim).table(normalise(point))
    assert table is not None
    assert table["algorithm"]["rounds"] == (most if most == 2**22 else most // 2)


@pytest.mark.parametrize("loss", ["Huber", "Huber, linear part", "kinked"])
@pytest.mark.parametrize(("clients", "steps", "noisy"), [(0, 0, "all"), (0, 9, "all"), (10, 9, "all"), (10, 3, "one")])
def test_noise_on_losses_is_never_left_out(loss: str, clients: int, steps: int, noisy: str) -> None:
    """A run is as short as the enumeration of its coins asks for: at most nine of them, and at least one."""
    claim = resolve(Claim(id="mine:step", lhs=q.local_step_size, rhs=10**9, assumptions=[a.update_rule]))
    point: Point = {**BASE, "loss": loss, "clients": clients, "local steps": steps, "noisy clients": noisy}
    table = Evaluation(claim).table(normalise({**point, "sources": "sn", "horizon": ("T", 12)}))
    assert table is not None
    noisy_clients = sum(variance != "0" for variance in table["problem"]["noise"])
    coins = noisy_clients * table["algorithm"]["local_steps"] * table["algorithm"]["rounds"]
    assert 5 <= coins <= 9


@pytest.mark.parametrize("gradients", ["", "p"])
def test_a_kinked_loss_is_flat_on_one_side_of_its_optimum(gradients: str) -> None:
    """The run starts at the kink if no start is given, and its curvature is that of both terms."""
    claim = resolve(Claim(id="mine:step", lhs=q.local_step_size, rhs=10**9, assumptions=[a.update_rule]))
    point: Point = {**BASE, "loss": "kinked", "curvatures": "alike", "conditioning": -3, "sources": gradients + "n"}
    table = Evaluation(claim).table(normalise(point))
    assert table is not None
    run = parse_run(table, RATIONAL)
    assert (run.smoothness, list(run.problem.start)) == (1 + fmpq(1, 8), [0])
    gradient = run.problem.gradients(RATIONAL.array([[[0], [0]]])).sum()
    assert gradient == 0


@pytest.mark.long
def test_noise_moves_the_mean_on_losses_that_are_no_quadratics() -> None:
    """On quadratics the mean follows gradient descent, so that only other losses violate this bound."""
    stated = [a.same_local_work, a.unit_server_step, a.full_participation, a.uniform_shares, a.one_type]
    stated += [a.convex_and_smooth, a.unbiased_bounded_variance]
    claim = Claim(
        id="mine:mean",
        lhs=q.final_mean_distance_sq,
        rhs=D**2,
        where={D: q.initial_distance, eta: q.local_step_size, L: q.smoothness},
        conditions=[eta * L <= 1],
        assumptions=stated,
    )
    found = search_for(claim, 600).counterexample
    assert found is not None
    assert found[0]["problem"]["kind"] == "huber"
    assert (found[1].applicable, found[1].holds) == (True, False)


def test_two_of_four_clients_drawn_with_replacement_refute_the_variance_without_it() -> None:
    """The variance of m draws without replacement, (M - m) / (m (M - 1)), equals that with it for m = 1 alone."""
    mu, m, T = sp.symbols("mu m T", positive=True)
    zeta = sp.Symbol("zeta", nonnegative=True)
    variance = eta / (mu * (2 - eta * mu)) * (N - m) / (m * (N - 1)) * zeta**2
    where = {mu: q.strong_convexity, m: q.participants, T: q.rounds, zeta: q.gradient_dissimilarity}
    stated = [a.same_local_work, a.unit_server_step, a.multinomial_sampling, a.several_clients, a.uniform_shares]
    stated += [a.convex_and_smooth, a.strongly_convex_clients, a.full_gradients, a.bounded_dissimilarity]
    claim = Claim(
        id="mine:drawn",
        lhs=q.final_distance_sq,
        rhs=(1 - eta * mu) ** (2 * T) * D**2 + variance,
        where=WHERE | where,
        conditions=[eta <= 1 / L, sp.Le(K, 1), m <= N],
        assumptions=stated,
    )
    found = search_for(claim, SEARCH_BY_DEFAULT).counterexample
    assert found is not None
    assert found.table["algorithm"]["participation"] == {"kind": "multinomial", "clients": 2}
    assert (found.found.applicable, found.found.holds) == (True, False)


@pytest.mark.parametrize("assumption", [a.compressed, a.fedprox, a.scaffold], ids=lambda one: one.name)
def test_clients_of_one_type_are_so_with_any_algorithm(assumption: a.Assumption) -> None:
    """A claim about them is tried on runs of algorithms that are no setting of the update rule."""
    stated = [assumption, a.one_type, a.full_gradients]
    search = search_for(Claim(id="mine:alike", lhs=q.local_step_size, rhs=10**9, assumptions=stated), 60)
    assert search.applicable > 10


def test_a_bound_on_compressed_steps_without_a_server_step_is_refuted() -> None:
    """The bound holds only for a server step size of one, which it does not state."""
    stated = [a.compressed, a.full_gradients, a.one_type, a.full_participation]
    conditions = [eta * L * (1 + omega / N) <= 1, sp.Eq(K, 1)]
    claim = Claim(
        id="mine:compressed",
        lhs=q.final_distance_sq,
        rhs=D**2,
        where=WHERE,
        conditions=conditions,
        assumptions=stated,
    )
    search = search_for(claim, 600)
    assert search.counterexample is not None
    assert search.counterexample[0]["algorithm"]["server_step_size"] != 1


def seen(table: Table | None, sides: tuple[float, float], score: float) -> Seen:
    """A run whose sides floats cannot distinguish."""
    return Seen({**BASE}, score, table, None, sides)


def test_possible_rounding_is_decided_in_rationals() -> None:
    """Sides the wrong way round, by what floats cannot tell from rounding: rationals say that the claim holds."""
    claim = resolve(Claim(id="mine:twice", lhs=q.local_step_size, rhs=2 * eta, where=WHERE))
    table = Evaluation(claim).table(normalise(BASE))
    met = Violations(claim, 1.0, Evaluation(claim).score)
    unclear, right_way = seen(table, (1.5, 1.0), 0.4), seen(table, (1.0, 1.5), -0.4)
    for one in (unclear, right_way):
        met.meet_unclear(one)
    assert (unclear.score, right_way.score) == (SETTLED, -0.4)
    assert (met.found, met.left_open) == (None, 0)


def test_possible_rounding_can_be_a_violation() -> None:
    """A violation that could be rounding in floats is confirmed in rationals."""
    claim = resolve(Claim(id="mine:half", lhs=q.local_step_size, rhs=eta / 2, where=WHERE))
    met = Violations(claim, 1.0, Evaluation(claim).score)
    met.meet_unclear(seen(Evaluation(claim).table(normalise(BASE)), (2.0, 1.0), 0.7))
    assert met.found is not None
    assert met.found[1].ratio == 2.0


NEEDS_OWN_KIND = (
    "planted:comparator:forgetting.mean-error:a-missing-condition:2",
    "planted:liu2022:thm-1:a-constant-at-the-optimum:1",
    "planted:liu2022:thm-3:a-constant-at-the-optimum:1",
    "planted:liu2022:cor-4.K1.implied:a-wider-condition:1",
    "planted:fraboni2022:table-2.async.W:a-lost-number-of-clients-generous:1",
    "planted:fraboni2022:eq-38.fixed:a-lost-number-of-clients-generous:1",
)
"""The first three fail with rare rows alone, the next where the curvature is at the edge of its condition.

The last two ask for more than forty clients with a clock, and of a run that is not simulated.
"""


@pytest.mark.long
@pytest.mark.parametrize("id_", NEEDS_OWN_KIND)
def test_errors_that_need_a_kind_of_their_own_are_refuted(id_: str) -> None:
    """The search of a verdict refutes these errors in exact arithmetic."""
    (known,) = [known for known in known_errors() if known.id == id_]
    found = search_for(known.error.claim, SEARCH_BY_DEFAULT).counterexample
    assert found is not None
    assert (found[1].applicable, found[1].holds) == (True, False)


def test_the_levels_of_a_ladder_count_as_work() -> None:
    """A search for a violation of a rate ends in time, for ladders of long runs as well."""
    T = sp.Symbol("T", positive=True)
    rate = Rate(q.average_suboptimality, 1 / sp.sqrt(N * T), T, step_size=sp.sqrt(N / T) / 4)
    where = {T: q.iterations, N: q.clients}
    stated = [a.one_type, a.full_participation, a.unbiased_bounded_variance]
    claim = resolve(Claim(id="mine:speedup", rate=rate, where=where, assumptions=stated))
    problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"], "noise": ["1"]}
    run = parse_run({"problem": problem, "algorithm": {"local_step_size": "1/4", "rounds": 1}}, FLOAT)
    before = measure_work()
    spend(run)
    of_one_check = measure_work() - before
    found = check(claim, run)
    assert found.applicable
    assert measure_work() - before > 5 * of_one_check


@pytest.mark.long
def test_noise_with_unlike_client_weights_is_no_client_average() -> None:
    """Many clients of whom one has nearly all weight: neither change alone comes nearer to a violation."""
    T, sigma, zeta = sp.symbols("T sigma zeta", positive=True)
    noise = eta * sigma**2 / N + 18 * K**2 * eta**2 * L * zeta**2 + 4 * K * eta**2 * L * sigma**2
    claim = Claim(
        id="mine:weights",
        lhs=q.average_suboptimality,
        rhs=D**2 / (2 * eta * K * T) + noise,
        where={**WHERE, T: q.rounds, sigma: q.noise_deviation, zeta: q.gradient_dissimilarity},
        conditions=[4 * eta * L <= 1],
        assumptions=[
            a.same_local_work,
            a.full_participation,
            a.importance_weights,
            a.unit_server_step,
            a.convex_and_smooth,
        ],
    )
    found = search_for(claim, SEARCH_BY_DEFAULT).counterexample
    assert found is not None
    assert (found[1].applicable, found[1].holds) == (True, False)


@pytest.mark.long
def test_runs_nearby_without_a_minimiser_end_no_search() -> None:
    """Rounding moves a gradient off the range of an indefinite Hessian, where the objective has no least value."""
    gap, mu, L, eta, T, tau = sp.symbols("Delta mu L eta T tau", positive=True)
    where = {
        gap: q.initial_gap,
        mu: q.strong_convexity,
        L: q.smoothness,
        eta: q.local_step_size,
        T: q.rounds,
        tau: q.local_steps,
    }
    setting = [a.same_local_work, a.full_participation, a.uniform_shares, a.unit_server_step]
    claim = Claim(
        id="mine:linear-without-convexity",
        lhs=q.final_suboptimality,
        rhs=(1 - eta * mu) ** T * gap,
        where=where,
        conditions=[eta * L <= 1, sp.Eq(tau, 1)],
        assumptions=[*setting, a.smooth, a.full_gradients],
    )
    assert search_for(claim, 1500).applicable > 200
