"""Four hundred planted errors: of every kind and of every bound of the sources about as many, in a fixed order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planted import Mutant, mutants, sound_inequalities

from fedtheory.language.claim import Claim

COUNT, SEED = 400, 5


@dataclass(frozen=True)
class PlantedError:
    """A bound of a source with an error, as a user-defined claim."""

    claim: Claim
    origin: Claim
    mutant: Mutant


def planted_errors() -> list[PlantedError]:
    """Return all errors that are tried: the kinds take turns, each with an error of the claim used least so far."""
    waiting = _by_kind(sound_inequalities(), random.Random(SEED))
    taken: Counter[str] = Counter()
    chosen: list[PlantedError] = []
    while waiting and len(chosen) < COUNT:
        for kind in list(waiting):
            least = min(waiting[kind], key=lambda error: taken[error.origin.id])
            waiting[kind].remove(least)
            taken[least.origin.id] += 1
            chosen.append(least)
            if not waiting[kind]:
                del waiting[kind]
    return chosen[:COUNT]


def _by_kind(claims: Sequence[Claim], generator: random.Random) -> dict[str, list[PlantedError]]:
    of_kind: dict[str, list[PlantedError]] = {}
    for claim in claims:
        for error in errors_in(claim):
            of_kind.setdefault(error.mutant.kind, []).append(error)
    return {kind: generator.sample(of_kind[kind], len(of_kind[kind])) for kind in sorted(of_kind)}


def errors_in(claim: Claim) -> Iterator[PlantedError]:
    """Yield the errors of a claim, numbered within their kinds; none has the claim's proof."""
    counted: Counter[str] = Counter()
    for mutant in mutants(claim):
        counted[mutant.kind] += 1
        name = "-".join(mutant.kind.replace(",", "").split())
        number = counted[mutant.kind]
        own = replace(mutant.claim, id=f"planted:{claim.id}:{name}:{number}", kind="bound", printed=None, note="")
        yield PlantedError(own, claim, mutant)
