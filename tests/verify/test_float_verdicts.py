"""Verdicts of floats never contradict those of rationals, in any units, at any condition number and at every edge."""

from __future__ import annotations

from functools import partial

import pytest
import sympy as sp
from flint import fmpq
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from wide_runs import wide_runs

from fedtheory import Claim, all_claims
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.certified_run import certify_run
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, Unresolved
from fedtheory.federation import Uniform, fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from verify.check import Check, check
from verify.check.perturbed_runs import perturb

CLAIMS = sorted(claim.id for claim in all_claims().values() if claim.relations and claim.rate is None)
"""Ladders of rates take minutes in rationals on numbers as long as these."""
mu, T = sp.symbols("mu T", positive=True)
TOO_MANY = "outcomes, more than"
"""Rationals round an irrational deviation up and enumerate more outcomes: a limit of the machine, not of the claim."""

wide = partial(
    settings,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def in_floats(claim: Claim, run: Run) -> Check:
    """Return the check of the command line, before rationals decide what is undecided."""
    floats = run.as_floats()
    return check(claim, floats, perturb(floats))


def assert_no_contradiction(claim: Claim, run: Run) -> None:
    """Check that rationals confirm the decisions of floats, on the claim and on its conditions."""
    found, exact = in_floats(claim, run), check(claim, run)
    if not found.is_decided or TOO_MANY in (exact.reason or ""):
        return
    assert found.applicable == exact.applicable, (claim.id, found.reason, exact.reason)
    assert exact.holds is None or found.holds == exact.holds, (claim.id, found.holds)
    # Where a condition cannot be evaluated there are none to compare.
    for near, condition in zip(found.conditions, exact.conditions, strict=bool(found.conditions and exact.conditions)):
        assert near.holds == condition.holds, (claim.id, condition.expression, near.slack)


def assert_none_contradicts(run: Run, ids: list[str]) -> None:
    """Check several claims for contradictions."""
    try:
        run.as_floats().problem.optimum  # noqa: B018
    except (InputError, Unresolved):
        # Too badly conditioned to have a minimiser in floats: refused when it is read.
        assume(False)
    for claim_id in ids:
        assert_no_contradiction(find(claim_id), run)


some_claims = st.lists(st.sampled_from(CLAIMS), min_size=8, max_size=8, unique=True)


@pytest.mark.long
@wide(max_examples=150)
@given(wide_runs(), some_claims)
def test_floats_never_contradict_rationals(run: Run, ids: list[str]) -> None:
    """A few claims on each of many runs have no contradiction between floats and rationals."""
    assert_none_contradicts(run, ids)


DENOMINATORS = {"root": 1 - sp.sqrt(1 - mu**2), "measured power": (1 - sp.sqrt(1 - mu**2)) ** T}


@pytest.mark.parametrize("denominator", DENOMINATORS.values(), ids=DENOMINATORS)
def test_a_zero_by_cancellation_decides_nothing(denominator: sp.Expr) -> None:
    """1 - sqrt(1 - mu^2) is zero in floats for mu = 10^-10, and not in rationals, which have the last word."""
    claim = Claim(
        id="t:cancels",
        lhs=1 / denominator,
        rhs=1,
        where={mu: q.strong_convexity, T: q.rounds},
        conditions=[],
    )
    problem = quadratic(RATIONAL.array([[[fmpq(1, 10**10)]]]), RATIONAL.array([[0]]), RATIONAL.array([1]))
    run = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1)))
    assert not in_floats(claim, run).is_decided
    assert check(claim, run).holds is False


@pytest.mark.long
@wide(max_examples=100)
@given(wide_runs(), some_claims)
def test_certified_floats_never_contradict_rationals(run: Run, ids: list[str]) -> None:
    """Rationals confirm the decisions of enclosures of expectations."""
    enclosed = certify_run(run)
    for claim in map(find, ids):
        found, exact = check(claim, enclosed), check(claim, run)
        if found.is_decided and TOO_MANY not in (exact.reason or ""):
            assert (found.applicable, found.holds) == (exact.applicable, exact.holds), (claim.id, found.reason)


