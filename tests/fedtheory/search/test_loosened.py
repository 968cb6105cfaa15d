"""Fraction of consequences of proved bounds that a search proves from their statements; no false claim is proved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loosened import proved_bounds, variants

from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims, find
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search import Found, NotFound, find_proof

EVERY = 7
"""Distance between the claims of the sample."""


def _share_found(sources: tuple[str, ...], every: int) -> float:
    claims = [claim for claim in proved_bounds() if claim.source in sources][::every]
    results = [
        (isinstance(result, Found), _is_smaller(variant, claim, result))
        for claim in claims
        for _, variant in variants(claim)
        for result in [find_proof(variant)]
    ]
    follows = [is_found for is_found, is_smaller in results if not is_smaller]
    return sum(follows) / len(follows)


def _is_smaller(variant: Claim, claim: Claim, result: Found | NotFound) -> bool:
    """Return whether a variant is below its original at numbers that the search found, so that it does not follow."""
    if isinstance(result, Found) or result.below is None:
        return False
    larger, known = (use_plain_symbols(one).relations[0].ordered[1] for one in (variant, claim))
    return bool((larger - known).xreplace(dict(result.below)).is_negative)


@pytest.mark.long
def test_loosened_bounds_are_proved() -> None:
    """All loosened bounds of two papers are proved: doubled, with one more term or square, under half the step size."""
    assert _share_found(("renard2022", "liu2022"), EVERY) == 1


@pytest.mark.slow
def test_nearly_all_loosened_bounds_are_proved() -> None:
    """Nearly all loosened bounds of all papers are proved."""
    assert _share_found(tuple({claim.source for claim in proved_bounds()}), 1) >= 0.97


@pytest.mark.long
@pytest.mark.parametrize(
    ("claim_id", "changes"),
    [
        ("comparator:forgetting.mean-error", ("doubled", "one more square")),
        ("comparator:last-round.error", ("tau - 1 becomes tau",)),
        ("comparator:last-model.error", ("tau - 1 becomes tau", "doubled")),
        ("fraboni2022:thm-2.random-weights", ("tau - 1 becomes tau",)),
        ("landmarks:scaffnew.contraction", ("doubled", "half of the step size")),
    ],
)
def test_bounds_with_powers_and_denominators_are_loosened(claim_id: str, changes: tuple[str, ...]) -> None:
    """Larger bounds are proved if they divide by a power, or if the change is in a denominator too."""
    loosened = dict(variants(find(claim_id)))
    for change in changes:
        found = find_proof(loosened[change])
        assert isinstance(found, Found), change
        assert claim_id in found.uses


def _refuted() -> list[str]:
    """Return the refuted claims: about whole runs, about single steps and about points."""
    return [claim.id for claim in all_claims().values() if claim.verdict == "refuted" and claim.relations]


def _is_refuted_claim_found(claim_id: str) -> bool:
    """Return whether a refuted claim is proved when a user states it."""
    claim = replace(all_claims()[claim_id], id="mine:copy", is_published=False)
    return isinstance(find_proof(claim, effort=3 * 10**7), Found)


def test_refuted_claims_are_of_both_families() -> None:
    """Some refuted claims are searched from proved claims, others from named inequalities."""
    places = {all_claims()[name].place for name in _refuted()}
    assert "run" in places
    assert places & {"points", "step", "path"}


@pytest.mark.long
def test_no_refuted_claim_of_a_sample_is_proved() -> None:
    """Published claims that are refuted by runs have no certificate."""
    assert not [name for name in _refuted()[::5] if _is_refuted_claim_found(name)]


@pytest.mark.slow
def test_no_refuted_claim_is_proved() -> None:
    """No refuted claim of all papers has a certificate."""
    assert not [name for name in _refuted() if _is_refuted_claim_found(name)]


def test_a_published_claim_is_not_proved_by_supposing() -> None:
    """A published claim is searched as stated, without additional assumptions."""
    claim = all_claims()["renard2022:thm-2.1"]
    stripped = replace(claim, assumptions=claim.assumptions[:4])
    assert isinstance(find_proof(stripped), NotFound)
