"""Bounds that are remembered from well-known papers: the wrong ones are refuted, the right ones stand."""

from __future__ import annotations

import pytest
from remembered import FALSE, TRUE

from fedtheory import Claim
from fedtheory.arithmetic import RATIONAL
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.mixed import mixed
from verify.falsify.search import search
from verify.falsify.starts import setting

pytestmark = pytest.mark.long

LONG = {"remembered:largest-drift-as-the-mean", "remembered:drift-of-bounded-gradients-with-one-power"}
"""Found among the last rays, or by exact runs of thousands of steps."""


@pytest.mark.parametrize(
    "claim",
    [pytest.param(claim, marks=[pytest.mark.slow] * (claim.id in LONG), id=claim.id) for claim in FALSE],
)
def test_what_is_remembered_wrongly_is_refuted(claim: Claim) -> None:
    """By a run that violates it exactly; the search ends with it, whatever the machine is doing."""
    violation = search(claim, 120, seed=0).violation
    assert violation is not None
    exact = check(claim, parse_run(violation.table, RATIONAL))
    assert exact.applicable
    assert exact.holds is False


@pytest.mark.parametrize("claim", TRUE, ids=lambda claim: claim.id)
def test_what_is_remembered_rightly_stands(claim: Claim) -> None:
    """And there are runs of which it speaks, with all that plays a part."""
    assert mixed(claim, setting(claim))
    assert search(claim, 2, seed=0).violation is None
