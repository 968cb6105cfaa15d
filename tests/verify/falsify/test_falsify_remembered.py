"""Bounds quoted from memory of well-known papers: false ones are refuted, and true ones are not."""

from __future__ import annotations

import pytest
from remembered import FALSE, TRUE

from fedtheory import Claim
from fedtheory.arithmetic import RATIONAL
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.instance_search import search
from verify.falsify.mixed_runs import list_mixed_runs
from verify.falsify.starts import find_features

pytestmark = pytest.mark.long

LONG = {"remembered:largest-drift-as-the-mean", "remembered:drift-of-bounded-gradients-with-one-power"}
"""Claims that are refuted along the last rays only, or by exact runs of thousands of steps."""


@pytest.mark.parametrize(
    "claim",
    [pytest.param(claim, marks=[pytest.mark.slow] * (claim.id in LONG), id=claim.id) for claim in FALSE],
)
def test_misremembered_bounds_are_refuted(claim: Claim) -> None:
    """A run violates a false bound exactly, and the search ends with this run on every machine."""
    violation = search(claim, 120, seed=0).violation
    assert violation is not None
    exact = check(claim, parse_run(violation.table, RATIONAL))
    assert exact.applicable
    assert exact.holds is False


@pytest.mark.parametrize("claim", TRUE, ids=lambda claim: claim.id)
def test_remembered_true_bounds_are_not_refuted(claim: Claim) -> None:
    """A true bound is not refuted, and there are runs to which it applies."""
    assert list_mixed_runs(claim, find_features(claim))
    assert search(claim, 2, seed=0).violation is None
