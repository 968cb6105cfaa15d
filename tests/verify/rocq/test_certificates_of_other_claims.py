"""A certificate that is accepted for another claim than its own proves that one: it holds on runs of all families."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import pytest

from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import certificates, check_certificate
from verify.check import check
from verify.instances import FAMILIES, Instance

_QUANTITIES = [quantity for quantity in vars(q).values() if isinstance(quantity, q.RunQuantity)]


def with_fewer_assumptions(claim: Claim, chance: random.Random) -> Claim:
    """Return the claim without one or two of its assumptions."""
    kept = list(claim.assumptions)
    for _ in range(min(len(kept), chance.choice([1, 1, 2]))):
        kept.pop(chance.randrange(len(kept)))
    return replace(claim, assumptions=kept)


def with_wider_conditions(claim: Claim, chance: random.Random) -> Claim:
    """Return the claim with one condition dropped, or made three times as wide."""
    conditions = list(claim.conditions)
    if conditions:
        one = conditions.pop(chance.randrange(len(conditions)))
        conditions += [one.func(one.lhs, 3 * one.rhs, evaluate=False)] if chance.random() < 0.5 else []
    return replace(claim, conditions=conditions)


def of_other_quantities(claim: Claim, chance: random.Random) -> Claim:
    """Return the claim with one or two symbols that stand for other quantities."""
    symbols = [symbol for symbol, quantity in claim.where.items() if isinstance(quantity, q.RunQuantity)]
    chosen = chance.sample(symbols, min(len(symbols), chance.choice([1, 1, 2])))
    return replace(claim, where={**claim.where, **{symbol: chance.choice(_QUANTITIES) for symbol in chosen}})


WAYS = (with_fewer_assumptions, with_wider_conditions, of_other_quantities)


def accepted(chance: random.Random, tries: int) -> Iterator[Claim]:
    """Yield claims for which the certificate of another claim is accepted."""
    known = sorted(certificates())
    for _ in range(tries):
        name = chance.choice(known)
        try:
            claim = chance.choice(WAYS)(find(name), chance)
            found = check_certificate(claim, certificates()[name]).verdict
        except FedtheoryError:
            continue
        if found == "proved":
            yield claim


@cache
def _instances() -> Sequence[Instance]:
    exact = [family for family in FAMILIES.values() if not family.in_floats]
    return [instance for family in exact for instance in family.instances]


@lru_cache(maxsize=2000)
def _run(instance: Any) -> Run:
    run: Run = instance.run()
    return run


def fails_on(claim: Claim, chance: random.Random, runs: int) -> Instance | None:
    """Return an instance of any family on which a claim applies and fails."""
    for instance in chance.sample(_instances(), runs):
        try:
            found = check(claim, _run(instance))
        except FedtheoryError:
            continue
        if found.applicable and found.holds is False:
            return instance
    return None


def _all_hold(seed: int, tries: int, runs: int) -> None:
    chance = random.Random(seed)
    claims = list(accepted(chance, tries))
    assert len(claims) > tries / 20
    for claim in claims:
        assert fails_on(claim, chance, runs) is None, claim


@pytest.mark.long
def test_accepted_claims_hold() -> None:
    """Accepted claims hold on all instances, in a few tries."""
    _all_hold(seed=1, tries=40, runs=40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 10))
def test_accepted_claims_hold_in_many_tries(seed: int) -> None:
    """Accepted claims hold on all instances, in hundreds of tries."""
    _all_hold(seed, tries=600, runs=200)
