"""Runs made for a claim: a member of its families, changed towards a kind and into what its conditions allow.

One client or several, alike, pulled apart or of different curvatures; with noise or without; one local step or more;
from the optimum or from elsewhere: most bounds that are false fail on one of these kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
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
from verify.instances import FAMILIES, families_for

_BASES = 40
"""Members of the families that are changed, at most."""
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


def made(claim: Claim, kind: Kind, size: int, generator: np.random.Generator) -> tuple[Table, Check] | None:
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
    if found is None or not found.applicable or found.holds is None:
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
