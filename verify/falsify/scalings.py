"""Scalings: each multiplies one aspect of a run by a factor and keeps the rest of its structure.

If possible, a scaling preserves assumptions: clients with equal Hessians keep equal ones, client weights sum to one,
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

from fedtheory.arithmetic import RATIONAL, Array, round_to_rational
from fedtheory.federation.problem import Problem
from fedtheory.runfile.problems import read_problem
from fedtheory.runfile.table import TomlTable as RunTable
from verify.falsify.run_tables import (
    STEP_SIZE,
    Table,
    change,
    count_clients,
    get,
    get_dimension,
    map_entries,
    read_array,
    scale,
    with_entry,
)

Scale = Callable[[Table, fmpq], Table]


@dataclass(frozen=True)
class Scaling:
    """One aspect of a run that can be scaled."""

    name: str
    apply: Scale
    """Function that returns the table with this aspect multiplied by a positive factor."""
    may_vanish: bool = False
    """Whether the factor zero is allowed."""


def list_scalings(table: Table) -> list[Scaling]:
    """List the scalings that a run's table allows."""
    return [*_list_data_scalings(table), *_list_quadratic_scalings(table), *_list_run_scalings(table)]


def find_scaling(table: Table, name: str) -> Scaling | None:
    """Return the scaling with a name; None if the table has none."""
    # Scalings that every run has are requested most often, and need no look at the clients.
    scalings = chain(_list_run_scalings(table), _list_quadratic_scalings(table), _list_data_scalings(table))
    return next((scaling for scaling in scalings if scaling.name == name), None)


def _list_run_scalings(table: Table) -> Iterator[Scaling]:
    yield Scaling("local step size", partial(_scale_key, STEP_SIZE))
    yield Scaling("start", _scale_start, may_vanish=True)
    yield Scaling("server step size", _scale_server_step_size)
    yield Scaling("local steps", _scale_local_steps)
    yield Scaling("rounds", _scale_rounds)
    everyone = range(count_clients(table))
    if len(everyone) > 1:
        yield from (Scaling(f"client weight {i}", partial(_scale_client_weight, i)) for i in everyone)
    if isinstance(get(table, "algorithm.aggregation"), list):
        yield Scaling("aggregation", partial(_scale_key, "algorithm.aggregation"))
        for i in everyone:
            yield Scaling(f"aggregation {i}", partial(_scale_entry, "algorithm.aggregation", i), may_vanish=True)
    if get(table, "algorithm.clock") is not None:
        yield Scaling("unit of time", partial(_change_unit, "time"))
        yield from (Scaling(f"time {i}", partial(_scale_entry, "algorithm.clock.times", i)) for i in everyone)
    if isinstance(get(table, STEP_SIZE), list):
        yield from (Scaling(f"step size {i}", partial(_scale_entry, STEP_SIZE, i)) for i in everyone)
    if get(table, "algorithm.clock.interval") is not None:
        yield Scaling("interval", partial(_scale_key, "algorithm.clock.interval"))


def _list_quadratic_scalings(table: Table) -> Iterator[Scaling]:
    if "hessians" not in table["problem"]:
        return
    yield Scaling("unit of values", partial(_change_unit, "values"))
    yield Scaling("unit of length", partial(_change_unit, "length"))
    yield Scaling("curvature", partial(_scale_objectives, _QUADRATICS, range(count_clients(table))))
    yield Scaling("spread", _scale_spread, may_vanish=True)
    noise = get(table, "problem.noise")
    if noise is not None and any(value != 0 for value in noise):
        yield Scaling("noise", partial(_scale_key, "problem.noise"), may_vanish=True)
        for i in range(len(noise)) if len(noise) > 1 else ():
            yield Scaling(f"noise {i}", partial(_scale_entry, "problem.noise", i), may_vanish=True)
    groups = _group_equal_clients(table)
    if len(groups) > 1:
        yield from (
            Scaling(f"curvature {g}", partial(_scale_objectives, _QUADRATICS, g), may_vanish=True) for g in groups
        )
        yield from (Scaling(f"gradients {g}", partial(_scale_gradients, g), may_vanish=True) for g in groups)
    if get_dimension(table) > 1:
        yield from (Scaling(f"coordinate {k}", partial(_scale_coordinate, k)) for k in range(get_dimension(table)))


