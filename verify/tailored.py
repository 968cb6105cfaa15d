"""Instances made for a claim: until there are enough of every kind that its assumptions and conditions leave.

The families are drawn without a claim in mind, and of some claims only a few members are instances.  Here their
members are changed: into one client or several, alike or not, with noise or without, with one local step or more, and
into steps so small that the conditions hold.  What a claim excludes cannot be made, and is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.registry import paper_with
from fedtheory.language.targets import Target, resolve
from fedtheory.runfile import parse_run, run_table
from verify.check import Check
from verify.falsify.knobs import knobs_of
from verify.falsify.local import at_the_edge, turned, within_conditions, without
from verify.falsify.tables import (
    STEP_SIZE,
    Table,
    changed,
    clients,
    examine,
    features,
    get,
    scaled,
    with_clients,
    with_entry,
    working_table,
    written,
)
from verify.instances import FAMILIES, Instance, complexity, families_for
from verify.trials import Outcome, counts

ENOUGH = 200
"""Instances of each kind, and of all kinds together, without which a claim of one's own is not supported."""
_TRIES = 4
"""Changed runs that are tried for each instance that is missing."""
_BASES = 60
_IN_VAIN = 18
"""Changed runs without an instance among them after which a kind is given up."""
_LARGEST = 8
"""How many times as many clients and rounds a changed run may have."""
_MOST_STEPS = 48
"""Local steps of all clients in all rounds, above which a member of a family is no simple instance."""


Clients = Literal["one client", "clients that are alike", "pulls that differ", "curvatures that differ"]


@dataclass(frozen=True)
class Kind:
    """What matters of an instance to most bounds."""

    clients: Clients
    noisy: bool
    many_steps: bool
    at_optimum: bool
    """Whether it starts there."""

    @property
    def words(self) -> tuple[str, ...]:
        """The kind in words, one for each aspect."""
        return (
            self.clients,
            "noise" if self.noisy else "no noise",
            "several local steps" if self.many_steps else "one local step",
            "a start at the optimum" if self.at_optimum else "a start away from the optimum",
        )


KINDS = tuple(Kind(*aspects) for aspects in product(get_args(Clients), *[(False, True)] * 3))
ASPECTS = tuple(dict.fromkeys(word for kind in KINDS for word in kind.words))


@dataclass(frozen=True)
class Tailored(Instance):
    """An instance that was made for a claim."""

    table: Table
    kind: Kind

    def run(self) -> Run:
        """The exact run."""
        return parse_run(self.table, RATIONAL)


def kind_of(run: Run) -> Kind:
    """The kind of a run."""
    table = run_table(run)
    noisy = get(table, "problem.batch") is not None or any(str(v) != "0" for v in table["problem"].get("noise", ()))
    at_optimum = bool((run.problem.start == run.problem.optimum).all())
    return Kind(
        _clients_of(table["problem"], run.problem.clients), noisy, max(run.algorithm.work.steps) > 1, at_optimum
    )


def _clients_of(problem: Mapping[str, Any], count: int) -> Clients:
    if count == 1:
        return "one client"
    shapes, owns = (
        {str([problem[key][i] for key in keys if key in problem]) for i in range(count)} for keys in (_SHAPES, _OWN)
    )
    if len(shapes) > 1:
        return "curvatures that differ"
    return "pulls that differ" if len(owns) > 1 else "clients that are alike"


_SHAPES = ("hessians", "inputs", "terms")
_OWN = (*_SHAPES, "linear", "outputs")


