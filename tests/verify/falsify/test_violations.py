"""Violations that floats see: which are decided, in which order, and which stay undecided."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

import fedtheory
from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.cli.verify import encode_verdict, print_text
from fedtheory.language.targets import resolve
from fedtheory.runfile import parse_run
from verify.claim_verdict import ClaimVerdict
from verify.falsify import QuickSearch
from verify.falsify.regimes import Pairs, Regime, search_regimes, violations
from verify.falsify.regimes.evaluation import Evaluation, Seen
from verify.falsify.regimes.factors import BASE
from verify.falsify.regimes.violations import SETTLED, Violations
from verify.falsify.run_tables import list_features, make_working_table
from verify.falsify.search_state import FAR, SearchState
from verify.searches import Searches
from verify.verdict import verify

eta, L = sp.symbols("eta L", positive=True)
D, sigma, zeta = sp.symbols("D sigma zeta", nonnegative=True)
WHERE = {eta: q.local_step_size, L: q.smoothness, D: q.initial_distance, sigma: q.noise_deviation}
WHERE |= {zeta: q.gradient_dissimilarity}


def claim(lhs: q.RunQuantity, rhs: sp.Expr, **stated: Any) -> Claim:
    """A claim about plain FedAvg."""
    return resolve(Claim(id="mine:bound", lhs=lhs, rhs=rhs, where=WHERE, **stated))


ALWAYS_FALSE = claim(q.local_step_size, eta / 2)
DRIFT = claim(q.max_drift, 10**6 * (zeta**2 + sigma**2) / L**2, conditions=[eta * L <= 1])


def seen_at(evaluation: Evaluation, **levels: Any) -> Seen:
    """The base with some levels changed."""
    return evaluation.score({**BASE, **levels})


def test_a_violation_is_decided_at_once_and_rigorously() -> None:
    """Twice what is claimed: the run file that is found has exactly this ratio."""
    evaluation = Evaluation(ALWAYS_FALSE)
    met = Violations(ALWAYS_FALSE, 1.0, evaluation.score)
    met.meet(seen_at(evaluation))
    assert met.found is not None
    found = met.found[1]
    assert (found.holds, found.arithmetic.is_rigorous, found.ratio) == (False, True, 2.0)
    assert met.left_open == 0


def test_without_work_violations_are_left_open() -> None:
    """Without a budget, violations are counted once each, and none is decided."""
    evaluation = Evaluation(ALWAYS_FALSE)
    met = Violations(ALWAYS_FALSE, 0.0, evaluation.score)
    for count in (0, 1, 1):
        met.meet(seen_at(evaluation, clients=count))
    met.decide_open(1)
    assert (met.found, met.left_open) == (None, 2)


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[Seen]:
    """The violations that are decided, in their order; the decision is always that nothing is known."""
    order: list[Seen] = []

    def note(_claim: Claim, seen: Seen, *_: Any) -> None:
        order.append(seen)

    monkeypatch.setattr(violations, "confirm", note)
    return order


def test_distinct_kinds_come_first_and_light_runs_before_heavy_ones(decided: list[Seen]) -> None:
    """The first of each kind is decided when it is met; those that wait are decided by their exact work."""
    evaluation = Evaluation(ALWAYS_FALSE)
    met = Violations(ALWAYS_FALSE, 10.0, evaluation.score)
    first = seen_at(evaluation, sources="snp")
    heavy = seen_at(evaluation, sources="snp", horizon=("T", 10))
    light = seen_at(evaluation, sources="snp", horizon=("T", 8))
    other = seen_at(evaluation, sources="n")
    for seen in (first, heavy, light, other):
        met.meet(seen)
    assert decided == [first, other]
    assert met.left_open == 4
    met.decide_open(1)
    assert decided == [first, other, light, heavy]
    assert met.left_open == 4
    assert {seen.score for seen in decided} == {SETTLED}


def test_a_tie_of_rounding_is_no_violation(decided: list[Seen]) -> None:
    """Clients with the same gradients do not drift apart; floats leave some 1e-30 above a side that is zero."""
    evaluation = Evaluation(DRIFT)
    levels = {"loss": "Huber, linear part", "sources": "s", "curvatures": "diagonal", "conditioning": -10}
    levels |= {"clients": 1.585, "local steps": 7, "horizon": ("T", 0)}
    tie = seen_at(evaluation, **levels)
    assert tie.sides is not None
    assert (tie.holds, tie.sides[1]) == (False, 0)
    assert 0 < tie.sides[0] < 1e-25
    met = Violations(DRIFT, 1.0, evaluation.score)
    met.meet(tie)
    assert decided == []
    assert (met.found, met.left_open) == (None, 0)
    assert (tie.holds, tie.score) == (None, SETTLED)


@pytest.mark.usefixtures("decided")
def test_a_search_counts_what_nothing_decides() -> None:
    """A bound that fails everywhere is never called a bound that stands: all of its violations are left open."""
    search = search_regimes(ALWAYS_FALSE, 60)
    assert search.counterexample is None
    assert search.left_open == search.applicable > 30


def test_a_search_counts_what_is_too_long_to_confirm() -> None:
    """A bound that only a run fails which takes rationals minutes: no lighter one is a violation."""
    bound = claim(q.rounds, sp.Integer(3000))
    curved = [[str(int(row == column)) for column in range(3)] for row in range(3)]
    problem = {"kind": "quadratic", "hessians": [curved], "linear": [["0"] * 3], "start": ["1"] * 3}
    algorithm = {"local_step_size": "1/8", "rounds": 4000}
    table = make_working_table(parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL))
    state = SearchState(bound, 10.0, lambda: None)
    state.setting, state.reach = list_features(table), FAR
    assert state.look(table) > 0
    assert (state.violation, state.left_open) == (None, 1)


def test_a_false_equation_is_refuted() -> None:
    """The difference of the sides is the same on perturbed runs, so that it is not rounding."""
    wrong = claim(q.local_step_size, eta * (1 + sp.Rational(1, 10**6)), relation="==", assumptions=[a.update_rule])
    search = search_regimes(wrong, 40)
    assert search.counterexample is not None
    assert search.counterexample[1].holds is False


@pytest.fixture
def left_open(monkeypatch: pytest.MonkeyPatch) -> ClaimVerdict:
    """The verdict on a true claim whose search leaves two runs open."""
    sought = QuickSearch(
        100, 90, None, (Regime("clients", "1", 40, 0.5), Regime("clients", "2", 50, 0.25)), 2, Pairs(8, 9, 1)
    )
    monkeypatch.setattr("verify.verdict.search_proof_and_violation", lambda _claim, _seconds: Searches(None, sought))
    (verdict,) = verify(claim(q.local_step_size, 2 * eta), search=1)
    return verdict


@pytest.mark.long
def test_a_verdict_counts_what_its_search_leaves_open(
    left_open: ClaimVerdict, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such a claim is undecided, in JSON and for people, who read how many pairs of regimes were covered as well."""
    assert (left_open.verdict, left_open.left_open, left_open.undecided) == ("undecided", 2, 0)
    found = encode_verdict(left_open)
    assert (found["left_open"], found["pairs"]) == (2, {"covered": 8, "all": 9, "given_up": 1})
    print_text([left_open], 1.0)
    printed = " ".join(capsys.readouterr().out.split())
    assert "8 of 9 pairs of regimes covered, 1 skipped because the claim applied to no generated run" in printed
    assert "left open: 2 runs violate the claim in floats, but no exact check confirmed any of them" in printed
    assert "`fedtheory falsify mine:bound --budget 120` searches longer" in printed


@pytest.mark.long
def test_a_claim_that_excludes_every_run_is_not_applicable() -> None:
    """A claim whose conditions exclude every run is not applicable, with the reason; without a budget nothing is."""
    never = claim(q.local_step_size, 2 * eta, conditions=[eta * L >= 2, eta * L <= 1])
    found = fedtheory.falsify(never, budget=0.5)
    assert found.verdict == "not applicable"
    assert found.reason == "the condition L*eta >= 2 fails (46 runs)"
    assert found.summary().startswith("mine:bound: not applicable")
    assert fedtheory.falsify(claim(q.local_step_size, 2 * eta), budget=0).verdict == "not refuted"
