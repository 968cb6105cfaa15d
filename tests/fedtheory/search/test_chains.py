"""Bounds on whole runs by chains of steps: the kernel accepts found proofs, and false bounds have none."""

from __future__ import annotations

import pytest
from chain_claims import FALSE, FALSE_TOGETHER, TRUE

from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, NotFound, find_proof
from fedtheory.search.chains import search_chains

SLOW = {name for name in TRUE if "noise at the optimum" in name}


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.long] * (one in SLOW)) for one in TRUE])
def test_chains_are_found(name: str) -> None:
    """Each template is proved from its statement, without further assumptions, by a self-contained document."""
    found = find_proof(TRUE[name])
    assert isinstance(found, Found)
    assert not found.supposed
    assert found.proof.document is not None
    assert check_certificate(TRUE[name], found.proof.document).verdict == "proved"


@pytest.mark.long
@pytest.mark.parametrize("name", FALSE)
def test_false_bounds_have_no_chain(name: str) -> None:
    """Bounds with a missing term, a small power or a large step have no chain."""
    assert isinstance(find_proof(FALSE[name]), NotFound)


@pytest.mark.parametrize(
    "claim_id", ["renard2022:goal-rate", "fraboni2022:eq-12.normalised", "fraboni2022:lemma-2.eq-60"]
)
def test_other_statements_have_no_chain(claim_id: str) -> None:
    """Rates, and relations between quantities that no steps connect, have no chain."""
    assert isinstance(search_chains(find(claim_id)), NotFound)


@pytest.mark.parametrize("name", FALSE_TOGETHER)
def test_false_bounds_on_two_quantities_have_no_chain(name: str) -> None:
    assert isinstance(find_proof(FALSE_TOGETHER[name]), NotFound)