def _list_data_scalings(table: Table) -> Iterator[Scaling]:
    if "inputs" not in table["problem"]:
        return
    yield Scaling("unit of inputs", partial(_change_unit, "inputs"))
    yield Scaling("unit of outputs", partial(_change_unit, "outputs"))
    yield Scaling("inputs", partial(_scale_key, "problem.inputs"))
    yield Scaling("residuals", _scale_residuals, may_vanish=True)
    for i in range(count_clients(table)):
        yield Scaling(f"rows of client {i}", partial(_scale_objectives, _DATA, [i]), may_vanish=True)
    if get_dimension(table) > 1:
        yield from (Scaling(f"column {k}", partial(_scale_column, k)) for k in range(get_dimension(table)))


def _group_equal_clients(table: Table) -> list[list[int]]:
    """Group clients with the same objective."""
    types: dict[str, list[int]] = {}
    problem = table["problem"]
    for client, objective in enumerate(zip(problem["hessians"], problem["linear"], strict=True)):
        types.setdefault(str(objective), []).append(client)
    return list(types.values())


def _read_problem(table: Table) -> Problem:
    """Return the problem without the algorithm, because reading all runs on it takes long."""
    return read_problem(RunTable(table["problem"], "problem", RATIONAL), Path())


def _scale_key(key: str, table: Table, factor: fmpq) -> Table:
    return scale(table, {key: factor})


def _scale_entry(key: str, place: int, table: Table, factor: fmpq) -> Table:
    values = get(table, key)
    if not isinstance(values, list):
        return table
    return change(table, {key: with_entry(values, place, values[place] * factor)})


_UNITS = {
    "values": {"problem.hessians": 1, "problem.linear": 1, "problem.constants": 1, "problem.noise": 2, STEP_SIZE: -1},
    "length": {"problem.linear": 1, "problem.start": 1, "problem.noise": 2, "problem.constants": 2},
    "inputs": {"problem.inputs": 1, "problem.start": -1, STEP_SIZE: -2},
    "outputs": {"problem.outputs": 1, "problem.start": 1},
    "time": {"algorithm.clock.times": 1, "algorithm.clock.interval": 1},
}
"""Powers of the factor by which a change of a unit multiplies numbers.

F -> f F keeps the iterates, and x -> f x keeps the Hessians.
"""


def _change_unit(unit: str, table: Table, factor: fmpq) -> Table:
    return scale(table, {key: factor**power for key, power in _UNITS[unit].items()})


_QUADRATICS, _DATA = ("problem.hessians", "problem.linear"), ("problem.inputs", "problem.outputs")


def _scale_objectives(keys: Sequence[str], chosen: Sequence[int], table: Table, factor: fmpq) -> Table:
    """Scale the parts of the objectives of some clients, so that each keeps its minimiser."""
    multiply = partial(mul, factor)
    changes = {
        key: [map_entries(v, multiply) if i in chosen else v for i, v in enumerate(get(table, key))] for key in keys
    }
    return change(table, changes)


def _scale_spread(table: Table, factor: fmpq) -> Table:
    """Scale the deviations of linear terms from their average; the optimum is fixed."""
    linear, mean = read_array(table, "problem.linear"), _read_problem(table).mean_linear
    return change(table, {"problem.linear": (mean + (linear - mean) * factor).tolist()})


def _scale_gradients(chosen: Sequence[int], table: Table, factor: fmpq) -> Table:
    """Scale the gradients of some clients at the optimum."""
    problem = _read_problem(table)
    neutral = problem.hessians @ problem.centre
    linear = problem.linear.copy()
    for client in chosen:
        linear[client] = neutral[client] + (linear[client] - neutral[client]) * factor
    return change(table, {"problem.linear": linear.tolist()})


