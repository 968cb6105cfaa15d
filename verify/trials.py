"""Many claims on many instances, over local processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fedtheory.arithmetic import ENCLOSED
from fedtheory.errors import InputError
from fedtheory.language.targets import Target, resolve
from verify.check import Check
from verify.check.settle import check_settled
from verify.instances import FAMILIES, Instance, complexity, families_for

_CHUNK = 12
"""Instances per task: enough to hide the cost of a task, few enough for even work and smooth progress."""


@dataclass(frozen=True)
class Outcome:
    """What one claim says of one instance, small enough to travel between processes."""

    target: Target
    instance: Instance
    applicable: bool
    everywhere: bool
    """Whether all constants that the claim uses hold on all of space, not only on a ball."""
    holds: bool | None
    exact: bool
    """Whether rationals or enclosures decided."""
    ratio: float | None
    complexity: tuple[int, int, int, int]
    seconds: float
    is_trivial: bool = False
    """Whether a rate holds because its quantity is zero."""


def try_claims(
    targets: Sequence[Target], *, jobs: int = 1, on_progress: Callable[[int, int], None] = lambda _done, _all: None
) -> list[Outcome]:
    """Check claims, named as on the command line, on the instances of their families.

    `jobs` is the number of processes (-1 for all cores); `on_progress` is told
    how many instances are done, and of how many.
    """
    from joblib import Parallel, delayed

    if jobs == 0:
        raise InputError("jobs", "expected a number of processes, or -1 for all cores, got 0")
    chunks = list(_chunks(targets))
    whole = sum(len(instances) for _, instances in chunks)
    results = Parallel(n_jobs=jobs, return_as="generator")(delayed(_check_chunk)(*chunk) for chunk in chunks)
    outcomes: list[Outcome] = []
    done = 0
    for (_, instances), found in zip(chunks, results, strict=True):
        outcomes += found
        done += len(instances)
        on_progress(done, whole)
    return outcomes


def _chunks(targets: Sequence[Target]) -> Iterator[tuple[list[Target], list[Instance]]]:
    """Some instances of one family at a time, with the claims that are tried on it."""
    tried = {name: [target for target in targets if name in families_for(resolve(target))] for name in FAMILIES}
    for name, family in FAMILIES.items():
        for first in range(0, family.size if tried[name] else 0, _CHUNK):
            yield tried[name], family.instances[first : first + _CHUNK]


def _check_chunk(targets: Sequence[Target], instances: Sequence[Instance]) -> list[Outcome]:
    return [outcome for instance in instances for outcome in _check_instance(targets, instance)]


def _check_instance(targets: Sequence[Target], instance: Instance) -> Iterator[Outcome]:
    from time import perf_counter

    exact = instance.run()
    floats = exact.as_floats() if FAMILIES[instance.family].in_floats else None
    size = complexity(instance, exact)
    for target in targets:
        claim = resolve(target)
        begin = perf_counter()
        found = check_settled(claim, exact, floats)
        yield Outcome(
            target,
            instance,
            counts(found),
            found.everywhere,
            found.holds,
            found.arithmetic.is_rigorous,
            found.ratio,
            size,
            perf_counter() - begin,
            found.rate is not None and found.rate.is_zero,
        )


def counts(found: Check) -> bool:
    """Whether a check is evidence: the claim applies, and its sides are not just too close for enclosures."""
    return found.applicable and (found.holds is not None or found.arithmetic is not ENCLOSED)
