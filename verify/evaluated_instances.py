"""Check many claims on many instances, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

from fedtheory.arithmetic import ENCLOSED
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.language.registry import find_publisher, is_of_the_package
from fedtheory.language.targets import Target, locate_mistake, resolve
from verify import cache
from verify.check import Check
from verify.check.escalation import check_decided
from verify.check.joint_checks import CheckResult, RunsTogether
from verify.check.links import compile_conditions, compile_relations
from verify.check.rates import require_ladder
from verify.digests import digest_trials
from verify.falsify.generation import InstanceKind, classify_run
from verify.instances import FAMILIES, Complexity, Given, Instance, complexity, families_for
from verify.processes import run_in_order

_CHUNK = 48
"""Largest number of instances per task: enough for joint evaluation, few enough to balance processes."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of one claim on one instance, small enough to send between processes."""

    target: Target
    instance: Instance
    applicable: bool
    everywhere: bool
    """Whether all constants that the claim uses hold on the whole space, not only on a ball."""
    holds: bool | None
    exact: bool
    """Whether the check was decided in rationals or enclosures."""
    ratio: float | None
    complexity: Complexity
    seconds: float
    is_trivial: bool = False
    """Whether a rate holds only because its quantity is zero."""
    kind: InstanceKind | None = None
    """The kind of the instance; a user-defined claim needs enough instances of every kind."""
    excluded: str = ""
    """Name of the assumption, condition or quantity because of which the claim does not apply to the instance."""

    @classmethod
    def from_check(
        cls, target: Target, at: tuple[Given, Run], found: Check, seconds: float, kind: InstanceKind | None = None
    ) -> Outcome:
        """Return the outcome of a check that applies to an instance outside the families, given with its run."""
        exact, size, (instance, _) = found.arithmetic.is_rigorous, complexity(*at), at
        return cls(target, instance, True, found.everywhere, found.holds, exact, found.ratio, size, seconds, kind=kind)


def require_processes(jobs: int) -> None:
    """Raise `InputError` if the number of processes is zero."""
    if jobs == 0:
        raise InputError("jobs", "expected a number of processes, or -1 for all cores, got 0")


def require_testable(target: Target) -> None:
    """Raise `InputError`, with the line of the user's file, for a claim that cannot be checked on any run.

    Claims of the package are testable, so they are not compiled here.
    """
    try:
        claim = resolve(target)
        if isinstance(target, str) and is_of_the_package(target.partition(":")[0]):
            return
        compile_relations(claim), compile_conditions(claim)
        if claim.rate is not None:
            require_ladder(claim)
    except InputError as error:
        raise locate_mistake(error, target) from None


def try_claims(
    targets: Sequence[Target],
    part: int,
    *,
    jobs: int = 1,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Outcome]:
    """Check claims, named as on the command line, on a part of the instances of their families.

    `jobs` is the number of processes (-1 for all cores). `on_progress` receives the number of finished checks and the
    number of all checks. Cached outcomes of the same code are used again.
    """
    require_processes(jobs)
    outcomes, open_ones = _split_known(targets, part)
    chunks = list(_split_into_chunks(open_ones, part))
    whole = sum(chunk.tries for chunk in chunks)
    results = run_in_order(_check_chunk, [(chunk.targets, chunk.instances) for chunk in chunks], jobs)
    done, of_family = 0, list[Outcome]()
    for chunk, found in zip(chunks, results, strict=True):
        of_family += found
        if chunk.is_last:
            _keep(chunk, of_family, part)
            outcomes += of_family
            of_family = []
        done += chunk.tries
        on_progress(done, whole)
    return outcomes


@dataclass(frozen=True)
class _Chunk:
    """Some instances of a family and the claims that are checked on them."""

    family: str
    targets: Sequence[Target]
    instances: Sequence[Instance]
    is_last: bool

    @property
    def tries(self) -> int:
        """Count the checks of a claim on an instance."""
        return len(self.targets) * len(self.instances)


def count_tries(targets: Sequence[Target], part: int) -> int:
    """Count the checks of claims on all instances, without the cache."""
    pairs = ((family, target) for target in targets for family in families_for(resolve(target)))
    return sum(chunk.tries for chunk in _split_into_chunks(_group_by_family(pairs), part))


