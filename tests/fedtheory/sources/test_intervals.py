"""From steps to rounds and from rounds to runs: valid and invalid consequences, and the quantities in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.kernel import Rejected, Step
from fedtheory.kernel.expressions import Gradient, Value, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.proofs import Combination, Part, certificates, check_certificate
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import ONE
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import Proof
from fedtheory.sources.lecture27.context.intervals import (
    AtFirstStart,
    AtLastStep,
    AtNextStart,
    SumOverRounds,
    SumOverSteps,
    list_gap_conditions,
)
from fedtheory.sources.lecture27.statements.notation import (
    F,
    K,
    epsilon,
    eta,
    final_gap,
    h,
    rho,
    tau,
    theta_end,
    theta_first,
    theta_next_start,
    theta_start,
    v,
    v_next,
    w_star,
    w_t_next,
    x,
)

CLAIM = find("lecture27:thm-2")
SYMBOLS = symbols_of(CLAIM)
drift = sp.Symbol("drift", real=True)
NOW, LATER, LEAST = Value(F, v), Value(F, v_next), Value(F, w_star)


def test_differences_telescope() -> None:
    """Gaps, their reciprocals, and constants per step telescope."""
    telescoped = SumOverSteps("a claim")
    assert telescoped.slack(SYMBOLS, NOW - LATER - eta) == theta_start - theta_end - tau * eta
    grown = 1 / (LATER - LEAST) - 1 / (NOW - LEAST) - eta
    assert sp.simplify(telescoped.slack(SYMBOLS, grown) - (1 / theta_end - 1 / theta_start - tau * eta)) == 0


@pytest.mark.parametrize(
    "slack",
    [
        NOW - LEAST,
        2 * NOW - LATER - LEAST,
        (NOW - LEAST) * (LATER - LEAST),
        NOW - LATER - x,
        NOW - LATER + Value(F, w_t_next),
    ],
    ids=["one gap", "unequal", "a product", "the number of the step", "another model"],
)
def test_other_relations_do_not_telescope(slack: Any) -> None:
    """Only A(v') - A(v), plus constants, telescopes."""
    with pytest.raises(Rejected, match="does not telescope"):
        SumOverSteps("a claim").slack(SYMBOLS, slack)


def test_the_last_step() -> None:
    """At the last step the step index is tau, and the next models are those at the end of the round."""
    found = AtLastStep("a claim").slack(SYMBOLS, rho * h(x + 1) - (Value(F, w_t_next) - LATER))
    assert sp.simplify(found - (rho * h(tau) - theta_next_start + theta_end)) == 0


def test_sums_over_rounds() -> None:
    """Two differences have known sums; constants are multiplied by K."""
    both = SumOverRounds("a claim")
    assert (
        both.slack(SYMBOLS, 1 / theta_next_start - 1 / theta_start - eta) == 1 / final_gap - 1 / theta_first - K * eta
    )
    for unknown in (1 / theta_end - 1 / theta_next_start, theta_end - theta_start, 2 / theta_end - 1 / theta_start):
        with pytest.raises(Rejected, match="has no known form"):
            both.slack(SYMBOLS, unknown)


def test_starts_of_rounds() -> None:
    """A relation at the start of each round holds for the first round, and after the last one if it holds there."""
    assert AtFirstStart("a claim").slack(SYMBOLS, theta_start - epsilon) == theta_first - epsilon
    following = AtNextStart("a claim")
    assert following.slack(SYMBOLS, theta_start - epsilon) == theta_next_start - epsilon
    assert following.requires(SYMBOLS, theta_start - epsilon) == (final_gap - epsilon,)
    with pytest.raises(Rejected, match="start of a round alone"):
        following.slack(SYMBOLS, theta_start - theta_end)


def combined(left: Any, operator: Any, right: Any, *parts: Part, known: Any = ()) -> str:
    """Return the failing steps of a combination; empty if it proves its claim."""
    claim = replace(CLAIM, lhs=left, relation=operator, rhs=right, also=(), id="t:gaps")
    proof = check_certificate(claim, Combination(claim=claim.id, links=[parts], known=known))
    return "; ".join(step.text for step in proof.steps if not step.holds)


GAPS = "lecture27:thm-2.gaps"


def test_possibly_zero_gaps_are_no_denominators() -> None:
    """1/theta is defined where a claim divides by theta, or by a smaller epsilon."""
    gained = Part(eta, "lecture27:thm-2.each-interval")
    found = combined(eta, "<=", 2 * eta, gained)
    assert f"({theta_start}) may be zero" in found
    # The conditions of the claim divide by epsilon, a lower bound on the gaps at the ends.
    assert f"{theta_end} > 0" not in found
    divided = 1 / epsilon - 1 / theta_next_start
    assert combined(divided, ">=", 0, Part(divided, ONE), known=[AtNextStart(GAPS)]) == ""
    assert "coefficient (" in combined(divided, ">=", 0, Part(divided, ONE))
    assert "coefficient (" in combined(-divided, ">=", 0, Part(-divided, ONE), known=[AtNextStart(GAPS)])


def test_a_round_that_starts_at_the_minimum_is_not_summed_over() -> None:
    """A relation between reciprocals excludes a round that starts at the minimum, so that it is not summed."""
    whole = certificates()["lecture27:thm-2.last"]
    assert isinstance(whole, Combination)
    less = replace(whole, known=[one for one in whole.known if type(one) is not Derived])
    failing = [step.text for step in check_certificate(find(whole.claim), less).steps if not step.holds]
    assert failing == [f"({theta_start}) may be zero, and something is divided by it"]
    problem = quadratic(RATIONAL.array([[[1]], [[3]]]), RATIONAL.array([[0], [fmpq(4)]]), RATIONAL.array([fmpq(0)]))
    there = fedavg(problem, rounds=1, local_step_size=fmpq(1, 4), local_steps=2)
    first, moved = (
        Run(replace(problem, start=RATIONAL.array([x])), there).trajectory.server_mean[1, 0] for x in (0, 1)
    )
    start = (problem.optimum[0] - first) / (moved - first)
    run = Run(
        replace(problem, start=RATIONAL.array([start])),
        fedavg(problem, rounds=3, local_step_size=fmpq(1, 4), local_steps=2),
    )
    gaps = q.interval_start_gap.on(run).reshape(-1)
    assert [gap > 0 for gap in gaps] == [True, False, True]
    assert q.final_suboptimality.on(run) > 0


def test_the_smallest_gap_is_the_smallest_of_ends() -> None:
    """The smallest gap is at most those at the ends of the intervals and of the run, but not at their starts."""
    assert sp.Le(epsilon, theta_end) in list_gap_conditions(CLAIM)
    assert sp.Le(epsilon, final_gap) in list_gap_conditions(CLAIM)
    assert sp.Le(epsilon, theta_start) not in list_gap_conditions(CLAIM)


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_facts_on_quantities_hold_on_runs(seed: int, rounds: int, local_steps: int) -> None:
    """The sums over rounds, the ends of intervals and the smallest gap have the values that proofs assume."""
    import numpy as np

    generator = np.random.default_rng(seed)
    curvatures = generator.integers(1, 5, (2, 2))
    hessians = np.stack([RATIONAL.array(np.diag(own)) for own in curvatures])
    problem = quadratic(
        hessians, RATIONAL.array(generator.integers(-3, 4, (2, 2))), RATIONAL.array([fmpq(7), fmpq(-5)])
    )
    run = Run(problem, fedavg(problem, rounds=rounds, local_step_size=fmpq(1, 9), local_steps=local_steps))
    start, end, following = (
        quantity.on(run).reshape(-1)
        for quantity in (q.interval_start_gap, q.interval_end_gap, q.next_interval_start_gap)
    )
    first, last, final, least = (
        quantity.on(run) for quantity in (q.initial_gap, q.last_interval_gap, q.final_suboptimality, q.smallest_gap)
    )
    assert (start[1:] == following[:-1]).all()
    assert (start[0], end[-1], following[-1]) == (first, last, final)
    assert q.reciprocal_progress.on(run) == (1 / end - 1 / start).sum()
    assert 1 / final - 1 / first == (1 / following - 1 / start).sum()
    assert least == min(end.min(), final)


STEEPNESS = norm_sq(Gradient(F, v))
"""A quantity that differs between steps."""


@pytest.mark.parametrize("slack", [NOW - LATER - STEEPNESS, (NOW - LATER) * STEEPNESS], ids=["added", "a factor"])
def test_values_that_differ_between_steps_do_not_telescope(slack: Any) -> None:
    """The squared gradient differs between steps."""
    with pytest.raises(Rejected, match="does not telescope"):
        SumOverSteps("a claim").slack(SYMBOLS, slack)


@pytest.mark.parametrize("derived", [SumOverRounds("a claim"), AtNextStart("a claim"), AtFirstStart("a claim")])
def test_other_quantities_of_a_round_stay_with_their_round(derived: Any) -> None:
    """A relation with such a quantity is neither summed nor moved to another round."""
    symbols = symbols_of(replace(CLAIM, where={**CLAIM.where, drift: q.round_drift}))
    slack = 1 / theta_end - 1 / theta_start + drift if isinstance(derived, SumOverRounds) else theta_start - drift
    with pytest.raises(Rejected, match="differs from round to round"):
        derived.slack(symbols, slack)


def test_denominators_of_premises_must_be_positive() -> None:
    """Denominators of a premise must be positive, even if they cancel."""
    where = {symbol: quantity for symbol, quantity in CLAIM.where.items() if quantity is not q.interval_start_gap}
    claim = replace(CLAIM, where=where, lhs=tau, relation="<=", rhs=2 * tau, also=(), id="t:unnamed")
    each = Part(eta, "lecture27:thm-2.each-interval")
    proof = check_certificate(claim, Combination(claim=claim.id, links=[[each]]))
    assert any(f"({theta_start}) may be zero" in step.text for step in proof.steps if not step.holds)


def test_symbols_that_a_claim_does_not_have_differ_all_the_same() -> None:
    """Symbols of a premise differ between rounds, whether or not the claim has them."""
    premise = replace(CLAIM, where={**CLAIM.where, drift: q.round_drift}, id="t:premise", conditions=(), also=())
    premise = replace(premise, lhs=theta_start, relation=">=", rhs=drift)
    proof = Proof(premise, certificate=object(), steps=(Step("granted", True),))
    claim = replace(CLAIM, lhs=theta_first, relation=">=", rhs=drift, also=(), id="t:claim")
    broken = check_certificate(
        claim, Combination(claim=claim.id, links=[[Part(1, AtFirstStart("t:premise"))]]), lambda _id: proof
    )
    assert "differs from round to round" in broken.steps[-1].text
    assert not broken.steps[-1].holds