def _scale_start(table: Table, factor: fmpq) -> Table:
    """Scale the distance from the start to the optimum."""
    problem = _read_problem(table)
    optimum = np.array([round_to_rational(x) for x in problem.centre], dtype=object)
    return change(table, {"problem.start": (optimum + (problem.start - optimum) * factor).tolist()})


def _scale_coordinate(place: int, table: Table, factor: fmpq) -> Table:
    """Scale a coordinate: x_k -> x_k / f, so that its curvatures are multiplied by f^2."""
    factors: Array = np.array([factor if k == place else fmpq(1) for k in range(get_dimension(table))], dtype=object)
    hessians = read_array(table, "problem.hessians") * factors[:, None] * factors
    changes: dict[str, Any] = {"problem.hessians": hessians.tolist()}
    changes["problem.linear"] = (read_array(table, "problem.linear") * factors).tolist()
    return change(table, changes)


def _scale_client_weight(client: int, table: Table, factor: fmpq) -> Table:
    """Scale one client weight relative to the others; their sum stays one."""
    given = get(table, "problem.weights") or [fmpq(1, count_clients(table))] * count_clients(table)
    moved = with_entry(given, client, given[client] * factor)
    total = sum(moved, fmpq(0))
    return change(table, {"problem.weights": [weight / total for weight in moved]})


def _scale_server_step_size(table: Table, factor: fmpq) -> Table:
    return change(table, {"algorithm.server_step_size": (get(table, "algorithm.server_step_size") or fmpq(1)) * factor})


def _scale_count(count: int, factor: fmpq) -> int:
    """Multiply a count by at most four, since the cost of a run grows with it."""
    return max(1, int((count * min(factor, fmpq(4)) + fmpq(1, 2)).floor()))


def _scale_local_steps(table: Table, factor: fmpq) -> Table:
    steps = table["algorithm"].get("local_steps", 1)
    several = isinstance(steps, list)
    return change(
        table,
        {"algorithm.local_steps": [_scale_count(k, factor) for k in steps] if several else _scale_count(steps, factor)},
    )


def _scale_rounds(table: Table, factor: fmpq) -> Table:
    return change(table, {"algorithm.rounds": _scale_count(table["algorithm"]["rounds"], factor)})


def _scale_residuals(table: Table, factor: fmpq) -> Table:
    """Scale the residuals at the optimal model."""
    best = _read_problem(table).centre
    outputs = []
    for rows, values in zip(table["problem"]["inputs"], table["problem"]["outputs"], strict=True):
        explained = [sum((x * w for x, w in zip(row, best, strict=True)), fmpq(0)) for row in rows]
        outputs.append([e + (y - e) * factor for e, y in zip(explained, values, strict=True)])
    return change(table, {"problem.outputs": outputs})


def _scale_column(place: int, table: Table, factor: fmpq) -> Table:
    inputs = table["problem"]["inputs"]
    columns = [[[x * factor if k == place else x for k, x in enumerate(row)] for row in rows] for rows in inputs]
    return change(table, {"problem.inputs": columns})


def translate(table: Table, origin: Array) -> Table:
    """Return the run in coordinates with the given `origin`, (d,); scalar losses are not shifted."""
    if "terms" in table["problem"]:
        return table
    changes: dict[str, Any] = {"problem.start": (_read_problem(table).start - origin).tolist()}
    problem = table["problem"]
    if "inputs" in problem:
        data = zip(problem["inputs"], problem["outputs"], strict=True)
        changes["problem.outputs"] = [(np.array(y) - np.array(rows) @ origin).tolist() for rows, y in data]
    else:
        changes["problem.linear"] = (
            read_array(table, "problem.linear") - read_array(table, "problem.hessians") @ origin
        ).tolist()
    return change(table, changes)