@pytest.mark.slow
@wide(max_examples=1500)
@given(wide_runs(), some_claims)
def test_floats_never_contradict_rationals_in_depth(run: Run, ids: list[str]) -> None:
    """Many more runs have no contradiction between floats and rationals."""
    assert_none_contradicts(run, ids)


def step_of_two_over_smoothness(nudge: fmpq) -> Run:
    """Return gradient descent on x^2/6 with steps of 2/L, times 1 + nudge."""
    problem = quadratic(RATIONAL.array([[["1/3"]]]), RATIONAL.array([["1"]]), RATIONAL.array(["1/7"]))
    return Run(problem, fedavg(problem, rounds=2, local_step_size=6 * (1 + nudge)))


@pytest.mark.parametrize("nudge", [fmpq(0), fmpq(1, 10**18), fmpq(-1, 10**18), fmpq(1, 10**6), fmpq(-1, 10**6)])
def test_edges_that_floats_cannot_see_are_left_open(nudge: fmpq) -> None:
    """A condition within rounding of its edge is undecided, and decided at a part in a million from it."""
    eta, L = q.local_step_size.symbol, q.smoothness.symbol
    where = {eta: q.local_step_size, L: q.smoothness}
    claim = Claim(id="t:edge", lhs=0, rhs=eta, where=where, conditions=[eta <= 2 / L])
    found = in_floats(claim, step_of_two_over_smoothness(nudge))
    is_near = abs(nudge) < fmpq(1, 10**9)
    assert found.is_decided is not is_near
    assert [condition.holds for condition in found.conditions] == [None if is_near else nudge < 0]


def test_rounding_errors_are_no_violation() -> None:
    """A difference that is zero, and in floats the rest of a cancellation, is not larger than zero."""
    run = step_of_two_over_smoothness(fmpq(0))
    gap = Claim(
        id="t:rest",
        lhs=q.final_distance_sq.symbol - q.initial_distance.symbol**2,
        rhs=0,
        where={q.final_distance_sq.symbol: q.final_distance_sq, q.initial_distance.symbol: q.initial_distance},
    )
    assert check(gap, run).holds is True
    assert in_floats(gap, run).holds is None


def test_clear_verdicts_stay_with_floats() -> None:
    """Away from ties floats decide: nearby runs do not make everything undecided."""
    problem = quadratic(RATIONAL.array([[["2"]], [["2"]]]), RATIONAL.array([["1"], ["-1"]]), RATIONAL.array(["3"]))
    run = Run(problem, fedavg(problem, rounds=5, local_step_size=fmpq(1, 20), local_steps=3))
    found = in_floats(find("renard2022:thm-2.1"), run)
    assert (found.arithmetic, found.is_decided, found.holds) == (FLOAT, True, True)


def test_long_horizons_are_decided_in_floats() -> None:
    """The distance after thousands of steps is a tiny power, which is distinguished from rounding."""
    problem = quadratic(RATIONAL.array([[["1"]], [["1/8"]]]), RATIONAL.array([["1"], ["-1"]]), RATIONAL.array(["0"]))
    run = Run(problem, fedavg(problem, rounds=4096, local_step_size=fmpq(1, 32), participation=Uniform(1)))
    found = in_floats(find("comparator:last-round.error"), run)
    assert (found.arithmetic, found.is_decided, found.holds) == (FLOAT, True, True)


def test_a_power_of_what_is_all_rounding_is_left_open() -> None:
    """A difference of next to nothing, raised to the power of the number of rounds, may have either sign."""
    eta, T = q.local_step_size.symbol, q.rounds.symbol
    where = {eta: q.local_step_size, T: q.rounds}
    claim = Claim(id="t:power", lhs=0, rhs=(1 - 10 * eta) ** T, where=where)
    problem = quadratic(RATIONAL.array([[["1"]]]), RATIONAL.array([["0"]]), RATIONAL.array(["1"]))
    near = fmpq(1, 10) * (1 + fmpq(1, 10**16))
    run = Run(problem, fedavg(problem, rounds=3, local_step_size=near))
    assert check(claim, run).holds is False
    assert in_floats(claim, run).holds is None
