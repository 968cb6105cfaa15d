"""Generate instances for a claim until there are enough of every kind that its premises allow.

The families do not depend on the claim, so few of their members may satisfy its premises. `falsify.generation` changes
such members to others. Kinds that the premises exclude are reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter

import numpy as np

from fedtheory.language.claim import Claim
from fedtheory.language.registry import find_publisher
from fedtheory.language.targets import Target, resolve
from fedtheory.runfile import run_table
from verify.evaluated_instances import Outcome
from verify.falsify.generation import ASPECTS, KINDS, Bases, InstanceKind, generate_run, select_bases
from verify.falsify.run_tables import examine
from verify.instances import Given, families_for
from verify.processes import run_in_order
from verify.rate_instances import LADDERS, add_ladders

ENOUGH = 200
"""Number of instances, of each kind and in total, that a user-defined claim needs to be supported."""
_TRIES = 4
"""Number of changed runs that are tried per missing instance."""
_IN_VAIN = 18
"""Number of changed runs without a new instance after which a kind is given up."""
_SOME = 3
"""Number of instances of a kind that is unlikely to be chance."""
_LARGEST = 8
"""Largest factor on the clients and rounds of a changed run."""


def add_targeted_instances(
    outcomes: Mapping[Target, Sequence[Outcome]], jobs: int, on_progress: Callable[[int, int], None]
) -> Iterator[Outcome]:
    """Yield outcomes on instances generated for the user-defined claims that hold on all instances so far.

    Claims with the same premises share instances.
    """
    groups: dict[Hashable, _Group] = {}
    for target in (target for target, known in outcomes.items() if _needs_more(resolve(target), known)):
        groups.setdefault(_make_key(resolve(target)), _Group()).known[target] = list(outcomes[target])
    # The first turn shows which kinds the premises allow; the second turn generates more of these.
    for turn, kinds in enumerate((_all_kinds, _list_kinds)):
        tasks = [(*task, turn) for group in groups.values() for task in group.tasks(kinds)]
        for done, of_task in enumerate(run_in_order(evaluate_targeted, tasks, jobs), start=1):
            on_progress(done, len(tasks))
            for outcome in of_task:
                groups[_make_key(resolve(outcome.target))].known[outcome.target].append(outcome)
            yield from of_task
    yield from add_ladders(outcomes, jobs, on_progress)


def _needs_more(claim: Claim, outcomes: Sequence[Outcome]) -> bool:
    is_own = claim.is_testable and claim.rate is None and find_publisher(claim) is None
    # A violation seen only in floats may be rounding; it is checked later.
    return is_own and not any(outcome.holds is False and outcome.exact for outcome in outcomes)


def count_enough(claim: Claim) -> int:
    """Return the number of instances of all kinds that an undecided claim needs."""
    return ENOUGH if claim.rate is None else LADDERS


def are_enough(claim: Claim, applicable: Sequence[Outcome]) -> bool:
    """Return whether a claim has enough applicable instances, for a user-defined claim of every kind."""
    has_all_kinds = claim.rate is not None or find_publisher(claim) is not None or not count_missing_aspects(applicable)
    return len(applicable) >= count_enough(claim) and has_all_kinds


def _make_key(claim: Claim) -> Hashable:
    """Return a key of a claim's premises: its families, and the content of its assumptions and conditions."""
    symbols = set().union(*(condition.free_symbols for condition in claim.run_conditions))
    meant = {(symbol, claim.notation[symbol]) for symbol in symbols}
    return families_for(claim), tuple(claim.assumptions), tuple(claim.conditions), frozenset(meant)


def _all_kinds(_found: Sequence[InstanceKind]) -> Sequence[InstanceKind]:
    return KINDS


def _list_kinds(found: Sequence[InstanceKind]) -> Sequence[InstanceKind]:
    """Return the kinds that can be generated; if there are none, those that occurred by chance."""
    count = Counter(found)
    return [kind for kind in KINDS if count[kind] >= _SOME] or [kind for kind in KINDS if count[kind]]


