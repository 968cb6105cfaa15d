"""Planted errors are found, and what they were planted in stands."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from planted import Mutant, mutants, sound_inequalities

from fedtheory.arithmetic import RATIONAL
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.search import search

SHARE = 0.95
"""Of the mutants that are false, at least so many are refuted."""
BUDGET, LONG_BUDGET = 10.0, 40.0
"""Seconds for a mutant; and for a second search, which tells whether an unrefuted one is false."""


def is_refuted(mutant: Mutant, budget: float, seed: int) -> bool:
    """Whether a search finds a violation; its run file is checked anew."""
    violation = search(mutant.claim, budget, seed).violation
    assert violation is None or check(mutant.claim, parse_run(violation.table, RATIONAL)).holds is False
    return violation is not None


def outcome(mutant: Mutant) -> str:
    """Whether a mutant is refuted, known to be false and missed, or perhaps true."""
    if is_refuted(mutant, BUDGET, seed=0):
        return "refuted"
    return "missed" if mutant.known_false or is_refuted(mutant, LONG_BUDGET, seed=1) else "perhaps true"


def sample(claims: int, each: int, seed: int) -> list[Mutant]:
    """Some mutants of some claims."""
    generator = random.Random(seed)
    chosen = generator.sample(sound_inequalities(), claims)
    found = [list(mutants(claim)) for claim in chosen]
    return [mutant for of_claim in found for mutant in generator.sample(of_claim, min(each, len(of_claim)))]


def test_errors_by_construction_are_found() -> None:
    """Bounds scaled below a ratio that the families attain are all refuted, however busy the machine is."""
    known = [mutant for mutant in sample(8, 30, seed=7) if mutant.known_false]
    assert len(known) >= 8
    missed = [(mutant.claim.id, mutant.change) for mutant in known if not is_refuted(mutant, LONG_BUDGET, seed=0)]
    assert missed == []


@pytest.mark.slow
def test_planted_errors_are_found() -> None:
    """Of the false ones among the mutants of sixty claims nearly all are refuted."""
    outcomes = Counter(outcome(mutant) for mutant in sample(60, 4, seed=11))
    assert outcomes["refuted"] >= SHARE * (outcomes["refuted"] + outcomes["missed"]), outcomes


@pytest.mark.slow
def test_sound_inequalities_stand() -> None:
    """No claim that is recorded as supported or proved is refuted."""
    refuted = [claim.id for claim in sound_inequalities() if search(claim, 5, seed=0).violation is not None]
    assert refuted == []
