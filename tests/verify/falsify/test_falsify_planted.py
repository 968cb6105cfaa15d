"""The search finds planted errors, and does not refute the claims in which they were planted."""

from __future__ import annotations

import random

import pytest
from labels import is_proved, is_refuted_by_a_stored_run
from planted import Mutant, mutants, smaller_constants, sound_inequalities

from fedtheory.arithmetic import RATIONAL
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.instance_search import search

pytestmark = pytest.mark.long

BUDGET = 60.0
"""Seconds for a mutant that is false."""


def is_refuted(mutant: Mutant, budget: float, seed: int) -> bool:
    """Return whether a search finds a violation; its run file is checked again."""
    violation = search(mutant.claim, budget, seed).violation
    assert violation is None or check(mutant.claim, parse_run(violation.table, RATIONAL)).holds is False
    return violation is not None


def test_errors_by_construction_are_found() -> None:
    """Bounds scaled below a ratio that the families attain are all refuted, however busy the machine is."""
    claims = random.Random(7).sample(sound_inequalities(), 2)
    known = [mutant for claim in claims for mutant in smaller_constants(claim)]
    assert len(known) >= 2
    missed = [(mutant.claim.id, mutant.change) for mutant in known if not is_refuted(mutant, BUDGET, seed=0)]
    assert missed == []


def planted_in(claim_id: str, kind: str) -> list[Mutant]:
    """Return the mutants of a claim of one kind."""
    return [mutant for mutant in mutants(find(claim_id)) if mutant.kind == kind]


@pytest.mark.parametrize(
    ("claim_id", "kind"),
    [("renard2022:thm-2.1.proof.telescope", "rounds for iterations"), ("lecture27:lemma-3", "a wider condition")],
)
def test_true_mutants_are_not_refuted(claim_id: str, kind: str) -> None:
    """A mutant that follows from proved claims is not refuted, such as one with a smaller left side or fewer
    conditions.
    """
    true = [mutant for mutant in planted_in(claim_id, kind) if is_proved(mutant)]
    assert true
    assert not any(is_refuted_by_a_stored_run(mutant) or is_refuted(mutant, 2, seed=0) for mutant in true)


def test_violations_of_stored_runs_are_found() -> None:
    """The runs that need much of a term refute the bound without it, and so does a search, which does not know them."""
    lost = [m for m in planted_in("renard2022:thm-2.1.sharp", "a lost term") if is_refuted_by_a_stored_run(m)]
    assert lost
    for mutant in lost:
        assert not is_proved(mutant)
        assert is_refuted(mutant, BUDGET, seed=0)


@pytest.mark.slow
def test_sound_inequalities_stand() -> None:
    """No claim that is recorded as supported or proved is refuted."""
    refuted = [claim.id for claim in sound_inequalities() if search(claim, 5, seed=0).violation is not None]
    assert refuted == []