@dataclass(eq=False)
class _Group:
    """Claims with the same premises, and their outcomes so far."""

    known: dict[Target, list[Outcome]] = field(default_factory=dict)

    def tasks(
        self, kinds: Callable[[Sequence[InstanceKind]], Sequence[InstanceKind]]
    ) -> Iterator[tuple[list[Target], InstanceKind, int, Bases]]:
        """Yield tasks for the requested kinds: claims, kind, number of missing instances, and start runs."""
        wanted: dict[InstanceKind, int] = {}
        targets = [target for target, known in self.known.items() if _needs_more(resolve(target), known)]
        for found in (list_kinds(self.known[target]) for target in targets):
            for kind, count in count_missing(found, kinds(found)):
                wanted[kind] = max(count, wanted.get(kind, 0))
        yield from ((targets, kind, count, self._bases) for kind, count in wanted.items())

    @cached_property
    def _bases(self) -> Bases:
        first, known = next(iter(self.known.items()))
        drawn = (outcome for outcome in known if not isinstance(outcome.instance, Given))
        applicable = {outcome.instance for outcome in drawn if outcome.applicable}
        return select_bases(resolve(first), applicable.__contains__)


def list_kinds(outcomes: Sequence[Outcome]) -> list[InstanceKind]:
    """Return the kinds of the instances to which a claim applies."""
    return [outcome.kind for outcome in outcomes if outcome.applicable and outcome.kind is not None]


def count_missing_aspects(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return the aspects with too few instances, and their numbers of instances."""
    count = Counter(word for kind in list_kinds(outcomes) for word in kind.words)
    return {aspect: count[aspect] for aspect in ASPECTS if count[aspect] < ENOUGH}


def list_excluded_aspects(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return the aspects without any instance, each with a zero."""
    return {aspect: count for aspect, count in count_missing_aspects(outcomes).items() if count == 0}


def count_missing(
    found: Sequence[InstanceKind], kinds: Sequence[InstanceKind] = KINDS
) -> list[tuple[InstanceKind, int]]:
    """Count for each kind the instances that are missing until each aspect has enough."""
    have, wanted = Counter(found), []
    for kind in kinds:
        share = max(-(-ENOUGH // sum(word in other.words for other in kinds)) for word in kind.words)
        if have[kind] < share:
            wanted.append((kind, share - have[kind]))
    return wanted


def evaluate_targeted(
    targets: Sequence[Target], kind: InstanceKind, count: int, bases: Bases, turn: int = 0
) -> list[Outcome]:
    """Check claims on generated instances of a kind: on `count` of them, or as many as can be generated.

    Each turn generates different instances. Instances that satisfy the premises by chance, such as one client that
    samples itself, may be poor start runs.
    """
    found = _evaluate_generated(bases, targets, kind, count, turn)
    if len(found) < count and bases.others:
        found += _evaluate_generated(bases.wider, targets, kind, count - len(found), turn)
    return [outcome for outcomes in found for outcome in outcomes]


def _evaluate_generated(
    bases: Bases, targets: Sequence[Target], kind: InstanceKind, count: int, turn: int
) -> list[list[Outcome]]:
    """Return the outcomes of all claims on each generated instance."""
    first, generator = resolve(targets[0]), np.random.default_rng([7, KINDS.index(kind), turn])
    found: list[list[Outcome]] = []
    for number in range(_TRIES * count):
        begin = perf_counter()
        # If no instance is found, the conditions may need more clients or rounds.
        size = 1 if found else min(1 + number // 2, _LARGEST)
        fitting = generate_run(first, bases, kind, size, generator)
        if fitting is not None:
            run, of_first = fitting
            instance = Given("made for the claim", number, run_table(run))
            checks = [of_first, *(examine(resolve(target), run) for target in targets[1:])]
            share = (perf_counter() - begin) / len(targets)
            found.append(
                [
                    Outcome.from_check(target, (instance, run), each, share, kind)
                    for target, each in zip(targets, checks, strict=True)
                    if each is not None and each.applicable and each.holds is not None
                ]
            )
        if len(found) == count or (not found and number == _IN_VAIN):
            break
    return found
