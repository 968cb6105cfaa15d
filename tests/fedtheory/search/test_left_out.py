"""Share of published sums of inequalities that a search finds again, without the claim and what depends on it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims, find
from fedtheory.proofs import Certificate, certificates
from fedtheory.search import Found, find_proof, lemmas, premises


def _list_sums(*sources: str) -> list[str]:
    """Return the claims of papers whose certificate is a sum of named inequalities for each relation."""
    return [
        name
        for name, certificate in certificates().items()
        if isinstance(certificate, Certificate)
        and find(name).source in sources
        and all(isinstance(link, list | tuple) for link in certificate.links)
    ]


@pytest.fixture
def left_out(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return a set of claims that no search may use."""
    names: set[str] = set()
    use, bounds = lemmas._use_claim, premises._list_bounds
    monkeypatch.setattr(lemmas, "_use_claim", lambda claim, name: () if name in names else use(claim, name))
    monkeypatch.setattr(
        premises, "_list_bounds", lambda: {name: of for name, of in bounds().items() if name not in names}
    )
    return names


def _share_found(names: list[str], left_out: set[str]) -> float:
    dependents = {name: {one for one in certificates() if name in lemmas._list_all_dependencies(one)} for name in names}
    found = []
    for name in names:
        left_out.clear()
        left_out |= {name, *dependents[name]}
        found.append(find_proof(_copy(find(name))))
    assert not [one for one in found if isinstance(one, Found) and one.supposed]
    return sum(isinstance(one, Found) for one in found) / len(names)


def _copy(claim: Claim) -> Claim:
    return replace(claim, id="mine:copy", is_published=False, verdict=None, corrects=None, sharpens=None)


@pytest.mark.long
def test_all_sums_of_three_papers_are_found(left_out: set[str]) -> None:
    """All sums without client weights and potentials of three papers are found from their statements."""
    names = _list_sums("renard2022", "liu2022", "landmarks")
    assert len(names) > 10
    assert _share_found(names, left_out) == 1


@pytest.mark.slow
def test_most_sums_of_all_papers_are_found(left_out: set[str]) -> None:
    """More than three quarters of the sums of all papers are found from their statements."""
    names = _list_sums(*{claim.source for claim in all_claims().values()})
    assert _share_found(names, left_out) > 0.75
