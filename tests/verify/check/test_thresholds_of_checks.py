"""Guards and thresholds of checks, each from both sides: slopes, near ties, places without numbers, moved gaps."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from fedtheory import FLOAT, RATIONAL, Claim, Rate
from fedtheory.engine.limiting_runs import with_infinitesimal_steps
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles import MiniBatch
from fedtheory.federation.problem import least_squares, quadratic
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from verify import verdict as verdicts
from verify.check import check
from verify.check.comparison import compute_ratio, find_tightest_places
from verify.check.decision import FAILS, HOLDS, OPEN, decide_by_values
from verify.check.dependencies import collect_in_conditions
from verify.check.escalation import escalate
from verify.check.links import compile_relations
from verify.check.orders import find_order
from verify.check.perturbed_runs import perturb
from verify.check.sides import Values
from verify.early_decisions import Decision
from verify.evaluated_instances import Outcome
from verify.falsify.search_result import QuickSearch
from verify.instances import FAMILIES
from verify.searches import Searches

N, T = sp.symbols("N T", positive=True)


def _noisy_line(step: str = "1/2", variance: int = 3, rounds: int = 1) -> Run:
    """x^2/2 from its minimiser, with noise."""
    array = RATIONAL.array
    problem = quadratic(array([[[1]]]), array([[0]]), array([0]), noise=array([variance]))
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=RATIONAL.number(step, "step")))


@pytest.mark.parametrize(("power", "holds"), [("1", True), ("21/20", True), ("23/20", None), ("5/4", None)])
def test_an_order_that_is_wrong_by_a_quarter_is_not_supported(power: str, holds: bool | None) -> None:
    """The stationary error is eta sigma^2 / ((2 - eta) N) exactly, so that its ratio to N^-p rises like N^(p-1)."""
    rate = Rate(q.limiting_distance_sq, N ** -sp.Rational(power), N)
    assert check(Claim(id="t:order", rate=rate, where={N: q.clients}), _noisy_line()).holds is holds


@pytest.mark.parametrize(("missing", "exactly", "in_floats"), [(0, True, True), (14, False, None), (6, False, False)])
def test_a_stated_constant_that_ties_in_floats_is_left_open(
    missing: int, exactly: bool, in_floats: bool | None
) -> None:
    """The constant eta sigma^2 / (2 - eta) = 1 is attained on every level: a little less is too small in rationals."""
    constant = sp.Integer(1) if missing == 0 else 1 - sp.Rational(1, 10**missing)
    rate = Rate(q.limiting_distance_sq, 1 / N, N, constant=constant)
    claim = Claim(id="t:constant", rate=rate, where={N: q.clients})
    assert check(claim, _noisy_line()).holds is exactly
    assert check(claim, _noisy_line().as_floats()).holds is in_floats


def test_a_place_where_both_sides_are_zero_is_the_least_tight() -> None:
    """Round 0 starts in the minimiser, 0 <= 0; what is shown is round 1, with the ratio 1/5."""
    distance = q.server_distance_sq.symbol
    for factor in (5, 1000):
        claim = Claim(id="t:zero", lhs=distance, rhs=factor * distance, where={distance: q.server_distance_sq})
        for run in (_noisy_line(rounds=2), _noisy_line(rounds=2).as_floats()):
            found = check(claim, run)
            assert found.holds is True
            assert found.worst is not None
            assert found.worst.index["round"] == 1
            assert float(found.ratio or 0) == pytest.approx(1 / factor)


def _values(operator: str, lhs: list[float], rhs: list[float], scale: float = 1.0) -> Values:
    """Return both sides of a relation in floats, with one scale of rounding."""
    claim = Claim(
        id="t:sides", lhs=q.rounds.symbol, rhs=T, relation=operator, where={q.rounds.symbol: q.rounds, T: q.rounds}
    )
    return Values(compile_relations(claim)[0], np.array(lhs), np.array(rhs), np.full(len(lhs), scale))


def test_an_equation_that_floats_find_wrong_stays_open_beside_nearby_runs() -> None:
    """Cancelling terms can be pure rounding; without perturbed runs only the values count, and inequalities fail."""
    equation, bound = (_values(operator, [2.0, 1.0], [1.0, 1.0]) for operator in ("==", "<="))
    assert decide_by_values(equation).tolist() == [FAILS, OPEN]
    assert decide_by_values(equation, [equation]).tolist() == [OPEN, OPEN]
    assert decide_by_values(bound, [bound]).tolist() == [FAILS, OPEN]


@pytest.mark.parametrize(("moved", "decided"), [(0.0, HOLDS), (0.009, HOLDS), (0.011, OPEN), (np.nan, OPEN)])
def test_a_gap_has_to_be_a_hundred_times_its_change(moved: float, decided: int) -> None:
    """A gap of 1 counts where it changes by less than 1/100 at nearby runs."""
    sides, near = _values("<=", [1.0], [2.0]), _values("<=", [1.0], [2.0 + moved])
    assert decide_by_values(sides, [sides, near]).tolist() == [decided]
    assert decide_by_values(sides, [_values("<=", [1.0, 1.0], [2.0, 2.0])]).tolist() == [OPEN]


def test_a_violation_that_exact_numbers_leave_open_refutes_nothing() -> None:
    """Clients with different numbers of local steps: the theorem says nothing of them, whatever floats have said."""
    claim = find("renard2022:thm-2.1")
    instance = FAMILIES["unequal local work"].instances[0]
    assert check(claim, instance.run()).holds is None
    spurious = Outcome(claim.id, instance, True, True, False, False, 2.0, (False, False, 1, 1, 1), 0.0)
    found = verdicts._find_verdict(claim.id, [spurious], Decision())
    assert (found.verdict, found.instances) == ("not applicable", 0)
    assert verdicts._find_counterexample(claim, [spurious], Decision()) is None


def test_the_largest_value_over_places_has_an_order() -> None:
    """At k = 0 a client is exactly at the start of the round; at k = 1 its distance is O(eta), and not O(eta^2)."""
    eta = sp.Symbol("eta", positive=True)
    array = RATIONAL.array
    problem = quadratic(array([[[1]], [[3]]]), array([[1], [0]]), array([1]))
    run = Run(problem, fedavg(problem, rounds=1, local_step_size=RATIONAL.number("1/8", "eta"), local_steps=2))
    for power, holds in ((2, True), (3, False)):
        rate = Rate(q.client_distance_sq, eta**power, eta)
        claim = Claim(id="t:places", rate=rate, where={eta: q.local_step_size}, place="step")
        assert check(claim, run).holds is holds


@pytest.mark.parametrize(("factor", "power"), [(1, "1/2"), (-1, "1/2")])
def test_the_order_of_a_sum_is_that_of_its_largest_term(factor: int, power: str) -> None:
    """sqrt(eta) + eta is of the order 1/2, and no more than that where the terms could cancel."""
    eta = sp.Symbol("eta", positive=True)
    claim = Claim(id="t:order", lhs=eta, rhs=1, where={eta: q.local_step_size})
    found = find_order(claim, sp.sqrt(eta) + factor * eta, with_infinitesimal_steps(_noisy_line()))
    assert found is not None
    assert (found.power, found.is_exact) == (Fraction(power), factor > 0)
    product = find_order(claim, eta * sp.sqrt(eta), with_infinitesimal_steps(_noisy_line()))
    assert product is not None
    assert product.power == Fraction(3, 2)


def _outcome(holds: bool | None) -> Outcome:
    """Return the outcome of exact arithmetic on the drift of the first small run."""
    instance = FAMILIES["small quadratics"].instances[0]
    return Outcome("renard2022:lemma-2.3", instance, True, True, holds, True, 0.5, (False, False, 1, 1, 1), 0.0)


@pytest.mark.parametrize(("holds", "verdict"), [(True, "supported"), (None, "undecided")])
def test_one_open_run_leaves_a_claim_undecided(holds: bool | None, verdict: str) -> None:
    """However many others there are on which it holds."""
    found = verdicts._find_verdict("renard2022:lemma-2.3", [_outcome(True), _outcome(holds)], Decision())
    assert found.verdict == verdict
    assert verdicts._find_verdict("renard2022:lemma-2.3", [_outcome(holds)], Decision("definition")).verdict == (
        "definition" if holds else "undecided"
    )


def test_few_instances_are_thin_and_leave_only_claims_of_no_paper_undecided() -> None:
    """From as many as say much on nothing is thin."""
    found = verdicts._conclude("renard2022:lemma-2.3", [_outcome(True)], Decision(), 0, None)
    assert (found.verdict, found.is_thin, found.is_own) == ("supported", True, False)
    assert replace(found, instances=found.enough - 1).is_thin
    assert not replace(found, instances=found.enough).is_thin
    assert not replace(found, verdict="proved").is_thin


def test_the_largest_value_over_choices_has_an_order() -> None:
    """From the minimiser the distance is zero, and then eta^2 sigma^2 / N: it counts beside the other choice, 1/N^2."""
    distance, chosen = sp.Symbol("d", positive=True), sp.Symbol("c")
    where, measured = {N: q.clients, distance: q.server_distance_sq}, chosen * distance + (1 - chosen) / N**2
    for power, holds in ((1, True), (2, None)):
        rate = Rate(measured, N**-power, N)
        claim = Claim(id="t:choices", rate=rate, where=where, for_all={chosen: [0, 1]})
        assert check(claim, _noisy_line(rounds=2)).holds is holds


def _rounded_gap(lhs: Fraction, rhs: Fraction) -> float:
    return float(rhs - lhs) / (float(lhs) + float(rhs))


def test_exact_numbers_decide_between_places_that_rounding_takes_for_each_other() -> None:
    """Beside the midpoint of two floats, one relative gap is rounded up, and the larger one down."""
    low, high = 1 / 3, math.nextafter(1 / 3, 1)
    middle, little = (Fraction(low) + Fraction(high)) / 2, Fraction(1, 2**80)
    places = [(Fraction(1, 7), middle - little), (Fraction(3, 7), middle + little)]
    sides = [(size * (1 - gap) / 2, size * (1 + gap) / 2) for size, gap in places]
    assert [float(gap) for _, gap in places] == [low, high]
    assert [_rounded_gap(*pair) for pair in sides] == [high, low]
    link = _values("<=", [1.0], [1.0]).link
    for order, tightest in ((sides, 0), (sides[::-1], 1)):
        lhs, rhs = (RATIONAL.array([str(pair[side]) for pair in order]) for side in (0, 1))
        assert int(find_tightest_places(Values(link, lhs, rhs), np.array([HOLDS, HOLDS]))) == tightest


def test_equations_have_no_ratio() -> None:
    """Equations, and bounds by numbers that are not positive, have no ratio."""
    assert [compute_ratio(_values(operator, [1.0], [1.0]).link, 1.0, 2.0) for operator in ("==", "<=")] == [None, 0.5]
    assert [compute_ratio(_values("<=", [1.0], [1.0]).link, -1.0, rhs) for rhs in (0.0, -0.5)] == [None, None]


def test_a_number_of_a_run_has_a_value_for_one_client() -> None:
    """A quantity without places is as wide as one, whatever the number of clients is."""
    variance = q.noise_deviation.symbol
    claim = Claim(id="t:wide", lhs=variance, rhs=5, where={variance: q.noise_deviation}, conditions=[variance <= 9])
    assert collect_in_conditions(claim).find_kind(_noisy_line()) == ((1,), None)


def test_a_rate_without_evidence_against_it_needs_no_words() -> None:
    """A rate that is supported has no reason, and one that rises has one."""
    rates = [Rate(q.limiting_distance_sq, N**-power, N) for power in (1, sp.Rational(5, 4))]
    found = [check(Claim(id="t:words", rate=rate, where={N: q.clients}), _noisy_line()) for rate in rates]
    assert [one.holds for one in found] == [True, None]
    steady, rising = (one.rate for one in found)
    assert steady is not None
    assert rising is not None
    assert replace(steady, growth=None).reason(str) is None
    assert "evidence against" in (replace(rising, growth=None).reason(str) or "")


def test_an_unsteady_rate_is_not_looked_at_in_rationals() -> None:
    """Rationals do not change decisions by assumptions; nor is there anything without ladders."""
    claim = Claim(id="t:rate", rate=Rate(q.limiting_distance_sq, N ** -sp.Rational(5, 4), N), where={N: q.clients})
    found = check(claim, _noisy_line().as_floats())
    assert found.rate is not None

    def exactly() -> Run:
        raise AssertionError("expected no run in rationals")

    for left in (replace(found, is_steady=False), replace(found, rate=None)):
        assert escalate(left, exactly) is left


def test_the_batches_of_a_nearby_run_are_of_its_own_data() -> None:
    """Their gradients are those of the moved objectives: x'x for the curvature, x'y for the linear term."""
    inputs = tuple(FLOAT.array(rows) for rows in ([[1.0], [2.0]], [[3.0], [1.0]]))
    outputs = tuple(FLOAT.array(entries) for entries in ([1.0, 0.0], [2.0, 1.0]))
    problem = least_squares(ClientData(inputs, outputs, 0.0), FLOAT.array([1.0]), batch=1)
    run = Run(problem, fedavg(problem, rounds=1, local_step_size=0.125))
    for near in perturb(run):
        oracle = near.problem.oracle
        assert isinstance(oracle, MiniBatch)
        assert near.problem.hessians[0, 0, 0] != problem.hessians[0, 0, 0]
        for client, (x, y) in enumerate(zip(oracle.data.inputs, oracle.data.outputs, strict=True)):
            assert float((x.T @ x)[0, 0]) == pytest.approx(float(near.problem.hessians[client, 0, 0]), rel=1e-14, abs=0)
            assert float((x.T @ y)[0]) == pytest.approx(float(near.problem.linear[client, 0]), rel=1e-14, abs=0)


def test_no_simpler_run_is_sought_for_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rate is refuted by a ladder of runs, of which no search makes one simpler; nor is there one without a run."""

    def search(*_: object) -> None:
        raise AssertionError("expected no search")

    monkeypatch.setattr(verdicts, "search_quickly", search)
    monkeypatch.setattr(verdicts, "shrink", search)
    rate = verdicts._conclude("renard2022:goal-rate", [], Decision(), 0, None)
    bound = verdicts._conclude("renard2022:lemma-2.3", [], Decision(), 0, None)
    for found in (replace(rate, run={}), replace(bound, run=None)):
        assert verdicts._simplify(found, 1.0, None) is found


def test_a_search_follows_unless_it_is_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A user-defined claim that its instances support is searched, once: what was found before counts."""
    file = tmp_path / "mine.py"
    file.write_text("""from dataclasses import replace
from fedtheory.language.registry import find
CLAIM = replace(find("renard2022:lemma-2.3"), id="mine:drift", is_published=False)
""")
    target = f"{file}:CLAIM"
    before, now = (
        QuickSearch(looked=7, applicable=7, counterexample=None),
        QuickSearch(looked=5, applicable=5, counterexample=None),
    )
    monkeypatch.setattr(verdicts, "search_proof_and_violation", lambda _claim, _seconds: Searches(None, now))
    for seen, looked in ((None, 5), (Searches(None, before), 7)):
        found = verdicts._conclude(target, [_outcome(True)], Decision(), 1.0, seen)
        assert found.searched == looked
