"""Where a search starts: the instances of the claim's own families, and of others on which it happens to apply."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from fedtheory.language.claim import Claim
from fedtheory.runfile import run_table
from verify.falsify.tables import features
from verify.instances import FAMILIES, Instance, families_for

_ASKED = 40
"""Members of a family that are asked for their features; a feature of one in ten is met for certain, as good as."""


def starts(claim: Claim, generator: np.random.Generator) -> Iterator[Instance]:
    """All instances in random order, those of the claim's own families first."""
    own = families_for(claim)
    yield from _shuffled(own, generator)
    if claim.rate is None:
        yield from _shuffled([n for n, f in FAMILIES.items() if n not in own and not f.for_rates], generator)


def own_size(claim: Claim) -> int:
    """How many instances the claim's own families have."""
    return sum(FAMILIES[name].size for name in families_for(claim))


def setting(claim: Claim) -> set[str]:
    """The features of the instances of the claim's own families, as far as some of each show them."""
    return set().union(*(_features(name) for name in families_for(claim)))


@cache
def _features(name: str) -> set[str]:
    members = FAMILIES[name].instances
    chosen = members[:: max(len(members) // _ASKED, 1)]
    return set().union(*(features(run_table(instance.run())) for instance in chosen))


def _shuffled(names: list[str] | tuple[str, ...], generator: np.random.Generator) -> list[Instance]:
    """Instances of some families in random order: single ones first, large ones that are evaluated in floats last."""

    def lateness(instance: Instance) -> tuple[bool, bool, bool]:
        family = FAMILIES[instance.family]
        return family.in_floats, family.in_enclosures, family.size > 1

    everyone = [instance for name in names for instance in FAMILIES[name].instances]
    mixed = [everyone[place] for place in generator.permutation(len(everyone))]
    return sorted(mixed, key=lateness)
