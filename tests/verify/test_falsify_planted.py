"""Planted errors are found, and what they were planted in stands."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from planted import Mutant, mutants, smaller_constants, sound_inequalities

from fedtheory.arithmetic import RATIONAL
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.search import search

SHARE = 0.97
"""Of the mutants that are false, at least so many are refuted."""
BUDGET, LONG_BUDGET = 10.0, 40.0
"""Seconds for a mutant; and for a second search, which tells whether an unrefuted one is false."""


def is_refuted(mutant: Mutant, budget: float, seed: int) -> bool:
    """Whether a search finds a violation; its run file is checked anew."""
    violation = search(mutant.claim, budget, seed).violation
    assert violation is None or check(mutant.claim, parse_run(violation.table, RATIONAL)).holds is False
    return violation is not None


def outcome(mutant: Mutant) -> str:
    """Whether a mutant is refuted, missed by the search that a user waits for, or perhaps true."""
    if is_refuted(mutant, BUDGET, seed=0):
        return "refuted"
    return "missed" if is_refuted(mutant, LONG_BUDGET, seed=1) else "perhaps true"


def sample(each: int, seed: int) -> list[Mutant]:
    """So many mutants of every kind, of all claims in turn."""
    generator = random.Random(seed)
    claims = sound_inequalities()
    of_kind: dict[str, list[Mutant]] = {}
    for claim in generator.sample(claims, len(claims)):
        for mutant in generator.sample(found := list(mutants(claim)), len(found)):
            of_kind.setdefault(mutant.kind, []).append(mutant)
    return [mutant for found in of_kind.values() for mutant in generator.sample(found, min(each, len(found)))]


def test_errors_by_construction_are_found() -> None:
    """Bounds scaled below a ratio that the families attain are all refuted, however busy the machine is."""
    claims = random.Random(7).sample(sound_inequalities(), 2)
    known = [mutant for claim in claims for mutant in smaller_constants(claim)]
    assert len(known) >= 2
    missed = [(mutant.claim.id, mutant.change) for mutant in known if not is_refuted(mutant, LONG_BUDGET, seed=0)]
    assert missed == []


@pytest.mark.slow
def test_planted_errors_are_found() -> None:
    """Of the false ones among three hundred mutants of all kinds nearly all are refuted."""
    outcomes = Counter(outcome(mutant) for mutant in sample(50, seed=11))
    assert outcomes["refuted"] >= SHARE * (outcomes["refuted"] + outcomes["missed"]), outcomes


@pytest.mark.slow
def test_sound_inequalities_stand() -> None:
    """No claim that is recorded as supported or proved is refuted."""
    refuted = [claim.id for claim in sound_inequalities() if search(claim, 5, seed=0).violation is not None]
    assert refuted == []
