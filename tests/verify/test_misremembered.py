"""Bounds as they are misremembered get the verdict "refuted" from the default search; true ones stand."""

from __future__ import annotations

import pytest
from misremembered import FALSE, TRUE
from verdicts import is_refuted, verdict_by_default

from fedtheory import Claim

pytestmark = pytest.mark.long


@pytest.mark.parametrize("claim", FALSE, ids=lambda claim: claim.id.partition(":")[2])
def test_a_misremembered_bound_is_refuted(claim: Claim) -> None:
    """The run of the verdict satisfies all assumptions and conditions, and violates the bound exactly."""
    assert is_refuted(claim)


@pytest.mark.parametrize("claim", TRUE, ids=lambda claim: claim.id.partition(":")[2])
def test_a_true_bound_stands(claim: Claim) -> None:
    """It is supported on enough runs, or proved; never undecided."""
    assert verdict_by_default(claim).verdict in ("supported", "proved")
