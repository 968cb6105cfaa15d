"""Generate runs for a claim: members of its families, changed to a kind of run and to what its conditions allow.

Kinds differ in clients (one, identical, different linear terms or curvatures), noise, local steps and start. Most false
bounds fail on one of these kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.runfile import parse_run, run_table
from verify.check import Check
from verify.check.applicability import is_left_to_levels
from verify.falsify.counts import list_allowed_counts
from verify.falsify.equal_sides import solve_equations, solve_for_largest_steps, solve_for_noise
from verify.falsify.local_search import (
    apply_scaling,
    find_factor_at_edge,
    find_factor_within,
    remove_aspects,
    scale_steps,
)
from verify.falsify.run_tables import (
    NO_RUN,
    Table,
    change,
    count_clients,
    examine,
    get,
    list_features,
    make_working_table,
    read,
    with_clients,
    with_entry,
)
from verify.falsify.scalings import list_scalings
from verify.instances import FAMILIES, Instance, families_for
from verify.instances.algorithms import state_decreasing_steps
from verify.instances.schedules import stated_by, with_stated_sizes

_BASES = 40
"""Largest number of members of the families that are changed."""
_MOST_STEPS = 48
"""Number of local steps of all clients in all rounds above which a member of a family is not changed."""
Clients = Literal["one client", "clients that are alike", "pulls that differ", "curvatures that differ"]


@dataclass(frozen=True)
class InstanceKind:
    """Kind of an instance, by the features that matter for most bounds."""

    clients: Clients
    noisy: bool
    many_steps: bool
    at_optimum: bool
    """Whether it starts at the optimum."""

    @property
    def words(self) -> tuple[str, ...]:
        """Describe the kind, with one phrase for each aspect."""
        return (
            self.clients,
            "noise" if self.noisy else "no noise",
            "several local steps" if self.many_steps else "one local step",
            "a start at the optimum" if self.at_optimum else "a start away from the optimum",
        )


KINDS = tuple(InstanceKind(*aspects) for aspects in product(get_args(Clients), *[(False, True)] * 3))
ASPECTS = tuple(dict.fromkeys(word for kind in KINDS for word in kind.words))


def classify_run(run: Run) -> InstanceKind:
    """Return the kind of a run."""
    return _classify(run_table(run), run)


def _classify(table: Table, run: Run) -> InstanceKind:
    at_optimum = bool((run.problem.start == run.problem.centre).all())
    several = max(run.algorithm.work.steps) > 1
    return InstanceKind(_classify_clients(table["problem"], run.problem.clients), _is_noisy(table), several, at_optimum)


def _is_noisy(table: Table) -> bool:
    return get(table, "problem.batch") is not None or any(str(v) != "0" for v in table["problem"].get("noise") or ())


def _classify_clients(problem: Mapping[str, Any], count: int) -> Clients:
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


@dataclass(frozen=True, eq=False)
class Bases:
    """Small members of families that are changed to other runs."""

    tables: Sequence[Table]
    others: Sequence[Table] = ()
    """Members to which the claim does not apply; changes may turn them into instances."""

    @property
    def wider(self) -> Bases:
        """Return both groups of members as one."""
        return Bases([*self.tables, *self.others])

    @cached_property
    def features(self) -> set[str]:
        """Return the features of these runs; the claim does not concern runs with other features."""
        return set().union(*map(list_features, self.tables))

    def for_kind(self, kind: InstanceKind) -> list[Table]:
        """Select the members that can be changed to a kind."""
        return [table for table in self.tables if _may_become(table, kind)]


def _may_become(base: Table, kind: InstanceKind) -> bool:
    """Return whether a member can be changed to a kind: data and losses keep their noise and their linear terms."""
    if "hessians" in base["problem"]:
        return True
    differ = kind.clients == "pulls that differ" or (
        kind.clients == "curvatures that differ" and count_clients(base) == 1
    )
    return _is_noisy(base) == kind.noisy and not differ


@cache
def find_bases(claim: Claim) -> Bases:
    """Return small members of the claim's families, preferably those to which it applies."""
    return select_bases(claim, lambda instance: _applies(claim, instance))


def _applies(claim: Claim, instance: Instance) -> bool:
    found = examine(claim, instance.run())
    return found is not None and found.applicable


def select_bases(claim: Claim, applies: Callable[[Instance], bool]) -> Bases:
    """Return small members of the claim's families, given the members to which the claim applies."""
    instances = [i for name in families_for(claim) for i in FAMILIES[name].instances if not FAMILIES[name].in_floats]
    chosen = [instances[place] for place in np.random.default_rng(7).permutation(len(instances))[: 2 * _BASES]]
    small = {i: table for i in chosen if _is_small(table := make_working_table(i.run()))}
    applicable = {i: table for i, table in small.items() if applies(i)}
    bases, others = list(applicable.values()), [table for i, table in small.items() if i not in applicable]
    return Bases(bases[:_BASES], others) if len(bases) >= _BASES // 4 else Bases([*bases, *others][:_BASES])


