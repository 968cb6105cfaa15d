"""Conditions on free numbers: they restrict the values that are tried, alone or together with quantities of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from fedtheory import FLOAT, RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.kernel import Term, square
from fedtheory.kernel.expressions import norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Rate
from fedtheory.language.claim_choices import list_choices, list_symbol_values
from fedtheory.language.parameters import parameter
from fedtheory.language.wellformed import require_wellformed
from fedtheory.proofs import Certificate, Combination, Part, check_certificate, facts
from verify.check import check
from verify.check.joint_checks import RunsTogether

eta, L = sp.symbols("eta L", positive=True)
beta = sp.Symbol("beta", nonnegative=True)
x = sp.Symbol("x", real=True)
VALUES = (0, "1/2", 1, 2, 8)
WHERE = {eta: q.local_step_size, L: q.smoothness}
SCALED = Claim(id="t:scaled", lhs=beta * L, rhs=L, where=WHERE, for_all={beta: VALUES}, conditions=[beta <= 1])
MIXED = replace(SCALED, id="t:mixed", lhs=beta * eta * L, rhs=sp.S.One, conditions=(beta * eta <= 1 / L,))


def _run(step_size: str, arithmetic: Any = RATIONAL, curvature: str = "1") -> Run:
    problem = {"kind": "quadratic", "hessians": [[[curvature]]], "linear": [["1"]], "start": ["3"]}
    return parse_run({"problem": problem, "algorithm": {"local_step_size": step_size, "rounds": 2}}, arithmetic)


def test_a_condition_on_a_free_number_leaves_values_out() -> None:
    """With its condition the claim holds, and without it the value above one refutes it."""
    run = _run("1/4")
    assert list_symbol_values(SCALED) == ((0,), ("1/2",), (1,))
    assert check(SCALED, run).holds is True
    without = check(replace(SCALED, conditions=()), run)
    assert without.holds is False
    assert without.worst is not None
    assert without.worst.index["beta"] == "8"


@given(st.fractions(min_value=0, max_value=10), st.sampled_from(["<=", "<", ">=", ">"]))
def test_values_are_those_that_satisfy_the_condition(limit: Any, operator: str) -> None:
    """Values are compared exactly."""
    bound = sp.Rational(limit.numerator, limit.denominator)
    condition = sp.Rel(beta, bound, operator)
    expected = tuple((value,) for value in VALUES if sp.Rel(sp.sympify(value), bound, operator) == sp.true)
    claim = replace(SCALED, conditions=(condition,))
    if condition in (sp.true, sp.false):
        return
    if expected:
        assert list_symbol_values(claim) == expected
    else:
        with pytest.raises(InputError, match="satisfies the conditions on beta"):
            list_symbol_values(claim)


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL])
def test_a_condition_with_quantities_is_checked_on_each_run(arithmetic: Any) -> None:
    """The largest value that a run allows follows its step size; the edge itself is allowed."""
    largest = {"1/8": "8", "1/4": "2", "1/2": "2", "3/4": "1", "2": "1/2", "3": "0"}
    for step_size, value in largest.items():
        run = _run(step_size, arithmetic)
        assert list_choices(MIXED, run)[-1].labels == {"beta": value}
        assert check(MIXED, run).holds is not False
    tight = replace(MIXED, rhs=sp.Rational(1, 2))
    assert [check(tight, _run(size, RATIONAL)).holds for size in ("1/8", "1/4", "3")] == [False, True, True]


def test_a_run_that_allows_no_value_is_not_one_of_the_claim() -> None:
    """The reason names the symbol."""
    some = replace(MIXED, for_all={beta: (1, 2)})
    found = check(some, _run("3"))
    assert not found.applicable
    assert found.reason is not None
    assert "no value that `for_all` gives satisfies the conditions on beta" in found.reason
    assert check(some, _run("1")).holds is True


def test_conditions_without_a_value_leave_values_out() -> None:
    """One over zero satisfies no condition, in floats as in rationals."""
    inverse = replace(MIXED, lhs=beta, rhs=sp.S.Zero, conditions=(1 / beta >= L,), for_all={beta: (0, 1)})
    for arithmetic in (FLOAT, RATIONAL):
        assert [choice.labels for choice in list_choices(inverse, _run("1", arithmetic))] == [{"beta": "1"}]


def test_joint_checks_agree_with_single_ones() -> None:
    """Claims whose values depend on the run are left to checks of single runs; others are taken together."""
    runs = [_run(size) for size in ("1/8", "1", "3")]
    together = RunsTogether(runs).check_claims([SCALED, MIXED])
    assert {row: found.holds for row, found in together[SCALED].items()} == dict.fromkeys(range(3), True)
    assert MIXED not in together


def test_irrational_sides_of_conditions() -> None:
    """Enclosures decide where they do not overlap, and a run on which they do is left open."""
    root = replace(MIXED, conditions=(beta <= sp.sqrt(2) * L,), lhs=beta, rhs=2 * L)
    assert check(root, _run("1")).holds is True
    assert list_choices(root, _run("1"))[-1].labels == {"beta": "1"}
    equal = replace(root, conditions=(sp.exp(beta) <= sp.exp(L),), for_all={beta: (1,)}, rhs=L / 2)
    assert check(equal, _run("1")).holds is None


def test_a_rate_has_no_such_conditions() -> None:
    """A rate has one value for each level."""
    T = sp.Symbol("T", positive=True)
    rate = Rate(q.final_suboptimality, beta / T, T)
    claim = Claim(id="t:rate", rate=rate, where={T: q.rounds}, for_all={beta: (1, 2)}, conditions=[beta <= 1])
    with pytest.raises(InputError, match="as the claim states a rate"):
        require_wellformed(claim)
    for allowed in (SCALED, MIXED, replace(claim, conditions=())):
        require_wellformed(allowed)


def _verdict(claim: Claim, certificate: Any) -> str:
    return check_certificate(claim, certificate).verdict


def test_a_proof_uses_the_condition_for_all_numbers() -> None:
    """A sign that needs the condition is refused without it, and with a weaker one."""
    shorter = Claim(
        id="t:shorter",
        lhs=beta * norm_sq(x),
        rhs=norm_sq(x),
        place="points",
        where={x: q.point},
        for_all={beta: (0, 1)},
        conditions=[beta <= 1],
    )
    certificate = Certificate(claim=shorter.id, links=[[Term(1 - beta, square(x))]])
    assert _verdict(shorter, certificate) == "proved"
    for weaker in ((), (beta <= 2,), (beta >= 1,)):
        assert _verdict(replace(shorter, conditions=weaker), certificate) == "broken"


def test_a_premise_keeps_its_condition_on_a_free_number() -> None:
    """A claim that uses another one for all numbers, where this one is for some, is not proved."""
    gap = sp.Symbol("g", nonnegative=True)
    premise = Claim(
        id="t:premise",
        lhs=beta * gap,
        rhs=gap,
        where={gap: q.initial_gap},
        for_all={beta: (0, 1)},
        conditions=[beta <= 1],
    )
    known = check_certificate(premise, Combination(claim=premise.id, links=[[Part((1 - beta) * gap, facts.ONE)]]))
    assert known.verdict == "proved"
    used = Combination(claim="t:used", links=[[Part(sp.S.One, premise.id)]])
    for conditions, verdict in ([(beta <= 1,), "proved"], [(), "broken"], [(beta <= 2,), "broken"]):
        claim = replace(premise, id="t:used", conditions=conditions)
        assert check_certificate(claim, used, {premise.id: known}.__getitem__).verdict == verdict


def test_a_parameter_is_a_quantity_by_its_key() -> None:
    """Two calls give one quantity; a run of an algorithm without the parameter has no value."""
    assert parameter("decay") == parameter("decay")
    assert parameter("decay").latex == r"\mathrm{decay}"
    claim = Claim(id="t:decay", lhs=parameter("decay"), rhs=1)
    found = check(claim, _run("1"))
    assert found.reason == "decay has no value: the algorithm fedavg has no parameter 'decay'"
    for key, words in (("momentum", "quantities.momentum"), ("a b", "the key of a parameter"), (3, "got 3")):
        with pytest.raises(InputError, match=words):
            parameter(key)  # type: ignore[arg-type]


def test_a_card_says_which_values_are_tried() -> None:
    """The meaning of a free number stands beside those of quantities."""
    card = SCALED.card()
    assert [str(row[1]) for row in card.rows] == ["smoothness", "any number; tried values: 0, 1/2, 1, 2, 8"]


@pytest.mark.parametrize("value", [sp.asin(2), sp.Pow(-1, sp.Rational(1, 3)), sp.I, sp.sqrt(2), q.rounds])
def test_values_that_no_run_can_have_are_refused(value: Any) -> None:
    """A square is negative for some complex numbers, so that a proof for real ones says nothing about these."""
    s = sp.Symbol("s", real=True)
    with pytest.raises(InputError, match="integers, fractions or decimals"):
        require_wellformed(Claim(id="mine:complex", lhs=0, rhs=s**2, for_all={s: [value]}))
    require_wellformed(Claim(id="mine:real", lhs=0, rhs=s**2, for_all={s: [-1, 0.5, "1/3", sp.Rational(1, 7)]}))