def _group_by_family(pairs: Iterable[tuple[str, Target]]) -> dict[str, list[Target]]:
    """Group targets by family, in the order in which families are registered."""
    targets: dict[str, list[Target]] = {name: [] for name in FAMILIES}
    for family, target in pairs:
        targets.setdefault(family, []).append(target)
    return targets


def _split_into_chunks(open_ones: Mapping[str, Sequence[Target]], part: int) -> Iterator[_Chunk]:
    for name, targets in open_ones.items():
        members = FAMILIES[name].part(part) if targets else []
        several = -(-len(members) // _CHUNK)
        for number in range(several):
            yield _Chunk(name, targets, members[number::several], number + 1 == several)


def _split_known(targets: Sequence[Target], part: int) -> tuple[list[Outcome], dict[str, list[Target]]]:
    """Return the cached outcomes, and the targets without one, grouped by family."""
    outcomes: list[Outcome] = []
    unknown: list[tuple[str, Target]] = []
    for target in targets:
        for family in families_for(resolve(target)):
            found = cache.find(*_make_key(target, family, part)) if isinstance(target, str) else None
            if found is None:
                unknown.append((family, target))
            else:
                outcomes += found
    return outcomes, _group_by_family(unknown)


def _keep(chunk: _Chunk, outcomes: Sequence[Outcome], part: int) -> None:
    by_target: dict[Target, list[Outcome]] = {target: [] for target in chunk.targets}
    for outcome in outcomes:
        by_target[outcome.target].append(outcome)
    for target, found in by_target.items():
        if isinstance(target, str):
            cache.save(found, *_make_key(target, chunk.family, part))


def _make_key(target: str, family: str, part: int) -> tuple[str, ...]:
    return "outcomes", target, family, str(part), *digest_trials(target)


def _check_chunk(targets: Sequence[Target], instances: Sequence[Instance]) -> list[Outcome]:
    claims = {target: resolve(target) for target in targets}
    for claim in claims.values():
        # Some claims define their own families, which instances need.
        families_for(claim)
    members = [_Member.from_instance(instance) for instance in instances]
    begin = perf_counter()
    together = RunsTogether([member.run for member in members]).check_claims(claims.values())
    seconds = (perf_counter() - begin) / max(sum(map(len, together.values())), 1)
    return [
        member.check_alone(target)
        if (joint := together.get(claim, {}).get(row)) is None
        else member.build_outcome(target, joint, member.run.arithmetic.is_rigorous, seconds)
        for row, member in enumerate(members)
        for target, claim in claims.items()
    ]


@dataclass(frozen=True, eq=False)
class _Member:
    """An instance with its runs."""

    instance: Instance
    exact: Run
    floats: Run | None
    """The instance in floats, for families that are evaluated in floats first."""
    complexity: Complexity

    @classmethod
    def from_instance(cls, instance: Instance) -> _Member:
        """Build the runs of an instance."""
        exact = instance.run()
        floats = exact.as_floats() if FAMILIES[instance.family].in_floats else None
        return cls(instance, exact, floats, complexity(instance, exact))

    @cached_property
    def kind(self) -> InstanceKind:
        """Return the kind of the instance."""
        return classify_run(self.exact)

    @property
    def run(self) -> Run:
        """Return the run on which a claim is checked first."""
        return self.exact if self.floats is None else self.floats

    def check_alone(self, target: Target) -> Outcome:
        """Check a claim that cannot be evaluated on several instances at once."""
        begin = perf_counter()
        found = check_decided(resolve(target), self.exact, self.floats)
        outcome = self.build_outcome(target, found, found.arithmetic.is_rigorous, perf_counter() - begin)
        is_trivial = found.rate is not None and found.rate.is_zero
        return replace(outcome, applicable=is_evidence(found), is_trivial=is_trivial)

    def build_outcome(self, target: Target, found: CheckResult | Check, exact: bool, seconds: float) -> Outcome:
        """Return the outcome of a check on the instance."""
        return Outcome(
            target,
            self.instance,
            found.applicable,
            found.everywhere,
            found.holds,
            exact,
            found.ratio,
            self.complexity,
            seconds,
            kind=self.kind if found.applicable and find_publisher(resolve(target)) is None else None,
            excluded=found.excluded if isinstance(found, CheckResult) else found.excluded_by,
        )


def is_evidence(found: Check) -> bool:
    """Return whether a check is evidence: the claim applies, and enclosures separate its sides."""
    return found.applicable and (found.holds is not None or found.arithmetic is not ENCLOSED)