def generate_run(
    claim: Claim, bases: Bases, kind: InstanceKind, size: int, generator: np.random.Generator
) -> tuple[Run, Check] | None:
    """Change a random base; return it with its check if it is of the kind and the claim applies to it."""
    fitting = bases.for_kind(kind)
    table = _change_to_kind(claim, _pick(generator, fitting), kind, size, generator) if fitting else None
    for _ in range(int(generator.integers(3))):
        table = None if table is None else _scale_one_aspect(table, generator)
    table = remove_aspects(table, ("start",)) if table is not None and kind.at_optimum else table
    run = None if table is None or not list_features(table) <= bases.features else read(table)
    # The step size does not change the kind, so runs of another kind are discarded before any computation.
    if run is None or table is None or _classify(table, run) != kind:
        return None
    run = _choose_noise(claim, table, run) or _choose_step_size(claim, run, generator)
    found = examine(claim, run)
    return (run, found) if found is not None and found.applicable and found.holds is not None else None


def keep_premises(claim: Claim) -> Claim:
    """Return a claim with the premises of a rate that holds on all its runs, on which ladders begin.

    Conditions on a variable of the rate are left to the levels.
    """
    assert claim.rate is not None
    rate = claim.rate
    conditions = [condition for condition in claim.conditions if not is_left_to_levels(claim, condition)]
    trivial = (Relation(rate.order, "<=", rate.order),)
    where = {**claim.where, **claim.notation}
    return replace(
        claim, rate=None, lhs=rate.measured, rhs=rate.measured, also=trivial, conditions=conditions, where=where
    )


def _is_small(table: Table) -> bool:
    steps = get(table, "algorithm.local_steps")
    longest = max(steps) if isinstance(steps, list) else int(steps or 1)
    return count_clients(table) * longest * int(table["algorithm"].get("rounds", 1)) <= _MOST_STEPS


def _change_to_kind(
    claim: Claim, table: Table, kind: InstanceKind, size: int, generator: np.random.Generator
) -> Table | None:
    """Change a table to a kind, with the counts that the claim requires; None where this is impossible."""
    many = [n for n in list_allowed_counts(claim, q.clients) or _CLIENTS if (n > 1) == (kind.clients != "one client")]
    stepped = _set_local_steps(claim, table, kind, generator)
    if stepped is None or not many:
        return None
    table = _set_rounds(claim, stepped, size, generator)
    wanted = _pick(generator, many)
    if not list_allowed_counts(claim, q.clients):
        wanted = max(wanted * size, count_clients(table) if kind.clients == "curvatures that differ" else 1)
    table = _set_clients(table, kind, wanted, generator)
    if kind.clients in ("pulls that differ", "curvatures that differ"):
        table = _spread_linear_terms(table, kind, generator)
    if "hessians" in table["problem"]:
        noise = [_pick(generator, _NOISES) * _find_curvature(table) ** 2] * count_clients(table) if kind.noisy else None
        table = change(table, {"problem.noise": noise})
    return table


def _set_local_steps(claim: Claim, table: Table, kind: InstanceKind, generator: np.random.Generator) -> Table | None:
    """Set one local step or several; different steps per client are kept unless a condition requires equal ones."""
    allowed = list_allowed_counts(claim, q.local_steps)
    if not allowed and isinstance(get(table, "algorithm.local_steps"), list):
        return table if kind.many_steps else None
    fitting = [n for n in allowed or _LOCAL_STEPS if (n > 1) == kind.many_steps]
    return change(table, {"algorithm.local_steps": _pick(generator, fitting)}) if fitting else None


def _set_rounds(claim: Claim, table: Table, size: int, generator: np.random.Generator) -> Table:
    allowed = list_allowed_counts(claim, q.rounds)
    if allowed:
        return change(table, {"algorithm.rounds": _pick(generator, allowed)})
    if size > 1 and get(table, "algorithm.clock") is None:
        return change(table, {"algorithm.rounds": int(generator.integers(1, 4)) * size})
    return table


def _set_clients(table: Table, kind: InstanceKind, wanted: int, generator: np.random.Generator) -> Table:
    count = count_clients(table)
    if kind.clients == "one client":
        return with_clients(table, [int(generator.integers(count))])
    if kind.clients in ("clients that are alike", "pulls that differ"):
        return with_clients(table, [int(generator.integers(count))] * wanted)
    return with_clients(table, [place % count for place in range(wanted)])


