"""Starting points of a search: instances of the claim's families, and of other families to which it applies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from fedtheory.language.claim import Claim
from verify.falsify.run_tables import Table, list_features, make_working_table
from verify.instances import FAMILIES, Instance, families_for

_ASKED = 40
"""Number of members of a family whose features are collected; a feature of one in ten is found almost surely."""


def list_starts(claim: Claim, generator: np.random.Generator) -> Iterator[Instance]:
    """Yield all instances in random order, those of the claim's own families first.

    Families for assumptions that the claim does not make are skipped: a claim without an algorithm concerns FedAvg.
    """
    own = families_for(claim)
    yield from _shuffle(own, generator)
    if claim.rate is None:
        others = [f for f in FAMILIES.values() if f.name not in own and not f.for_rates]
        meant = [f.name for f in others if f.meant_for is None or f.meant_for in claim.assumptions]
        yield from _shuffle(meant, generator)


def count_instances(claim: Claim) -> int:
    """Return the number of instances in the claim's families."""
    return sum(FAMILIES[name].size for name in families_for(claim))


def find_features(claim: Claim) -> set[str]:
    """Return the features of the instances of the claim's own families, from some members of each."""
    return set().union(*(list_features(table) for name in families_for(claim) for table in _list_tables(name)))


def list_algorithms(claim: Claim) -> list[Table]:
    """Return quadratic members of the claim's own families, one for each form of the algorithm among some members."""
    shown = (table for name in families_for(claim) for table in _list_tables(name) if "hessians" in table["problem"])
    shapes: dict[str, Table] = {}
    for table in shown:
        shapes.setdefault(_describe_shape(table["algorithm"]), table)
    return sorted(shapes.values(), key=lambda table: len(table["algorithm"]))


def _describe_shape(value: Any) -> str:
    """Return the words of a table without its numbers."""
    if isinstance(value, dict):
        return str({key: _describe_shape(inner) for key, inner in value.items()})
    return value if isinstance(value, str) else type(value).__name__


@cache
def _list_tables(name: str) -> list[Table]:
    """Return the tables of some members of a family."""
    members = FAMILIES[name].instances
    return [make_working_table(instance.run()) for instance in members[:: max(len(members) // _ASKED, 1)]]


def _shuffle(names: list[str] | tuple[str, ...], generator: np.random.Generator) -> list[Instance]:
    """Return the instances of families in random order: single ones first, those in floats last."""

    def lateness(instance: Instance) -> tuple[bool, bool, bool]:
        family = FAMILIES[instance.family]
        return family.in_floats, family.in_enclosures, family.size > 1

    everyone = [instance for name in names for instance in FAMILIES[name].instances]
    mixed = [everyone[place] for place in generator.permutation(len(everyone))]
    return sorted(mixed, key=lateness)
