"""Search coordinates ("knobs"): each scales one aspect of a run by a factor and keeps the rest of its structure.

Wherever possible a move preserves assumptions: clients with equal Hessians keep equal ones, client weights sum to one,
``eta_i K_i`` stays equal for all clients. Changes of units come first; a correct bound is invariant under them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Array, rational_near
from fedtheory.federation.problem import Problem
from fedtheory.runfile.problems import read_problem
from fedtheory.runfile.table import TomlTable as RunTable
from verify.falsify.tables import (
    STEP_SIZE,
    Table,
    array,
    changed,
    clients,
    dimension,
    get,
    map_entries,
    scaled,
    with_entry,
)

Turn = Callable[[Table, fmpq], Table]


@dataclass(frozen=True)
class Knob:
    """One aspect of a run that can be scaled."""

    name: str
    turn: Turn
    """Function that returns the table with this aspect multiplied by a positive factor."""
    may_vanish: bool = False
    """Whether the factor zero is allowed."""


def list_knobs(table: Table) -> list[Knob]:
    """List the moves (knobs) that a run's table allows."""
    return [*_list_data_knobs(table), *_list_quadratic_knobs(table), *_list_run_knobs(table)]


def find_knob(table: Table, name: str) -> Knob | None:
    """Return the knob with a name; None if the table has none."""
    # Knobs that every run has are requested most often, and need no look at the clients.
    knobs = chain(_list_run_knobs(table), _list_quadratic_knobs(table), _list_data_knobs(table))
    return next((knob for knob in knobs if knob.name == name), None)


def _list_run_knobs(table: Table) -> Iterator[Knob]:
    yield Knob("local step size", partial(_scale_key, STEP_SIZE))
    yield Knob("start", _start, may_vanish=True)
    yield Knob("server step size", _server_step_size)
    yield Knob("local steps", _local_steps)
    yield Knob("rounds", _rounds)
    everyone = range(clients(table))
    if len(everyone) > 1:
        yield from (Knob(f"importance {i}", partial(_scale_client_weight, i)) for i in everyone)
    if isinstance(get(table, "algorithm.aggregation"), list):
        yield Knob("aggregation", partial(_scale_key, "algorithm.aggregation"))
        for i in everyone:
            yield Knob(f"aggregation {i}", partial(_entry, "algorithm.aggregation", i), may_vanish=True)
    if get(table, "algorithm.clock") is not None:
        yield Knob("unit of time", _unit_of_time)
        yield from (Knob(f"time {i}", partial(_entry, "algorithm.clock.times", i)) for i in everyone)
    if isinstance(get(table, STEP_SIZE), list):
        yield from (Knob(f"step size {i}", partial(_entry, STEP_SIZE, i)) for i in everyone)
    if get(table, "algorithm.clock.interval") is not None:
        yield Knob("interval", partial(_scale_key, "algorithm.clock.interval"))


def _list_quadratic_knobs(table: Table) -> Iterator[Knob]:
    if "hessians" not in table["problem"]:
        return
    yield Knob("unit of values", _unit_of_values)
    yield Knob("unit of length", _unit_of_length)
    yield Knob("curvature", partial(_objectives, _QUADRATICS, range(clients(table))))
    yield Knob("spread", _spread, may_vanish=True)
    noise = get(table, "problem.noise")
    if noise is not None and any(value != 0 for value in noise):
        yield Knob("noise", partial(_scale_key, "problem.noise"), may_vanish=True)
        for i in range(len(noise)) if len(noise) > 1 else ():
            yield Knob(f"noise {i}", partial(_entry, "problem.noise", i), may_vanish=True)
    groups = _group_equal_clients(table)
    if len(groups) > 1:
        yield from (Knob(f"curvature {g}", partial(_objectives, _QUADRATICS, g), may_vanish=True) for g in groups)
        yield from (Knob(f"pull {g}", partial(_scale_gradients, g), may_vanish=True) for g in groups)
    if dimension(table) > 1:
        yield from (Knob(f"coordinate {k}", partial(_coordinate, k)) for k in range(dimension(table)))


