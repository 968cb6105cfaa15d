"""Verdicts in enclosures: certain where enclosures do not overlap, and nowhere else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, parse_run
from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import Unresolved
from fedtheory.language import quantities as q
from fedtheory.language.registry import all_claims, find
from fedtheory.runfile import read_run, run_table, run_toml
from verify.check import check
from verify.check.escalation import check_decided, escalate
from verify.evaluated_instances import is_evidence
from verify.falsify.instance_search import search
from verify.falsify.run_tables import make_working_table
from verify.falsify.shrink import measure_reading_effort
from verify.instances import FAMILIES, Instance, complexity, families_for

first, last, eta, L, D = sp.symbols("first last eta L D", positive=True)
WHERE = {
    first: q.average_suboptimality,
    last: q.final_suboptimality,
    eta: q.local_step_size,
    L: q.smoothness,
    D: q.initial_distance,
}
"""A claim with a tie that algebra does not find: after one local step in one round the average is the last iterate."""
SMOOTH = [name for name in FAMILIES if name.startswith("smooth")]


def run(**changes: Any) -> Run:
    """Return one round of one step on two log-cosh losses whose minimiser is irrational."""
    problem = {
        "kind": "log-cosh",
        "terms": [[{"centre": 2, "width": "1/2"}], [{"centre": -1, "width": 1, "weight": 4}]],
        "start": [3],
    }
    algorithm = {"name": "fedavg", "local_step_size": "1/20", "local_steps": 1, "rounds": 1}
    return parse_run({"problem": problem | changes, "algorithm": algorithm}, RATIONAL)


def claim(relation: str, margin: sp.Expr, **keys: Any) -> Claim:
    """Return the claim that compares the last gap with the average gap and a margin."""
    return Claim(id="t:tie", lhs=last, relation=relation, rhs=first + margin, where=WHERE, **keys)


@pytest.mark.parametrize("relation", ["<=", "<", "==", ">=", ">"])
def test_a_tie_is_never_decided(relation: str) -> None:
    """Two sides that are equal without being the same expression are left open, whatever is claimed of them."""
    found = check(claim(relation, sp.Integer(0)), run())
    assert found.arithmetic is ENCLOSED
    assert found.applicable
    assert found.holds is None
    assert not found.is_decided
    assert found.reason is not None
    assert "the two sides are equal, or closer than enclosures of 1026 bits can tell" in found.reason
    assert not is_evidence(found)


@pytest.mark.parametrize(("sign", "verdict"), [(1, True), (-1, False)])
def test_more_precision_separates_close_sides(sign: int, verdict: bool) -> None:
    """Sides that differ by 1e-100 overlap at 256 bits and are distinguished at 1024, in both directions."""
    close = claim("<=", sp.Rational(sign, 10**100))
    found = check(close, run())
    assert found.holds is verdict
    assert found.is_decided
    assert found.bits == 1026
    assert check(claim("<=", sp.Rational(sign, 10**60)), run()).bits == 258


def test_exact_zeros_are_decided() -> None:
    """By symmetry the run starts at its minimiser, exactly: its distance is zero, and zero is at most zero."""
    mirrored = run(terms=[[{"centre": 1, "width": 1}], [{"centre": -1, "width": 1}]], start=[0])
    still = Claim(id="t:still", lhs=D, relation="<=", rhs=0 * D, where=WHERE)
    assert check(still, mirrored).holds is True
    assert check(still, run()).holds is False


def test_open_conditions_give_no_violation() -> None:
    """A violation under a condition whose sides cannot be distinguished is no violation."""
    halved = Claim(id="t:half", lhs=last, rhs=last / 2, where=WHERE, conditions=[last <= first])
    assert check(Claim(id="t:half", lhs=last, rhs=last / 2, where=WHERE), run()).holds is False
    found = check(halved, run())
    assert found.holds is None
    assert not found.is_decided
    assert "the condition" in str(found.reason)


@pytest.mark.parametrize("noise", ["0", "1/2"])
def test_floats_agree_far_from_ties(noise: str) -> None:
    """Floats and enclosures agree on every third claim that both decide, and they decide many."""
    exact = run(noise=noise)
    floats, both = exact.as_floats(), Counter[bool]()
    for each in list(all_claims().values())[::3]:
        if each.rate is None:
            in_enclosures, in_floats = check(each, exact), check(each, floats)
            if in_enclosures.holds is not None and in_floats.holds is not None:
                both[in_enclosures.holds == in_floats.holds] += 1
    assert not both[False]
    assert both[True] > 25


def test_both_sides_are_enclosed() -> None:
    """Sides, terms, slack and constants of theorem 2.1 are narrow enclosures, or rationals where they are rational."""
    found = check(find("renard2022:thm-2.1"), run())
    assert found.holds is True
    worst = found.worst
    assert worst is not None
    assert worst.lhs.rad() < 1e-60
    assert worst.lhs < worst.rhs
    assert [condition.slack for condition in found.conditions] == [RATIONAL.number("1/80", "slack")]
    assert sum(term.value for term in worst.terms).overlaps(worst.rhs)
    floats = check(find("renard2022:thm-2.1"), run().as_floats()).worst
    assert floats is not None
    assert abs(float(worst.lhs.mid()) - floats.lhs) <= 1e-12


def test_enclosures_confirm_violations_in_floats(tmp_path: Path) -> None:
    """A violation in floats is confirmed in enclosures, and a tie stays open."""
    path = tmp_path / "run.toml"
    path.write_text(run_toml(run_table(run())))
    false = claim("<=", sp.Rational(-1, 10))
    settled = escalate(check(false, read_run(path, FLOAT)), lambda: read_run(path, RATIONAL))
    assert settled.holds is False
    assert settled.final_decision is not None
    assert settled.final_decision.reason == "decided in enclosures"
    tied = escalate(check(claim("<=", sp.Integer(0)), read_run(path, FLOAT)), lambda: read_run(path, RATIONAL))
    assert tied.holds is None
    assert tied.final_decision is not None
    assert "equal, or closer" in tied.final_decision.reason


def test_long_runs_keep_their_digits() -> None:
    """Every local step may double the radius of an enclosure: long runs are given the bits for that."""
    table = run_table(run())
    table["algorithm"] |= {"rounds": 150, "local_steps": 2, "local_step_size": "1/4"}
    found = check(claim("<=", sp.Rational(1, 10)), parse_run(table, RATIONAL))
    assert found.bits == 256 + 600
    assert found.holds is True
    assert found.worst is not None
    assert found.worst.lhs.rad() < 1e-60


@pytest.mark.parametrize("name", SMOOTH)
def test_violations_on_smooth_losses_are_of_refuted_claims(name: str) -> None:
    """On the smooth families a claim that fails is recorded as refuted, and enough checks are decided."""
    decided = 0
    for number in range(2):
        exact = Instance(name, number).run()
        assert exact.arithmetic is ENCLOSED
        for each in all_claims().values():
            if name in families_for(each):
                found = check_decided(each, exact, None)
                decided += is_evidence(found)
                assert found.holds is not False or each.verdict == "refuted", each.id
    assert decided > 15


def test_a_search_among_smooth_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats climb, and what is reported as refuted is violated by enclosures that do not overlap."""
    monkeypatch.setattr("verify.falsify.starts.families_for", lambda _claim: ("smooth losses",))
    monkeypatch.setattr("verify.falsify.instance_search.generate_run", lambda *_: None)  # those would be quadratics
    small = Claim(id="t:small", lhs=last, rhs=L * D**2 / 9, where=WHERE, conditions=[eta <= 1 / (4 * L)])
    violation = search(small, 20, 0).violation
    assert violation is not None
    assert violation.table["problem"]["kind"] in ("log-cosh", "softplus")
    again = check(small, parse_run(violation.table, RATIONAL))
    assert again.arithmetic is ENCLOSED
    assert again.is_decided
    assert again.holds is False


def test_rational_counterexamples_come_first() -> None:
    """Rational instances and counterexamples come before others, however large they are."""
    exact, smooth = Instance("huber losses", 0), Instance("smooth losses", 0)
    assert complexity(exact, exact.run()) < complexity(smooth, smooth.run())
    false = claim("<=", -first - 1)
    asked = [
        measure_reading_effort(false, make_working_table(each)) for each in (Instance("huber losses", 0).run(), run())
    ]
    assert None not in asked
    assert asked[0] < asked[1]


def test_linear_gradients_come_first() -> None:
    """Quadratic counterexamples come before other rational ones, however large they are."""
    false = claim("<=", -first - 1)
    asked = [
        measure_reading_effort(false, make_working_table(Instance(family, 0).run()))
        for family in ("small quadratics", "huber losses")
    ]
    assert None not in asked
    assert asked[0] < asked[1]


def test_a_comparison_outside_a_check_is_refused_as_well() -> None:
    """Asking two equal enclosures which is larger raises, so that no branch is taken on a guess."""
    exact = run()
    trajectory = exact.trajectory
    with pytest.raises(Unresolved):
        _ = trajectory.server_suboptimality[1] <= trajectory.local_suboptimality[0, 1]
