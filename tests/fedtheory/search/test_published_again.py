"""Published claims with a fast search, which finds a certificate from the statement alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, find_proof

ALONE = [
    "fraboni2022:eq-44-45.objective",
    "lecture27:lemma-3",
    "lecture27:lemma-3.any-point",
    "lecture27:lemma-4.descent",
    "lecture27:smooth-property-1",
    "lecture27:thm-2.any-point.step",
    "liu2022:eq-1",
    "liu2022:eq-3.fixed",
    "liu2022:eq-7.a",
    "liu2022:eq-7.fixed",
    "liu2022:noniid.GB.special",
    "liu2022:thm-1.step",
    "renard2022:lemma-2.2.proof.last.fixed",
    "renard2022:lemma-2.2.proof.variance",
    "renard2022:lemma-2.2.proof.young.fixed",
    "renard2022:observation-2.1.fixed",
    "renard2022:property-2.2",
    "renard2022:property-2.3",
    "renard2022:property-2.4.fixed",
    "renard2022:property-2.5",
    "vlaski2023:eq-5.44-5.45.fixed",
]
"""Claims that need inequalities and facts only."""
BY_OTHERS = [
    "comparator:curvatures.all-steps",
    "comparator:curvatures.average-error",
    "comparator:drift.less-noise",
    "comparator:drift.less-noise.all-steps",
    "fraboni2022:lemma-3.eq-66.fixed",
    "fraboni2022:thm-1.any-point.update",
    "fraboni2022:thm-1.proof-86-90.89.fixed",
    "lecture27:thm-2",
    "lecture27:thm-2.any-point.steps",
    "lecture27:thm-2.gaps",
    "lecture27:thm-2.round",
    "liu2022:cor-4.explicit.sharp",
    "liu2022:lemma-1.sharp",
    "liu2022:thm-1.sharp",
    "liu2022:thm-3",
    "liu2022:thm-3.drift",
    "liu2022:thm-3.drift.sharp",
    "renard2022:lemma-2.3.growing",
    "renard2022:lemma-2.3.mean.growing",
    "renard2022:lemma-2.3.mean.quiet",
    "renard2022:lemma-2.3.sharp",
    "renard2022:thm-2.1.sharp",
    "vlaski2023:eq-5.65",
    "vlaski2023:thm-5.1.rate",
]
"""Claims that need proved claims about the same quantities."""


@pytest.mark.parametrize("claim_id", [*ALONE, *BY_OTHERS])
def test_a_published_claim_is_found_again(claim_id: str) -> None:
    """The document is self-contained, and has no additional assumptions."""
    published = find(claim_id)
    claim = replace(published, id=f"mine:{claim_id.split(':')[1]}")
    found = find_proof(claim, 4 * 10**7)
    assert isinstance(found, Found)
    assert not found.supposed
    assert found.proof.document is not None
    assert check_certificate(claim, found.proof.document).verdict == "proved"
    assert 0 < found.work < 4 * 10**7
    assert any(":" in name for name in found.uses) is (claim_id in BY_OTHERS)