def _list_data_knobs(table: Table) -> Iterator[Knob]:
    if "inputs" not in table["problem"]:
        return
    yield Knob("unit of inputs", _unit_of_inputs)
    yield Knob("unit of outputs", _unit_of_outputs)
    yield Knob("inputs", partial(_scale_key, "problem.inputs"))
    yield Knob("residuals", _residuals, may_vanish=True)
    for i in range(clients(table)):
        yield Knob(f"rows of client {i}", partial(_objectives, _DATA, [i]), may_vanish=True)
    if dimension(table) > 1:
        yield from (Knob(f"column {k}", partial(_column, k)) for k in range(dimension(table)))


def _group_equal_clients(table: Table) -> list[list[int]]:
    """Group clients with the same objective."""
    types: dict[str, list[int]] = {}
    problem = table["problem"]
    for client, objective in enumerate(zip(problem["hessians"], problem["linear"], strict=True)):
        types.setdefault(str(objective), []).append(client)
    return list(types.values())


def _problem(table: Table) -> Problem:
    """Return the problem without the algorithm, because reading all runs on it takes long."""
    return read_problem(RunTable(table["problem"], "problem", RATIONAL), Path())


def _scale_key(key: str, table: Table, factor: fmpq) -> Table:
    return scaled(table, {key: factor})


def _entry(key: str, place: int, table: Table, factor: fmpq) -> Table:
    values = get(table, key)
    if not isinstance(values, list):
        return table
    return changed(table, {key: with_entry(values, place, values[place] * factor)})


def _unit_of_values(table: Table, factor: fmpq) -> Table:
    """Scale values: F -> f F, eta -> eta/f, with the same iterates."""
    keys = {"problem.hessians": factor, "problem.linear": factor, "problem.constants": factor}
    return scaled(table, keys | {"problem.noise": factor * factor, STEP_SIZE: 1 / factor})


def _unit_of_length(table: Table, factor: fmpq) -> Table:
    """Scale lengths: x -> f x with the same Hessians."""
    keys = {"problem.linear": factor, "problem.start": factor}
    return scaled(table, keys | {"problem.noise": factor * factor, "problem.constants": factor * factor})


def _unit_of_inputs(table: Table, factor: fmpq) -> Table:
    keys = {"problem.inputs": factor, "problem.start": 1 / factor}
    return scaled(table, keys | {STEP_SIZE: 1 / (factor * factor)})


def _unit_of_outputs(table: Table, factor: fmpq) -> Table:
    return scaled(table, {"problem.outputs": factor, "problem.start": factor})


def _unit_of_time(table: Table, factor: fmpq) -> Table:
    return scaled(table, {"algorithm.clock.times": factor, "algorithm.clock.interval": factor})


_QUADRATICS, _DATA = ("problem.hessians", "problem.linear"), ("problem.inputs", "problem.outputs")


def _objectives(keys: Sequence[str], chosen: Sequence[int], table: Table, factor: fmpq) -> Table:
    """Scale the parts of the objectives of some clients, so that each keeps its minimiser."""
    scale = partial(mul, factor)
    changes = {
        key: [map_entries(v, scale) if i in chosen else v for i, v in enumerate(get(table, key))] for key in keys
    }
    return changed(table, changes)


def _spread(table: Table, factor: fmpq) -> Table:
    """Scale the deviations of linear terms from their average; the optimum is fixed."""
    linear, mean = array(table, "problem.linear"), _problem(table).mean_linear
    return changed(table, {"problem.linear": (mean + (linear - mean) * factor).tolist()})


def _scale_gradients(chosen: Sequence[int], table: Table, factor: fmpq) -> Table:
    """Scale the gradients of some clients at the optimum."""
    problem = _problem(table)
    neutral = problem.hessians @ problem.centre
    linear = problem.linear.copy()
    for client in chosen:
        linear[client] = neutral[client] + (linear[client] - neutral[client]) * factor
    return changed(table, {"problem.linear": linear.tolist()})


