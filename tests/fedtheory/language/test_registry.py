"""The registry: ids, pointers, repairs, and claims that can be evaluated."""

from __future__ import annotations

import importlib

import pytest

from fedtheory.errors import InputError
from fedtheory.federation import SETTINGS
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity, VectorQuantity
from fedtheory.language.registry import all_claims, all_sources, claims_of, find

CLAIMS = list(all_claims().values())
POINTERS = ("definition", "algorithm", "assumption", "experiment")


def name_of(claim: Claim) -> str:
    """Return claim ids as test ids."""
    return claim.id


def test_every_source_is_found_by_itself() -> None:
    """A folder in `sources` is registered automatically."""
    assert "renard2022" in all_sources()
    for key, source in all_sources().items():
        assert source.claims
        assert {claim.source for claim in source.claims} == {key}


@pytest.mark.parametrize("claim", CLAIMS, ids=name_of)
def test_every_symbol_has_a_meaning(claim: Claim) -> None:
    """Every symbol of a claim has a quantity."""
    assert not claim.unbound_symbols


@pytest.mark.parametrize("claim", CLAIMS, ids=name_of)
def test_claims_are_complete(claim: Claim) -> None:
    """Each claim has a location, a statement, and a recorded verdict."""
    assert claim.title
    assert claim.locator
    assert claim.statement
    assert claim.verdict is not None
    assert claim.relations or claim.rate or claim.implemented_by


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.kind in POINTERS], ids=name_of)
def test_definitions_point_at_something_alive(claim: Claim) -> None:
    """A definition refers to an existing assumption, algorithm, or public object."""
    assert claim.implemented_by is not None
    module, _, name = claim.implemented_by.partition(":")
    target = getattr(importlib.import_module(module), name)
    if claim.kind == "assumption":
        assert isinstance(target, Assumption)
    elif claim.kind == "algorithm":
        of_a_budget = getattr(target, "__module__", "").startswith("fedtheory.sources.lecture27.budget")
        assert target in SETTINGS.values() or of_a_budget or isinstance(target, VectorQuantity)
    else:
        assert callable(target) or isinstance(target, Assumption | RunQuantity | VectorQuantity)


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.corrects], ids=name_of)
def test_repairs_stand_behind_a_refuted_print(claim: Claim) -> None:
    """A correction belongs to a refuted published claim, and is itself not refuted."""
    assert find(claim.corrects or "").verdict == "refuted"
    assert claim.verdict != "refuted"
    assert claim.printed is None, "a repair is not in print"


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.verdict == "refuted"], ids=name_of)
def test_refuted_prints_have_a_repair(claim: Claim) -> None:
    """Every refuted statement has a correction."""
    assert any(other.corrects == claim.id for other in CLAIMS)


def test_an_unknown_id_names_its_neighbours() -> None:
    """A misspelt id gives the closest ids."""
    with pytest.raises(InputError, match=r"did you mean renard2022:thm-2\.1"):
        find("renard2022:thm-21")
    with pytest.raises(InputError, match="expected one of"):
        claims_of("nobody1999")
