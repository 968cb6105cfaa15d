"""The score of a run: above zero exactly where the claim is violated, whichever term is moved to the other side."""

from __future__ import annotations

import math

import pytest
from claim_symbols import WHERE, T, eta, sigma, tau, zeta
from flint import fmpq

from fedtheory import Claim
from fedtheory.language import quantities as q
from verify.check import check
from verify.falsify.score import NOTHING, score, score_balanced
from verify.instances import FAMILIES, Instance

BOUND = tau**2 * eta**2 * zeta**2 + eta**2 * sigma**2 / 2
CLAIMS = [
    Claim(id="t:below", lhs=q.max_drift, rhs=BOUND, where=WHERE),
    Claim(id="t:above", lhs=BOUND, relation=">=", rhs=q.max_drift, where=WHERE),
    Claim(id="t:signs", lhs=q.max_drift, rhs=BOUND - 2 * eta**2 * tau, where=WHERE),
    Claim(id="t:negative", lhs=-BOUND, rhs=-1 * q.max_drift.symbol, where=WHERE | {q.max_drift.symbol: q.max_drift}),
    Claim(id="t:equal", lhs=q.max_drift, relation="==", rhs=BOUND, where=WHERE),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
@pytest.mark.parametrize("moved", [None, 0, 1])
def test_the_sign_of_the_score_is_the_verdict(claim: Claim, moved: int | None) -> None:
    """Over all runs of a family; equations have no positive score, they are never nearly violated."""
    verdicts = set()
    for number in range(FAMILIES["by hand"].size):
        found = check(claim, Instance("by hand", number).run())
        verdicts.add(found.holds)
        if claim.relation != "==":
            assert (score(found, moved) > 0) == (found.holds is False)
        elif found.holds:
            assert score(found, moved) < -90
    assert verdicts == {True, False}


def test_the_score_is_the_logarithm_of_the_ratio() -> None:
    """The score is the logarithm of the ratio where both sides are positive."""
    for number in range(FAMILIES["by hand"].size):
        found = check(CLAIMS[0], Instance("by hand", number).run())
        if found.ratio:
            assert score(found) == pytest.approx(math.log(found.ratio))


def test_a_run_outside_the_claim_has_no_score() -> None:
    """A run to which the claim does not apply scores less than every other run."""
    nowhere = Claim(id="t:nowhere", lhs=eta, rhs=1, where=WHERE, conditions=[T >= 100])
    assert score(check(nowhere, Instance("by hand", 0).run())) == NOTHING


def test_large_ratios_are_capped_below_changes_of_sign() -> None:
    """A ratio of 10^50 scores less than a larger side that is negative."""
    run = Instance("by hand", 0).run()
    huge = check(Claim(id="t:huge", lhs=10**50 * eta, rhs=eta, where=WHERE), run)
    negative = check(Claim(id="t:negative", lhs=eta, rhs=-eta, where=WHERE), run)
    assert huge.worst is not None
    assert huge.worst.ratio == fmpq(10) ** 50
    assert 0 < score(huge) < score(negative) < math.inf


def test_the_balanced_score_adds_what_is_subtracted() -> None:
    """The sign of the balanced score is the verdict; without differences it equals the score."""
    seen = 0
    for claim in CLAIMS[:3]:
        for number in range(FAMILIES["by hand"].size):
            found = check(claim, Instance("by hand", number).run())
            balanced = score_balanced(found)
            if balanced > -90:
                assert (balanced > 0) == (found.holds is False)
                assert claim is CLAIMS[2] or balanced == pytest.approx(score(found))
                seen += 1
    assert seen > 0
