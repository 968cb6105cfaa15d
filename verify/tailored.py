"""Instances made for a claim: until there are enough of every kind that its assumptions and conditions leave.

The families are drawn without a claim in mind, and of some claims only a few members are instances.  Here
`falsify.made` changes them.  What a claim excludes cannot be made, and is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter

import numpy as np

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.registry import paper_with
from fedtheory.language.targets import Target, resolve
from fedtheory.runfile import parse_run
from verify.check import Check
from verify.falsify.made import ASPECTS, KINDS, Kind, kind_of, made
from verify.falsify.tables import Table
from verify.instances import Instance, complexity
from verify.trials import Outcome

ENOUGH = 200
"""Instances of each kind, and of all kinds together, without which a claim of one's own is not supported."""
_TRIES = 4
"""Changed runs that are tried for each instance that is missing."""
_IN_VAIN = 18
"""Changed runs without an instance among them after which a kind is given up."""
_LARGEST = 8
"""How many times as many clients and rounds a changed run may have."""


@dataclass(frozen=True)
class Tailored(Instance):
    """An instance that was made for a claim."""

    table: Table
    kind: Kind

    def run(self) -> Run:
        """The exact run."""
        return parse_run(self.table, RATIONAL)


def made_for(
    outcomes: Mapping[Target, Sequence[Outcome]], jobs: int, on_progress: Callable[[int, int], None]
) -> Iterator[Outcome]:
    """Outcomes on instances that are made for those claims of no paper that stand on all instances so far."""
    from joblib import Parallel, delayed

    found = {target: kinds_of(known) for target, known in outcomes.items() if _may_need_more(resolve(target), known)}
    tasks = [(target, *wanted) for target, kinds in found.items() for wanted in missing(kinds)]
    results = Parallel(n_jobs=jobs, return_as="generator")(delayed(tailor)(*task) for task in tasks)
    for done, of_task in enumerate(results, start=1):
        on_progress(done, len(tasks))
        yield from of_task


def _may_need_more(claim: Claim, outcomes: Sequence[Outcome]) -> bool:
    is_own = claim.is_testable and claim.rate is None and paper_with(claim.source) is None
    return is_own and not any(outcome.holds is False for outcome in outcomes)


def kinds_of(outcomes: Sequence[Outcome]) -> list[Kind]:
    """The kinds of the instances to which a claim applies."""
    return [_kind(outcome.instance) for outcome in outcomes if outcome.applicable]


def _kind(instance: Instance) -> Kind:
    return instance.kind if isinstance(instance, Tailored) else _kind_of_member(instance)


@cache
def _kind_of_member(instance: Instance) -> Kind:
    return kind_of(instance.run())


def lacking(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """The aspects of which there are not enough instances, and how many there are."""
    count = Counter(word for kind in kinds_of(outcomes) for word in kind.words)
    return {aspect: count[aspect] for aspect in ASPECTS if count[aspect] < ENOUGH}


def missing(found: Sequence[Kind]) -> list[tuple[Kind, int]]:
    """How many instances of which kind it takes until each aspect has enough."""
    have, wanted = Counter(found), []
    for kind in KINDS:
        share = max(ENOUGH // sum(word in other.words for other in KINDS) for word in kind.words)
        if have[kind] < share:
            wanted.append((kind, share - have[kind]))
    return wanted


def tailor(target: Target, kind: Kind, count: int) -> list[Outcome]:
    """What a claim says of so many instances of a kind, or of as many as can be made."""
    claim = resolve(target)
    generator = np.random.default_rng([7, KINDS.index(kind)])
    outcomes: list[Outcome] = []
    for number in range(_TRIES * count):
        begin = perf_counter()
        # Where nothing is found, the conditions may ask for more clients or rounds.
        size = 1 if outcomes else min(1 + number // 2, _LARGEST)
        fitting = made(claim, kind, size, generator)
        if fitting is not None:
            table, found = fitting
            instance = Tailored("made for the claim", number, table, kind)
            outcomes.append(_outcome(target, instance, found, perf_counter() - begin))
        if len(outcomes) == count or (not outcomes and number == _IN_VAIN):
            break
    return outcomes


def _outcome(target: Target, instance: Tailored, found: Check, seconds: float) -> Outcome:
    size = complexity(instance, instance.run())
    return Outcome(target, instance, True, found.everywhere, found.holds, True, found.ratio, size, seconds)
