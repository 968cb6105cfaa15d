"""Zero drift of one client or before the first step, and zero variance of full gradients: required settings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.proofs import Combination, Part, check_certificate, facts
from verify.check import check

drift, tau, sigma = sp.Symbol("d", real=True), sp.Symbol("tau", positive=True), sp.Symbol("sigma", nonnegative=True)
WHERE = {drift: q.average_round_drift, tau: q.local_steps}
ROUNDS = (a.same_local_work, a.unit_server_step, a.full_participation)
ALONE = (*ROUNDS, a.one_client)
ONE_STEP = sp.Eq(tau, 1, evaluate=False)
EXPECTED: dict[str, tuple[Any, Sequence[Assumption], Sequence[Any], str]] = {
    "one client": (facts.NO_OTHER_CLIENT, ALONE, (), "proved"),
    "several clients": (facts.NO_OTHER_CLIENT, ROUNDS, (), "broken"),
    "some clients": (facts.NO_OTHER_CLIENT, (a.same_local_work, a.unit_server_step, a.one_client), (), "broken"),
    "clients of one type": (facts.NO_OTHER_CLIENT, (*ROUNDS, a.one_type), (), "broken"),
    "one step": (facts.NO_LATER_STEP, ROUNDS, (ONE_STEP,), "proved"),
    "steps": (facts.NO_LATER_STEP, ROUNDS, (), "broken"),
    "two steps": (facts.NO_LATER_STEP, ROUNDS, (sp.Eq(tau, 2, evaluate=False),), "broken"),
    "two steps at most": (facts.NO_LATER_STEP, ROUNDS, (sp.Le(tau, 2, evaluate=False),), "broken"),
    "one step or two": (facts.NO_LATER_STEP, ROUNDS, (sp.Eq((tau - 1) * (tau - 2), 0, evaluate=False),), "broken"),
    "one step of some work": (facts.NO_LATER_STEP, ROUNDS[1:], (ONE_STEP,), "broken"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_only_what_cannot_drift_does_not(name: str) -> None:
    """Every setting is needed, and the equation is that of one step."""
    fact, assumptions, conditions, expected = EXPECTED[name]
    stated = {"assumptions": assumptions, "conditions": conditions}
    claim = Claim(id="t:drift", lhs=drift, rhs=sp.S.Zero, where=WHERE, **stated)  # type: ignore[arg-type]
    certificate = Combination(claim=claim.id, links=[[Part(-sp.S.One, fact)]])
    assert check_certificate(claim, certificate).verdict == expected


def test_full_gradients_have_no_variance() -> None:
    """On random runs with full gradients, these are unbiased and their variance is zero."""
    chance = random.Random(11)
    stated = {"where": {sigma: q.noise_deviation}, "assumptions": (a.full_gradients, a.unbiased_bounded_variance)}
    claim = Claim(id="t:quiet", lhs=sigma, rhs=sp.S.Zero, **stated)  # type: ignore[arg-type]
    found = [check(claim, parse_run(_settings(chance), RATIONAL)).holds for _ in range(60)]
    quiet = [holds for holds in found if holds is not None]
    assert len(quiet) >= 15
    assert all(quiet)
    assert len(quiet) < len(found)


def _settings(chance: random.Random) -> dict[str, Any]:
    """Return a run in one dimension, of a quadratic or of data, with full gradients, batches or noise."""
    clients = chance.randint(1, 3)
    algorithm = {"local_step_size": chance.choice(["1/4", "1"]), "rounds": 1, "local_steps": chance.randint(1, 2)}
    problem: dict[str, Any] = {
        "kind": "quadratic",
        "hessians": [[[str(chance.randint(0, 2) + 1)]] for _ in range(clients)],
        "linear": [[str(chance.randint(-2, 2))] for _ in range(clients)],
        "start": [chance.choice(["0", "1"])],
        "noise": chance.choice(["0", "0", "1"]),
    }
    return {"problem": problem, "algorithm": algorithm}
