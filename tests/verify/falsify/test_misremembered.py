"""Bounds as misremembered get the verdict "refuted" from the default search; true ones stand."""

from __future__ import annotations

import pytest
from misremembered import FALSE, TRUE
from verdicts import SEARCH, is_refuted, verdict_by_default

from fedtheory import Claim
from fedtheory.language.targets import resolve
from verify.falsify.regimes import search_regimes
from verify.falsify.search_result import EVALUATIONS as EVALUATIONS_OF_A_SECOND

pytestmark = pytest.mark.long


EVALUATIONS = SEARCH * EVALUATIONS_OF_A_SECOND
"""Number of evaluations in the search of a default verdict."""


@pytest.mark.parametrize("claim", FALSE[::6], ids=lambda claim: claim.id.partition(":")[2])
def test_a_misremembered_bound_is_refuted(claim: Claim) -> None:
    """The run of the verdict satisfies all assumptions and conditions, and violates the bound exactly."""
    assert is_refuted(claim)


@pytest.mark.parametrize(
    "claim", [claim for claim in FALSE if claim.rate is None], ids=lambda c: c.id.partition(":")[2]
)
def test_the_search_alone_refutes_it(claim: Claim) -> None:
    """Without the instances, the search finds a run that violates the bound rigorously."""
    found = search_regimes(resolve(claim), EVALUATIONS).counterexample
    assert found is not None
    assert found[1].applicable
    assert found[1].arithmetic.is_rigorous
    assert found[1].holds is False


@pytest.mark.parametrize("claim", TRUE, ids=lambda claim: claim.id.partition(":")[2])
def test_a_true_bound_stands(claim: Claim) -> None:
    """A true bound is supported on enough runs, or proved; its verdict is never "undecided"."""
    assert verdict_by_default(claim).verdict in ("supported", "proved")
