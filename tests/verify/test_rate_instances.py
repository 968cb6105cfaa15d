"""User-defined rates are checked on at least one hundred ladders, or get no positive verdict."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from fedtheory import Claim, Rate
from fedtheory import assumptions as a
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.language import quantities as q
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.generation import KINDS, find_bases, generate_run
from verify.falsify.run_tables import make_working_table
from verify.falsify.search_state import SearchState
from verify.rate_instances import keep_premises, make_ladders
from verify.verdict import verify

T, M, eta, L = sp.symbols("T M eta L", positive=True)
ONE_CLIENT = (a.full_gradients, a.one_client, a.convex_and_smooth)
RIGHT = Claim(id="t:right", rate=Rate(q.average_suboptimality, 1 / T, T), where={T: q.rounds}, assumptions=ONE_CLIENT)
FAST = Claim(id="t:fast", rate=Rate(q.average_suboptimality, 1 / T**2, T), where={T: q.rounds}, assumptions=ONE_CLIENT)
SPEEDUP = Claim(
    id="t:speedup",
    rate=Rate(q.average_suboptimality, 1 / sp.sqrt(M * T), T, step_size=sp.sqrt(M / T) / 4),
    where={T: q.iterations, M: q.clients},
    assumptions=(a.one_type, a.full_participation, a.unbiased_bounded_variance),
)
TINY = Claim(
    id="t:tiny",
    rate=Rate(q.final_distance_sq, sp.S.One, T),
    where={T: q.rounds, L: q.smoothness, eta: q.local_step_size},
    conditions=[10**6 * L <= 1],
    assumptions=ONE_CLIENT,
)
FINAL = Claim(
    id="t:final",
    rate=Rate(q.final_distance_sq, eta**3, eta),
    where={eta: q.local_step_size, L: q.smoothness},
    conditions=[eta <= 1 / (4 * L)],
    assumptions=(*ONE_CLIENT, a.strongly_convex_clients),
)
FLOOR = Claim(
    id="t:floor",
    rate=Rate(q.average_suboptimality, 1 / T, T),
    where={T: q.rounds, L: q.smoothness, eta: q.local_step_size},
    conditions=[eta <= 1 / (4 * L)],
    assumptions=(a.full_participation, a.same_local_work, a.unit_server_step, a.unbiased_bounded_variance),
)


OF_ONE_TYPE = (
    *(a.same_local_work, a.full_participation, a.uniform_shares, a.unit_server_step),
    *(a.one_type, a.convex_and_smooth, a.strongly_convex_clients, a.unbiased_bounded_variance),
)
DECREASING = Claim(
    id="t:decreasing",
    rate=Rate(q.final_distance_sq, 1 / T, T),
    where={T: q.rounds},
    assumptions=(a.decreasing_steps, *OF_ONE_TYPE[1:]),
)
MANY_CLIENTS = Claim(
    id="t:many-clients",
    rate=Rate(q.limiting_distance_sq, 1 / M**2, M),
    where={M: q.clients},
    assumptions=OF_ONE_TYPE,
)


def test_decreasing_steps_follow_the_changed_curvature() -> None:
    """No family has decreasing steps on clients of one type, so that the changed runs state their steps again."""
    premises, generator = keep_premises(DECREASING), np.random.default_rng(0)
    fitting = [generate_run(premises, find_bases(premises), kind, 1, generator) for kind in KINDS * 2]
    made = [one[0] for one in fitting if one is not None]
    assert {run.problem.clients > 1 for run in made} == {False, True}
    assert {max(run.algorithm.work.steps) > 1 for run in made} == {False, True}


def test_evidence_against_a_rate_is_kept_before_ladders_on_which_it_holds() -> None:
    """Without noise the error is zero and any rate holds; with noise it falls like 1/M and not like its square."""
    state = SearchState(MANY_CLIENTS, 1.0)
    for noise in ("0", "1", "0"):
        problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"], "noise": noise}
        table = {"problem": problem, "algorithm": {"local_step_size": "1/8", "local_steps": 1, "rounds": 1}}
        found = check(MANY_CLIENTS, parse_run(table, FLOAT))
        assert found.holds is (None if noise == "1" else True)
        state._record(make_working_table(parse_run(table, RATIONAL)), found)
    assert state.best is not None
    assert state.best.found.holds is None


def test_ladders_that_are_made() -> None:
    """Each ladder is an instance of the claim of its own, and is not zero throughout."""
    found = make_ladders(RIGHT, 12)
    assert len(found) == 12
    assert all(outcome.holds for outcome in found)
    assert len({str(outcome.instance) for outcome in found}) == 12
    for outcome in found[:4]:
        again = check(RIGHT, outcome.instance.run())
        assert again.applicable
        assert again.rate is not None
        assert not again.rate.is_zero
        assert outcome.instance.run().problem.clients == 1


def test_premises_alone() -> None:
    """Conditions on a variable are left to the levels; the rest holds wherever it applies."""
    assert keep_premises(FINAL).conditions == ()
    assert keep_premises(TINY).conditions == tuple(TINY.conditions)
    assert check(keep_premises(RIGHT), make_ladders(RIGHT, 1)[0].instance.run()).holds is True


@pytest.mark.long
@pytest.mark.parametrize("claim", [RIGHT, SPEEDUP], ids=lambda claim: claim.id)
def test_a_right_rate_has_a_hundred_ladders(claim: Claim) -> None:
    (found,) = verify(claim)
    assert found.verdict == "asymptotic"
    assert found.instances >= 100
    assert not found.is_thin


@pytest.mark.long
def test_few_ladders_show_little() -> None:
    """No run of the families is as flat as the condition asks, and few are made: undecided, with what is excluded."""
    (found,) = verify(TINY)
    assert found.instances < 100
    assert found.verdict in ("undecided", "not applicable")
    assert found.is_thin
    assert set(found.lacking.values()) <= {0}
    assert "noise" in found.lacking


@pytest.mark.long
@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (FAST, "measured * T tends to "),
        (FINAL, "measured tends to "),
        (FLOOR, "measured tends to "),
    ],
    ids=lambda value: getattr(value, "id", ""),
)
def test_a_false_rate_is_refuted(claim: Claim, words: str) -> None:
    """An exact limit on a rational run refutes the rate, and the verdict says so."""
    (found,) = verify(claim)
    assert found.verdict == "refuted"
    assert found.reason is not None
    assert found.reason.startswith(words)
    assert found.witness is not None
    again = check(claim, found.witness)
    assert again.applicable
    assert again.holds is False
    assert again.rate is not None
    assert again.rate.growth is not None
    assert again.rate.growth.exceeds


@pytest.mark.long
def test_evidence_against_is_named() -> None:
    """More clients have no exact limit: the ratio rises, and the run that is shown is one on which it does."""
    claim = Claim(
        id="t:clients",
        rate=Rate(q.average_suboptimality, 1 / (M**2 * sp.sqrt(T)), T, step_size=sp.sqrt(M / T) / 4),
        where={T: q.iterations, M: q.clients},
        assumptions=SPEEDUP.assumptions,
    )
    (found,) = verify(claim)
    assert found.verdict == "undecided"
    assert found.reason is not None
    assert found.reason.startswith("the ratio rises like M^1.")
    assert found.reason.endswith(": evidence against")


@pytest.mark.parametrize(("power", "verdict"), [(1, "undecided"), (2, "asymptotic")])
def test_drift_of_affine_clients_grows_with_the_square_of_local_steps(power: int, verdict: str) -> None:
    """Affine clients with opposite slopes drift apart for ever, which curvature would end."""
    tau = sp.Symbol("tau", positive=True)
    claim = Claim(
        id="t:drift",
        rate=Rate(q.max_drift, tau**power, tau),
        where={tau: q.local_steps},
        assumptions=(a.same_local_work, a.full_participation, a.uniform_shares, a.convex_and_smooth, a.full_gradients),
    )
    (found,) = verify(claim)
    assert found.verdict == verdict