_LOCAL_STEPS, _CLIENTS = (1, 2, 3, 4), (1, 2, 3, 4)
"""Default counts for a claim that states none."""
_NOISES, _PULLS = (fmpq(1), fmpq(1, 4), fmpq(4)), (fmpq(0), fmpq(1), fmpq(-1), fmpq(2), fmpq(1, 2))
_FACTORS = (fmpq(1), fmpq(1), fmpq(1, 2), fmpq(1, 4), fmpq(2))


def _pick(generator: np.random.Generator, options: Sequence[Any]) -> Any:
    return options[int(generator.integers(len(options)))] if len(options) > 1 else options[0]


def _find_curvature(table: Table) -> fmpq:
    return max(abs(entry) for hessian in table["problem"]["hessians"] for row in hessian for entry in row) or fmpq(1)


def _spread_linear_terms(table: Table, kind: InstanceKind, generator: np.random.Generator) -> Table:
    """Change the linear terms of clients of a quadratic problem, and their curvatures if the kind requires it."""
    if "linear" not in table["problem"]:
        return table
    scale = _find_curvature(table)
    moved = [[b + scale * _pick(generator, _PULLS) for b in pull] for pull in table["problem"]["linear"]]
    table = change(table, {"problem.linear": moved})
    for client in range(count_clients(table) if kind.clients == "curvatures that differ" else 0):
        table = _scale_curvature(table, client, _pick(generator, _FACTORS))
    return table


def _scale_curvature(table: Table, client: int, factor: fmpq) -> Table:
    """Scale the Hessian of one client and keep its linear term, so that its minimiser moves."""
    hessians = table["problem"]["hessians"]
    scaled_one = [[entry * factor for entry in row] for row in hessians[client]]
    return change(table, {"problem.hessians": with_entry(hessians, client, scaled_one)})


def _scale_one_aspect(table: Table, generator: np.random.Generator) -> Table | None:
    """Scale one aspect of the run."""
    scalings = [scaling for scaling in list_scalings(table) if scaling.name != "local steps"]
    scaling = scalings[int(generator.integers(len(scalings)))]
    factors = (*_FACTORS, fmpq(0)) if scaling.may_vanish and "noise" not in scaling.name else _FACTORS
    return apply_scaling(table, scaling, _pick(generator, factors))


def _choose_noise(claim: Claim, table: Table, run: Run) -> Run | None:
    """Return the run with the noise that satisfies an equation which no step size solves; None without one."""
    if all(condition.rel_op != "==" for condition in claim.run_conditions) or any(stated_by(claim)):
        return None
    if run.arithmetic is not RATIONAL or solve_equations(claim, run) is not None:
        return None
    balanced = solve_for_noise(claim, table)
    return None if balanced is None else read(balanced)


def _choose_step_size(claim: Claim, run: Run, generator: np.random.Generator) -> Run:
    """Choose a step size that the conditions allow, sometimes the largest one."""
    if any(stated_by(claim)):
        return with_stated_sizes(claim, run)
    if a.decreasing_steps in claim.assumptions:
        return _restate_decreasing_steps(run, generator)
    run, at_edge = scale_steps(run, _pick(generator, _FACTORS)), int(generator.integers(8)) == 0
    if not claim.run_conditions:
        return run
    run = _change_by(solve_equations, claim, run)
    run = _change_by(find_factor_within, claim, run)
    return _change_by(_find_largest_factor, claim, run) if at_edge else run


def _restate_decreasing_steps(run: Run, generator: np.random.Generator) -> Run:
    """Return the run with decreasing steps for its curvature and local steps, the first at most 1/L."""
    first = _pick(generator, (fmpq(1), fmpq(1, 2), fmpq(1, max(run.algorithm.work.steps))))
    with suppress(*NO_RUN):
        if run.arithmetic is RATIONAL and run.strong_convexity > 0:
            table = run_table(run)
            steps = {"local_step_size": state_decreasing_steps(run, first)}
            return parse_run(table | {"algorithm": table["algorithm"] | steps}, RATIONAL)
    return run


def _change_by(factor_of: Callable[[Claim, Run], fmpq | None], claim: Claim, run: Run) -> Run:
    # Checking conditions in enclosures would take longer than everything else.
    factor = factor_of(claim, run if run.arithmetic is RATIONAL else run.as_floats())
    return run if factor is None else scale_steps(run, factor)


def _find_largest_factor(claim: Claim, run: Run) -> fmpq | None:
    """Return the factor of the largest steps that the conditions allow, exactly where they can be solved for it."""
    return solve_for_largest_steps(claim, run) or find_factor_at_edge(claim, run)
