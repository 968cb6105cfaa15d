"""Conditions that no run satisfies together: a proof under them says nothing, and the reader is warned."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory.cli.proof_search import print_contradiction
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims
from fedtheory.search.conditions import find_contradiction

eta, tau, L, M = sp.symbols("eta tau L M", positive=True)
WHERE = {eta: q.local_step_size, tau: q.local_steps, L: q.smoothness, M: q.clients}


def make_claim(*conditions: Any) -> Claim:
    return Claim(
        id="t:conditions", lhs=q.max_drift, rhs=eta, where=WHERE, conditions=conditions, assumptions=(a.smooth,)
    )


@pytest.mark.parametrize(
    "conditions",
    [
        (eta <= 1 / (4 * L), eta >= 1 / L),
        (L * eta <= sp.Rational(1, 4), L * eta >= 1),
        (tau <= sp.Rational(1, 2),),
        (eta <= 1 / L, 2 * M <= 1),
    ],
)
def test_conditions_that_exclude_every_run_are_named(
    conditions: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    claim = make_claim(*conditions)
    assert find_contradiction(claim) in conditions
    print_contradiction(claim)
    assert "no run satisfies the conditions" in capsys.readouterr().out


@pytest.mark.parametrize("conditions", [(), (eta <= 1 / L, eta >= 1 / L, tau <= 1), (sp.Eq(eta, 1 / L), M >= 2)])
def test_conditions_that_some_run_satisfies_are_not(
    conditions: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    claim = make_claim(*conditions)
    assert find_contradiction(claim) is None
    print_contradiction(claim)
    assert not capsys.readouterr().out


@pytest.mark.long
def test_no_published_claim_contradicts_itself() -> None:
    assert not [claim.id for claim in all_claims().values() if find_contradiction(claim) is not None]