def _start(table: Table, factor: fmpq) -> Table:
    """Scale the distance from the start to the optimum."""
    problem = _problem(table)
    optimum = np.array([rational_near(x) for x in problem.centre], dtype=object)
    return changed(table, {"problem.start": (optimum + (problem.start - optimum) * factor).tolist()})


def _coordinate(place: int, table: Table, factor: fmpq) -> Table:
    """Scale a coordinate: x_k -> x_k / f, so that its curvatures are multiplied by f^2."""
    scaling: Array = np.array([factor if k == place else fmpq(1) for k in range(dimension(table))], dtype=object)
    hessians = array(table, "problem.hessians") * scaling[:, None] * scaling
    changes: dict[str, Any] = {"problem.hessians": hessians.tolist()}
    changes["problem.linear"] = (array(table, "problem.linear") * scaling).tolist()
    return changed(table, changes)


def _scale_client_weight(client: int, table: Table, factor: fmpq) -> Table:
    """Scale one client weight relative to the others; their sum stays one."""
    given = get(table, "problem.weights") or [fmpq(1, clients(table))] * clients(table)
    moved = with_entry(given, client, given[client] * factor)
    total = sum(moved, fmpq(0))
    return changed(table, {"problem.weights": [weight / total for weight in moved]})


def _server_step_size(table: Table, factor: fmpq) -> Table:
    return changed(
        table, {"algorithm.server_step_size": (get(table, "algorithm.server_step_size") or fmpq(1)) * factor}
    )


def _scale_count(count: int, factor: fmpq) -> int:
    """Multiply a count by at most four, since the cost of a run grows with it."""
    return max(1, int((count * min(factor, fmpq(4)) + fmpq(1, 2)).floor()))


def _local_steps(table: Table, factor: fmpq) -> Table:
    steps = table["algorithm"].get("local_steps", 1)
    several = isinstance(steps, list)
    return changed(
        table,
        {"algorithm.local_steps": [_scale_count(k, factor) for k in steps] if several else _scale_count(steps, factor)},
    )


def _rounds(table: Table, factor: fmpq) -> Table:
    return changed(table, {"algorithm.rounds": _scale_count(table["algorithm"]["rounds"], factor)})


def _residuals(table: Table, factor: fmpq) -> Table:
    """Scale the residuals at the optimal model."""
    best = _problem(table).centre
    outputs = []
    for rows, values in zip(table["problem"]["inputs"], table["problem"]["outputs"], strict=True):
        explained = [sum((x * w for x, w in zip(row, best, strict=True)), fmpq(0)) for row in rows]
        outputs.append([e + (y - e) * factor for e, y in zip(explained, values, strict=True)])
    return changed(table, {"problem.outputs": outputs})


def _column(place: int, table: Table, factor: fmpq) -> Table:
    inputs = table["problem"]["inputs"]
    scaled = [[[x * factor if k == place else x for k, x in enumerate(row)] for row in rows] for rows in inputs]
    return changed(table, {"problem.inputs": scaled})


def translated(table: Table, origin: Array) -> Table:
    """Return the run in coordinates with the given `origin`, (d,); scalar losses are not shifted."""
    if "terms" in table["problem"]:
        return table
    changes: dict[str, Any] = {"problem.start": (_problem(table).start - origin).tolist()}
    problem = table["problem"]
    if "inputs" in problem:
        data = zip(problem["inputs"], problem["outputs"], strict=True)
        changes["problem.outputs"] = [(np.array(y) - np.array(rows) @ origin).tolist() for rows, y in data]
    else:
        changes["problem.linear"] = (
            array(table, "problem.linear") - array(table, "problem.hessians") @ origin
        ).tolist()
    return changed(table, changes)