def made_for(
    outcomes: Mapping[Target, Sequence[Outcome]], jobs: int, on_progress: Callable[[int, int], None]
) -> Iterator[Outcome]:
    """Outcomes on instances that are made for those claims of no paper that stand on all instances so far."""
    from joblib import Parallel, delayed

    found = {target: kinds_of(known) for target, known in outcomes.items() if _may_need_more(resolve(target), known)}
    tasks = [(target, *wanted) for target, kinds in found.items() for wanted in missing(kinds)]
    made = Parallel(n_jobs=jobs, return_as="generator")(delayed(tailor)(*task) for task in tasks)
    for done, of_task in enumerate(made, start=1):
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
        made = _made(claim, kind, 1 if outcomes else min(1 + number // 2, _LARGEST), generator)
        if made is not None:
            table, found = made
            instance = Tailored("made for the claim", number, table, kind)
            outcomes.append(_outcome(target, instance, found, perf_counter() - begin))
        if len(outcomes) == count or (not outcomes and number == _IN_VAIN):
            break
    return outcomes


def _outcome(target: Target, instance: Tailored, found: Check, seconds: float) -> Outcome:
    size = complexity(instance, instance.run())
    return Outcome(target, instance, True, found.everywhere, found.holds, True, found.ratio, size, seconds)


def _made(claim: Claim, kind: Kind, size: int, generator: np.random.Generator) -> tuple[Table, Check] | None:
    """A changed member of a family, if it is of the kind and the claim applies to it."""
    bases = _bases(claim)
    table = _of_kind(_pick(generator, bases), kind, size, generator) if bases else None
    for _ in range(int(generator.integers(3))):
        table = None if table is None else _turned(table, generator)
    table = without(table, ("start",)) if table is not None and kind.at_optimum else table
    if table is None or not features(table) <= _features(claim):
        return None
    table = _with_its_step_size(claim, table, generator)
    found = examine(claim, table)
    if found is None or not counts(found):
        return None
    plain = written(table)
    return (plain, found) if kind_of(parse_run(plain, RATIONAL)) == kind else None


@cache
def _bases(claim: Claim) -> list[Table]:
    """Small members of the claim's own families; those on which it applies, where there are some."""
    instances = [i for name in families_for(claim) for i in FAMILIES[name].instances if not FAMILIES[name].in_floats]
    chosen = np.random.default_rng(7).permutation(len(instances))
    tables = [working_table(instances[place].run()) for place in chosen[: 2 * _BASES]]
    small = [table for table in tables if _is_small(table)]
    applicable = [t for t in small if (found := examine(claim, t)) is not None and found.applicable]
    return (applicable if len(applicable) >= _BASES // 4 else [*applicable, *small])[:_BASES]


@cache
def _features(claim: Claim) -> set[str]:
    """What the runs of the claim's own families have; a run with more is outside what it is about."""
    return set().union(*map(features, _bases(claim)))


def _is_small(table: Table) -> bool:
    steps = get(table, "algorithm.local_steps")
    longest = max(steps) if isinstance(steps, list) else int(steps or 1)
    return clients(table) * longest * int(table["algorithm"].get("rounds", 1)) <= _MOST_STEPS


def _of_kind(table: Table, kind: Kind, size: int, generator: np.random.Generator) -> Table | None:
    """The table, changed towards a kind; None where its structure does not allow it."""
    if isinstance(get(table, "algorithm.local_steps"), list) and not kind.many_steps:
        return None
    if not isinstance(get(table, "algorithm.local_steps"), list):
        steps = 2 + int(generator.integers(3)) if kind.many_steps else 1
        table = changed(table, {"algorithm.local_steps": steps})
    if size > 1 and get(table, "algorithm.clock") is None:
        table = changed(table, {"algorithm.rounds": int(generator.integers(1, 4)) * size})
    table = _with_clients_of(table, kind, size, generator)
    if kind.clients in ("pulls that differ", "curvatures that differ"):
        table = _pulled_apart(table, kind, generator)
    if "hessians" in table["problem"]:
        noise = [_pick(generator, _NOISES) * _curvature(table) ** 2] * clients(table) if kind.noisy else None
        table = changed(table, {"problem.noise": noise})
    return table


def _with_clients_of(table: Table, kind: Kind, size: int, generator: np.random.Generator) -> Table:
    count = clients(table)
    if kind.clients == "one client":
        return with_clients(table, [int(generator.integers(count))])
    wanted = (2 + int(generator.integers(3))) * size
    if kind.clients in ("clients that are alike", "pulls that differ"):
        return with_clients(table, [int(generator.integers(count))] * wanted)
    return with_clients(table, [place % count for place in range(max(wanted, count))])


_NOISES, _PULLS = (fmpq(1), fmpq(1, 4), fmpq(4)), (fmpq(0), fmpq(1), fmpq(-1), fmpq(2), fmpq(1, 2))
_FACTORS = (fmpq(1), fmpq(1), fmpq(1, 2), fmpq(1, 4), fmpq(2))


def _pick(generator: np.random.Generator, options: Sequence[Any]) -> Any:
    return options[int(generator.integers(len(options)))]


def _curvature(table: Table) -> fmpq:
    return max(abs(entry) for hessian in table["problem"]["hessians"] for row in hessian for entry in row) or fmpq(1)


def _pulled_apart(table: Table, kind: Kind, generator: np.random.Generator) -> Table:
    """Clients of a quadratic problem with pulls that differ, and with curvatures that do so where the kind has them."""
    if "linear" not in table["problem"]:
        return table
    scale = _curvature(table)
    moved = [[b + scale * _pick(generator, _PULLS) for b in pull] for pull in table["problem"]["linear"]]
    table = changed(table, {"problem.linear": moved})
    for client in range(clients(table) if kind.clients == "curvatures that differ" else 0):
        table = _with_curvature(table, client, _pick(generator, _FACTORS))
    return table


def _with_curvature(table: Table, client: int, factor: fmpq) -> Table:
    """The Hessian of one client scaled; its pull stays, so that its minimiser moves."""
    hessians = table["problem"]["hessians"]
    scaled_one = [[entry * factor for entry in row] for row in hessians[client]]
    return changed(table, {"problem.hessians": with_entry(hessians, client, scaled_one)})


def _turned(table: Table, generator: np.random.Generator) -> Table | None:
    """One aspect of the run scaled."""
    knobs = [knob for knob in knobs_of(table) if knob.name != "local steps"]
    knob = knobs[int(generator.integers(len(knobs)))]
    factors = (*_FACTORS, fmpq(0)) if knob.may_vanish and "noise" not in knob.name else _FACTORS
    return turned(table, knob, _pick(generator, factors))


def _with_its_step_size(claim: Claim, table: Table, generator: np.random.Generator) -> Table:
    """A step size that the conditions allow, now and then the largest one."""
    table = scaled(table, {STEP_SIZE: _pick(generator, _FACTORS)})
    if not claim.conditions:
        return table
    table = within_conditions(claim, table) or table
    return (at_the_edge(claim, table) or table) if int(generator.integers(8)) == 0 else table
