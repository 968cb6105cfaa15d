"""Generate ladders for a rate: sequences of runs of all kinds that its assumptions and conditions allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter

import numpy as np

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.moments.stationary import compute_stationary_moment
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.registry import find_publisher
from fedtheory.language.targets import Target, resolve
from fedtheory.runfile import run_table, run_toml
from verify.check import Check
from verify.check.escalation import check_decided
from verify.evaluated_instances import Outcome, is_evidence
from verify.falsify.generation import (
    KINDS,
    Bases,
    InstanceKind,
    classify_run,
    find_bases,
    generate_run,
    keep_premises,
)
from verify.falsify.run_tables import change, count_clients, examine, get, read
from verify.instances import Given
from verify.processes import run_in_order

LADDERS = 100
"""Number of ladders that are enough for a rate; each ladder has several runs."""
_FLAT = 4
"""Number of runs with affine clients on which ladders begin."""
_IN_VAIN = 12
"""Number of consecutive runs of a kind without a new ladder after which the kind is given up."""

_CHANGING = ("algorithm.clock", "algorithm.participation", "problem.batch")
"""Keys of run files whose moments are computed round by round."""


def add_ladders(
    outcomes: Mapping[Target, Sequence[Outcome]], jobs: int, on_progress: Callable[[int, int], None]
) -> Iterator[Outcome]:
    """Yield outcomes on generated ladders for user-defined rates: up to `LADDERS` in all, and a few in any case."""
    wanted = [(target, max(LADDERS - len(known), _FLAT)) for target, known in _select_standing(outcomes)]
    for done, of_target in enumerate(run_in_order(make_ladders, wanted, jobs), start=1):
        on_progress(done, len(wanted))
        yield from of_target


def _select_standing(outcomes: Mapping[Target, Sequence[Outcome]]) -> Iterator[tuple[Target, list[Outcome]]]:
    """Yield user-defined rates that hold on all applicable instances, with their outcomes."""
    for target, known in outcomes.items():
        claim, applicable = resolve(target), [outcome for outcome in known if outcome.applicable]
        is_own_rate = claim.rate is not None and find_publisher(claim) is None
        if is_own_rate and all(outcome.holds for outcome in applicable):
            yield target, applicable


def make_ladders(target: Target, count: int) -> list[Outcome]:
    """Check a rate on `count` generated runs of all kinds in turn, or on as many as can be generated.

    A ladder along which the quantity is zero does not test a rate, so it does not count.
    """
    found: list[Outcome] = []
    for outcome in _check_ladders(target):
        found.append(outcome)
        if len(found) == count or outcome.holds is False:
            break
    return found


def _check_ladders(target: Target) -> Iterator[Outcome]:
    alone, seen = keep_premises(resolve(target)), set[str]()
    for flat in _list_flat_runs(alone, find_bases(alone), seen):
        outcome = _check_run(target, flat, classify_run(flat), len(seen))
        if outcome is not None:
            yield outcome
    for pool in _list_pools(find_bases(alone)):
        generator, in_vain = np.random.default_rng([8, len(seen)]), Counter[InstanceKind]()
        while kinds := [kind for kind in KINDS if in_vain[kind] < _IN_VAIN]:
            for kind in kinds:
                run = _generate_run(alone, pool, kind, generator, seen)
                outcome = None if run is None else _check_run(target, run, kind, len(seen))
                in_vain[kind] += 1
                if outcome is not None:
                    in_vain[kind] = 0
                    yield outcome


def _check_run(target: Target, run: Run, kind: InstanceKind, number: int) -> Outcome | None:
    """Check a rate on a generated run; None if the ladder is no test of it."""
    claim, begin = resolve(target), perf_counter()
    found = check_decided(claim, run, run.as_floats())
    if not _is_conclusive(found) or _is_zero(claim, run):
        return None
    instance = Given("made for the claim", number, run_table(run))
    return Outcome.from_check(target, (instance, run), found, perf_counter() - begin, kind)


def _list_flat_runs(claim: Claim, bases: Bases, seen: set[str]) -> Iterator[Run]:
    """Yield runs of a few bases with affine clients, whose drift grows as long as a round lasts: no curvature ends it.

    The slopes of the clients cancel, so that every point minimises the objective.
    """
    fitting = [table for table in bases.tables if "hessians" in table["problem"] and count_clients(table) % 2 == 0]
    for table in fitting[:_FLAT]:
        problem = table["problem"]
        count, dimension = count_clients(table), len(problem["hessians"][0])
        flat = [[["0"] * dimension] * dimension] * count
        slopes = [["1" if client % 2 else "-1"] * dimension for client in range(count)]
        run = read(change(table, {"problem.hessians": flat, "problem.linear": slopes}))
        found = None if run is None else examine(claim, run)
        if run is not None and found is not None and found.applicable and run_toml(run_table(run)) not in seen:
            seen.add(run_toml(run_table(run)))
            yield run


def _is_conclusive(found: Check) -> bool:
    return is_evidence(found) and found.rate is not None and not found.rate.is_zero


def _is_zero(claim: Claim, run: Run) -> bool:
    """Return whether the quantity is exactly zero on a ladder's first run, where floats have rounding errors."""
    assert claim.rate is not None
    try:
        value = compile_expression(claim.rate.measured, {**claim.notation, **claim.where})(whole_run(run))
        return not np.any(value != 0)
    except (NotApplicable, Diverging):
        return False


def _list_pools(bases: Bases) -> Iterator[Bases]:
    """Yield sets of start runs; the first set has runs with identical rounds, which long ladders need."""
    alike = [table for table in bases.tables if not any(get(table, key) for key in _CHANGING)]
    if alike:
        yield Bases(alike)
    if len(alike) < len(bases.tables):
        yield Bases(bases.tables)
    if bases.others:
        yield bases.wider


def _generate_run(
    claim: Claim, bases: Bases, kind: InstanceKind, generator: np.random.Generator, seen: set[str]
) -> Run | None:
    """Generate a run for a claim; None if it was generated before or has no stationary limit."""
    fitting = generate_run(claim, bases, kind, 1, generator)
    text = None if fitting is None else run_toml(run_table(fitting[0]))
    if fitting is None or text is None or text in seen or not _has_limit(fitting[0]):
        return None
    seen.add(text)
    return fitting[0]


def _has_limit(run: Run) -> bool:
    """Return whether a run of equal rounds tends to a limit: at the edge of stability it neither does nor diverges.

    Other runs are not tested for this; those that diverge leave the range of floats on the ladder.
    """
    if run.algorithm.defined is not None or not run.algorithm.rounds_are_alike or run.arithmetic is not RATIONAL:
        return True
    try:
        compute_stationary_moment(run.trajectory.recursion)
    except NotApplicable:
        return False
    return True
