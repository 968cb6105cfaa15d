"""The search by regimes: its design, the runs at its points, the edge of conditions, and what it finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
import sympy as sp
from bound_symbols import WHERE, D, L, M, T, eta, mu, tau, zeta

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.language.assumptions import Assumption
from fedtheory.language.registry import find
from fedtheory.language.targets import resolve
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.regimes import search_regimes
from verify.falsify.regimes.algorithm_tables import ClaimedAlgorithm, count_rounds_of_a_cycle
from verify.falsify.regimes.confirmation import decide_table
from verify.falsify.regimes.covering_design import Design
from verify.falsify.regimes.edge import UNBOUNDED, Edge
from verify.falsify.regimes.evaluation import Evaluation, rate_run
from verify.falsify.regimes.factors import BASE, STANDARD, count, normalise
from verify.falsify.run_tables import count_steps

ALONE = (a.one_client, a.full_gradients, a.strongly_convex_clients, a.same_local_work, a.unit_server_step)


def contraction(rate: sp.Expr, *conditions: sp.Expr) -> Claim:
    """Return a bound on the distance of gradient descent."""
    return resolve(
        Claim(
            id="mine:contraction",
            lhs=q.final_distance_sq,
            rhs=rate**T * D**2,
            where=WHERE,
            conditions=[tau <= 1, *conditions],
            assumptions=ALONE,
        )
    )


def test_a_design_covers_every_pair_of_levels() -> None:
    """Every two levels of two factors meet in some row, where the claim mentions all of them."""
    levels = {name: list(STANDARD[name].levels) for name in ("clients", "local steps", "horizon", "weights")}
    design = Design(STANDARD, levels, seed=3)
    rows = []
    for row in design.rows(400):
        rows.append(row)
        design.count(row, applies=True)
    met = {frozenset([(x, str(row[x])), (y, str(row[y]))]) for row in rows for x, y in combinations(levels, 2)}
    wanted = {
        frozenset([(x, str(one)), (y, str(other))])
        for x, y in combinations(levels, 2)
        for one in levels[x]
        for other in levels[y]
    }
    assert met == wanted
    assert design.covered == design.all_pairs


def test_a_pair_that_never_applies_is_given_up() -> None:
    """A design does not ask without end for what a claim excludes, and counts it."""
    design = Design(STANDARD, {name: list(STANDARD[name].levels) for name in ("clients", "weights")}, seed=0)
    for row in design.rows(200):
        design.count(row, applies=row["weights"] is None)
    assert design.given_up > 0
    assert {pair for pair in design.all_pairs if "None" in str(pair)} == design.covered


@pytest.mark.parametrize("name", sorted(STANDARD))
def test_every_level_is_a_run(name: str) -> None:
    """With each level of each factor the base is a run, unless another factor has a say in the number of clients."""
    factor = STANDARD[name]
    evaluation = Evaluation(
        resolve(Claim(id="mine:all", lhs=q.local_step_size, rhs=10**9, assumptions=[a.update_rule, a.smooth]))
    )
    for level in factor.levels:
        table = evaluation.table(normalise({**BASE, name: level}))
        assert table is not None
        run = parse_run(table, RATIONAL)
        if name == "clients":
            assert run.problem.clients == count(level)
        if name == "local steps":
            assert set(run.algorithm.work.steps) == {count(level)}


@pytest.mark.parametrize(
    ("condition", "largest"),
    [
        (eta <= 1 / (4 * L), 1 / 4),
        (eta**2 * L**2 <= 1 / sp.Integer(9), 1 / 3),
        (eta * (L + mu) <= 1, 0.5),
    ],
    ids=["linear", "squared", "of two constants"],
)
def test_the_edge_is_the_largest_step_size(condition: sp.Expr, largest: float) -> None:
    """The edge of a condition is the largest step size that it allows, for a curvature of 1."""
    claim = contraction(1 - eta * mu, condition)
    table = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]}
    run = parse_run(
        {"problem": table, "algorithm": {"local_step_size": "1/1024", "local_steps": 1, "rounds": 1}}, FLOAT
    )
    assert Edge(claim).largest_factor(run) == pytest.approx(1024 * largest, rel=1e-9)


def test_the_edge_of_a_curved_condition() -> None:
    """A contraction factor is nearly one for tiny steps, where its logarithm says nothing of its edge."""
    claim = contraction(1 - eta * mu, 1 - eta * mu >= sp.Rational(1, 4))
    table = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]}
    run = parse_run(
        {"problem": table, "algorithm": {"local_step_size": "1/16384", "local_steps": 1, "rounds": 1}}, FLOAT
    )
    assert Edge(claim).largest_factor(run) == pytest.approx(16384 * 3 / 4, rel=0.05)


@pytest.mark.parametrize("clock", ["one slow", "equal times", "fixed intervals", "long intervals"])
@pytest.mark.parametrize("clients", [0, 1, 2, 3, 6])
def test_a_cycle_ends_when_all_have_reported_in_proportion(clock: str, clients: int) -> None:
    """Claims about whole cycles get numbers of rounds that are one or several cycles, with any number of clients."""
    evaluation = Evaluation(
        resolve(Claim(id="mine:cycles", lhs=q.local_step_size, rhs=10**9, assumptions=[a.whole_cycles, a.smooth]))
    )
    assert {unit for unit, _ in evaluation.factors["horizon"].levels} == {"cycle"}
    for power in (0, 1):
        point = {**BASE, "clients": clients, "clock": clock, "horizon": ("cycle", power)}
        is_short = count_rounds_of_a_cycle(normalise(point)) * 2**power <= 256
        assert evaluation.score(point).applies == is_short, (clock, clients, power)


@pytest.mark.parametrize("step", [a.speedup_step, a.plain_speedup_step], ids=["with L", "without L"])
def test_a_tied_step_size_is_rational(step: Assumption) -> None:
    """Clients and iterations are powers of four where the step size is the root of their quotient."""
    claim = Claim(
        id="mine:tied",
        lhs=q.local_step_size,
        rhs=10**9,
        where={tau: q.local_steps, M: q.clients, T: q.iterations},
        conditions=[tau**4 * M**3 <= T],
        assumptions=[a.same_local_work, step],
    )
    search = search_regimes(resolve(claim), 200)
    assert search.applicable > 10
    assert {regime.level for regime in search.regimes if regime.factor == "clients"} >= {"1", "4"}
    false = search_regimes(resolve(replace(claim, rhs=1 / sp.Integer(100))), 200).counterexample
    assert false is not None
    assert false[1].holds is False


def test_decreasing_steps_are_those_of_the_assumption() -> None:
    """Steps 2/(mu tau (n + c)) in round n, for curvatures along the axes."""
    bound = Claim(
        id="mine:decreasing",
        lhs=q.final_distance_sq,
        rhs=D**2,
        where=WHERE,
        assumptions=[a.decreasing_steps, a.strongly_convex_clients, a.full_participation],
    )
    evaluation = Evaluation(bound)
    for levels in ({}, {"curvatures": "crossed", "unit of values": 12, "clients": 3.32}):
        seen = evaluation.score({**BASE, "horizon": ("T", 2), **levels})
        assert seen.table is not None
        work = parse_run(seen.table, RATIONAL).algorithm.work
        first, second = (work.sizes_at(n, 0)[0] for n in range(2))
        assert 0 < second < first


def test_no_run_is_long_where_each_step_is_looked_at() -> None:
    """Runs whose claim is about each step are short, for every participation law and for all numbers of local steps."""
    asked = resolve(Claim(id="mine:drift", lhs=q.max_drift, rhs=zeta, where=WHERE, assumptions=[a.same_local_work]))
    free = resolve(Claim(id="mine:end", lhs=q.final_distance_sq, rhs=D, where=WHERE, assumptions=[a.same_local_work]))
    levels = {"participation": "one", "clients": 3.32, "local steps": 9, "horizon": ("L", 5), "step size": -10}
    steps = []
    for one in (asked, free):
        table = Evaluation(one).table(normalise({**BASE, **levels}))
        assert table is not None
        steps.append(count_steps(table))
    assert steps[0] <= 4096 < steps[1]


def test_half_of_the_clients_are_few() -> None:
    """With half of the clients there are few clients, since a claim may enumerate all sets of participants."""
    assert count(normalise({**BASE, "clients": 9.97, "participation": "half"})["clients"]) == 6


def test_ties_lead_nowhere() -> None:
    """An ascent prefers any gap between the sides to two sides that floats cannot distinguish."""
    claim = resolve(Claim(id="mine:tie", lhs=q.final_distance_sq, rhs=D**2, where=WHERE, assumptions=ALONE))
    evaluation = Evaluation(claim)
    still = evaluation.score({**BASE, "clients": 0, "local steps": 0, "sources": "s", "step size": -60})
    moving = evaluation.score({**BASE, "clients": 0, "local steps": 0, "sources": "s", "step size": -4})
    assert still.holds is None
    assert still.score > moving.score
    assert rate_run(still) < rate_run(moving)


@pytest.mark.parametrize("rounds", [20, 2**20])
def test_a_long_violation_is_decided_in_enclosures(rounds: int) -> None:
    """If rationals take minutes, enclosures decide: heterogeneity enters in the square of the local steps."""
    zeta_opt = sp.Symbol("zeta_*", nonnegative=True)
    rhs = D**2 / (eta * tau * T) + 12 * L * eta**2 * tau * zeta_opt**2
    where = {**WHERE, zeta_opt: q.dissimilarity_at_optimum}
    bound = resolve(Claim(id="mine:steps", lhs=q.average_suboptimality, rhs=rhs, where=where))
    problem = {"kind": "quadratic", "hessians": [[["1"]], [["1/1024"]]], "linear": [["1"], ["-1"]], "start": ["0"]}
    algorithm = {"local_step_size": "1/20480", "local_steps": 2048, "rounds": rounds}
    found = decide_table(bound, {"problem": problem, "algorithm": algorithm})
    assert found is not None
    assert (found[1].holds, found[1].arithmetic.is_rigorous) == (False, True)


@pytest.mark.parametrize("rounds", [4, 2**16, 2**21])
def test_a_violation_that_floats_alone_see_is_none(rounds: int) -> None:
    """A run that neither rationals nor enclosures reach has no verdict."""
    claim = resolve(
        Claim(id="mine:tiny", lhs=q.average_local_gradient_sq, rhs=sp.Rational(1, 10**12), assumptions=[a.smooth])
    )
    clients = 128
    problem = {
        "kind": "quadratic",
        "hessians": [[["1/16"]]] * clients,
        "linear": [["0"]] * clients,
        "start": ["0"],
        "noise": ["1/256"] * clients,
    }
    algorithm = {"local_step_size": "1/128", "local_steps": 1, "rounds": rounds}
    found = decide_table(claim, {"problem": problem, "algorithm": algorithm})
    assert found is None or found[1].is_decided
    assert rounds > 4 or found is not None


def test_no_condition_no_edge() -> None:
    """Without conditions step sizes beyond 2/L are tried as well."""
    claim = resolve(Claim(id="mine:free", lhs=q.final_distance_sq, rhs=D**2, where=WHERE, assumptions=ALONE))
    table = Evaluation(claim).table(normalise({**BASE, "clients": 0, "local steps": 0, "sources": "s", "step size": 0}))
    assert table is not None
    run = parse_run(table, FLOAT)
    assert Edge(claim).largest_factor(run) == UNBOUNDED
    assert run.problem.hessians.max() == 1
    assert run.algorithm.work.step_sizes[0] > 2


def test_a_false_contraction_is_refuted_exactly() -> None:
    """Three times the step cannot be gained, only twice: tiny steps show it, or many of them."""
    search = search_regimes(contraction(1 - 3 * eta * mu, eta <= 1 / (4 * L)), 1500)
    assert search.counterexample is not None
    table, found = search.counterexample
    assert found.holds is False
    assert check(found.claim, parse_run(table, RATIONAL)).holds is False


def test_a_true_contraction_stands_on_all_regimes() -> None:
    """A true claim has no violation and no open run, every pair is covered, and the regimes count their runs."""
    search = search_regimes(contraction(1 - eta * mu, eta <= 1 / L), 400)
    assert search.counterexample is None
    assert search.left_open == 0
    # Ascents from settings have evaluations of their own; this claim leaves two.
    assert search.evaluations == 402
    assert search.pairs.covered == search.pairs.all - search.pairs.given_up > 0
    by_factor = {regime.factor for regime in search.regimes}
    assert {"step size", "horizon", "conditioning"} <= by_factor
    assert "clients" not in by_factor
    assert all(regime.runs > 0 for regime in search.regimes)
    assert max(regime.largest_ratio or 0 for regime in search.regimes) <= 1 + 1e-9


@pytest.mark.long
def test_the_same_seed_finds_the_same() -> None:
    """Evaluations are counted, so that the search is the same at every load."""
    claim = resolve(find("renard2022:lemma-2.3"))
    first, again = search_regimes(claim, 120, seed=5), search_regimes(claim, 120, seed=5)
    assert (first.applicable, first.best, first.regimes) == (again.applicable, again.best, again.regimes)


@pytest.mark.long
def test_a_theorem_is_tried_with_few_clients_and_many() -> None:
    """The search has runs with one client and with 32, with few rounds and with so many that the start is forgotten."""
    search = search_regimes(resolve(find("renard2022:thm-2.1")), 200)
    runs = {regime.name: regime.runs for regime in search.regimes}
    wanted = ("clients: 1", "clients: 32", "local steps: 1", "local steps: 64", "horizon: 1 round")
    assert all(runs[name] >= 5 for name in (*wanted, "horizon: 32/(eta mu) steps"))


@pytest.mark.parametrize("name", ["fedavgm", "scaffnew", "dsgd", "compressed", "fedprox", "scaffold", "fednova"])
def test_parameters_of_an_algorithm_are_factors(name: str) -> None:
    """Each user-defined parameter has several levels, and each level is one that a run file can have."""
    assumption = a.server_momentum if name == "fedavgm" else getattr(a, name)
    claim = resolve(
        Claim(id="mine:any", lhs=q.final_distance_sq, rhs=10**9 * (1 + D**2), where=WHERE, assumptions=[assumption])
    )
    subject = ClaimedAlgorithm.from_claim(claim)
    assert subject.name == name
    definition = subject.definition
    assert definition is not None
    assert {one.key for one in definition.parameters} <= {factor.name for factor in subject.factors}
    evaluation = Evaluation(claim)
    start = {**BASE, **{factor.name: factor.levels[0] for factor in subject.factors}}
    for factor in subject.factors:
        for level in factor.levels:
            assert evaluation.table(normalise({**start, factor.name: level})) is not None


def test_claims_that_never_apply_are_not_searched() -> None:
    """If the conditions exclude all runs, nothing is tried and nothing is printed."""
    claim = resolve(
        Claim(id="mine:never", lhs=q.max_drift, rhs=1, where=WHERE, conditions=[eta * L >= 2, eta * L <= 1])
    )
    search = search_regimes(claim, 300)
    assert (search.applicable, search.counterexample, search.regimes) == (0, None, ())
    assert search.evaluations <= 300


def test_step_sizes_below_an_excluded_edge() -> None:
    """A strict condition excludes the largest step size, and a run just below it refutes the claim."""
    claim = Claim(
        id="mine:up-to-2L",
        lhs=q.final_suboptimality,
        rhs=D**2 / (2 * eta * T),
        where={eta: q.local_step_size, L: q.smoothness, D: q.initial_distance, T: q.rounds, tau: q.local_steps},
        conditions=[sp.Eq(tau, 1), eta < 2 / L],
        assumptions=[a.one_client, a.full_gradients, a.convex_and_smooth],
    )
    found = search_regimes(resolve(claim), 400, 0)
    assert found.counterexample is not None
    assert found.counterexample.found.holds is False
    assert found.counterexample.found.arithmetic is RATIONAL
