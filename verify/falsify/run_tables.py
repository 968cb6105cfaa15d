"""Run files as tables of rationals, which the search changes and the exact check reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic, Array
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError, InputError
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.losses import KINDS
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run, run_table
from verify.check import Check, check
from verify.check.escalation import make_decidable
from verify.effort import estimate_simulation

Table = dict[str, Any]

_LONGEST = 3.0
"""Largest number of seconds of work for a run in rationals."""

STEP_SIZE = "algorithm.local_step_size"
"""The key of the clients' step sizes: one number, or a list with one per client."""

_NUMBERS = {
    "problem": ("hessians", "linear", "constants", "weights", "start", "noise", "inputs", "outputs"),
    "algorithm": ("local_step_size", "server_step_size", "aggregation"),
    "algorithm.clock": ("times", "interval"),
}
"""Keys of numbers that are not counts."""

_PER_CLIENT = (
    *(
        f"problem.{name}"
        for name in ("hessians", "linear", "constants", "weights", "noise", "inputs", "outputs", "terms")
    ),
    *(f"algorithm.{name}" for name in ("local_step_size", "local_steps", "aggregation", "clock.times")),
)


_OBJECTIVES = ("hessians", "inputs", "terms")
"""Keys of the objectives; a problem has one of them, with an entry per client: quadratics, data, or scalar losses."""


def list_number_keys() -> list[str]:
    """Return the dotted names of the keys whose values are numbers or nested lists of numbers."""
    return [f"{section}.{name}" for section, names in _NUMBERS.items() for name in names]


def make_working_table(run: Run) -> Table:
    """Return the table of an exact run: numbers as rationals, closed-form weights by name, formulas as written."""
    table: Table = run_table(run)
    formulas = set() if run.algorithm.work.schedule is None else {STEP_SIZE}
    keys = [key for key in list_number_keys() if key not in formulas]
    exact = {key: _convert_to_rationals(value) for key in keys if (value := get(table, key)) is not None}
    return change(table, exact | _name_aggregation(run))


def _name_aggregation(run: Run) -> dict[str, Any]:
    """Return the weights d_i by a name that stays correct if weights or times change, if there is one."""
    chosen = run.algorithm.aggregation.chosen
    if chosen is None:
        return {}
    try:
        closed_form = list(compute_time_based_weights(run.algorithm.clock, run.problem.weights))
    except InputError:
        closed_form = []
    if list(chosen) == closed_form:
        return {"algorithm.aggregation": "time-based"}
    return {"algorithm.aggregation": "identical"} if set(chosen) == {fmpq(1)} else {}


def _convert_to_rationals(value: Any) -> Any:
    return (
        [_convert_to_rationals(entry) for entry in value]
        if isinstance(value, list)
        else RATIONAL.number(value, "table")
    )


def get(table: Table, key: str) -> Any:
    """Return the value of a dotted key, or None."""
    value: Any = table
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def change(table: Table, changes: Mapping[str, Any]) -> Table:
    """Return a copy of the table with dotted keys replaced; keys with the value None are removed."""
    result = dict(table)
    for key, value in changes.items():
        section, _, name = key.partition(".")
        if "." in name:
            result[section] = change(result[section], {name: value})
        elif value is None:
            result[section] = {k: v for k, v in result[section].items() if k != name}
        else:
            result[section] = result[section] | {name: value}
    return result


def map_entries(value: Any, change: Callable[[fmpq], fmpq]) -> Any:
    """Apply `change` to all rationals in nested lists or a single value; words and missing values are kept."""
    if isinstance(value, list):
        return [map_entries(entry, change) for entry in value]
    return change(value) if isinstance(value, fmpq) else value


def iterate_numbers(value: Any) -> Iterator[fmpq]:
    """Yield the rationals of nested lists, or of one value, in order."""
    if isinstance(value, list):
        yield from chain.from_iterable(map(iterate_numbers, value))
    elif isinstance(value, fmpq):
        yield value


def scale(table: Table, factors: Mapping[str, fmpq]) -> Table:
    """Return the table with the given keys multiplied by factors."""
    given = {key: value for key in factors if (value := get(table, key)) is not None}
    return change(table, {key: map_entries(value, partial(mul, factors[key])) for key, value in given.items()})


def with_entry(values: list[Any], place: int, entry: Any) -> list[Any]:
    """Return the list with another entry at an index."""
    return [entry if n == place else value for n, value in enumerate(values)]


def build_diagonal(entries: Sequence[fmpq]) -> list[list[fmpq]]:
    """Return the rows of a diagonal matrix."""
    return [
        [entry if row == column else fmpq(0) for column in range(len(entries))] for row, entry in enumerate(entries)
    ]


def read_array(table: Table, key: str) -> Array:
    """Return the rationals of a key as an array."""
    return np.array(get(table, key), dtype=object)


def count_clients(table: Table) -> int:
    """Return the number of clients M."""
    return len(next(table["problem"][name] for name in _OBJECTIVES if name in table["problem"]))


def get_dimension(table: Table) -> int:
    """Return the dimension d."""
    problem = table["problem"]
    if "terms" in problem:
        return len(problem["start"])
    return len(problem["hessians"][0] if "hessians" in problem else problem["inputs"][0][0])


def find_most_steps(table: Table) -> int:
    """Return the largest number of local steps of a client in a round."""
    steps = table["algorithm"].get("local_steps", 1)
    return int(max(steps) if isinstance(steps, list) else steps)


def count_rounds(table: Table) -> int:
    """Return T, the number of rounds."""
    return int(table["algorithm"]["rounds"])


def count_steps(table: Table) -> int:
    """Return K T, the number of local steps in all rounds."""
    return find_most_steps(table) * count_rounds(table)


def count_rows(table: Table) -> int:
    """Return the number of rows of data of all clients."""
    return sum(len(part) for part in table["problem"].get("inputs", ()))


def measure_hand_work(table: Table) -> int:
    """Return the work of a computation by hand: M d^2 K T, plus the rows of data."""
    return count_clients(table) * get_dimension(table) ** 2 * count_steps(table) + count_rows(table)


def choose_fast_arithmetic(table: Table) -> Arithmetic:
    """Return the fastest arithmetic for a small run: floats where exact numbers would be enclosures."""
    kind = KINDS.get(table["problem"]["kind"])
    return RATIONAL if kind is None or kind.is_piecewise else FLOAT


def write_table(table: Table, arithmetic: Arithmetic = RATIONAL) -> Table:
    """Return the table in the format of a run file; raises `InputError` if it is not valid."""
    return run_table(parse_run(table, arithmetic))


class CheckedRun(NamedTuple):
    """A run as a table, and the check of a claim on it."""

    table: Table
    found: Check


NO_RUN = (FedtheoryError, ArithmeticError, LookupError, ValueError)
"""Exceptions of reading or checking a changed run, for instance if a quantity needs a second client."""


def read(table: Table, arithmetic: Arithmetic = RATIONAL) -> Run | None:
    """Return the run of a table; None if the table is not valid."""
    with suppress(*NO_RUN):
        return parse_run(table, arithmetic)
    return None


def evaluate_run(claim: Claim, table: Table, arithmetic: Arithmetic = RATIONAL) -> Check | None:
    """Check a claim on a table; None if the table is not valid or leaves the range of the arithmetic."""
    run = read(table, arithmetic)
    return None if run is None else examine(claim, run)


def evaluate_rigorously(claim: Claim, table: Table) -> Check | None:
    """Check a claim in rationals, or in enclosures for long runs; None if neither is affordable."""
    run = read(table)
    run = None if run is None else make_decidable(run)
    if run is None or (run.arithmetic is RATIONAL and estimate_simulation(run) > _LONGEST):
        return None
    return examine(claim, run)


def examine(claim: Claim, run: Run) -> Check | None:
    """Check a claim on a changed run; None if it leaves the range of the arithmetic."""
    with suppress(*NO_RUN), np.errstate(all="ignore"):
        return check(claim, run)
    return None


def list_features(table: Table) -> set[str]:
    """List features beyond plain FedAvg: unequal clients, a server step, sampling, a clock, data, noise."""
    used = {key for key in ("problem.weights", "problem.noise", "problem.inputs", "problem.batch") if get(table, key)}
    if "terms" in table["problem"]:
        used.add(f"problem.kind {table['problem']['kind']}")
    used |= {key for key in ("algorithm.aggregation", "algorithm.server_step_size") if get(table, key) is not None}
    used |= {key for key in ("algorithm.local_steps", "algorithm.local_step_size") if isinstance(get(table, key), list)}
    for key in ("algorithm.participation.kind", "algorithm.clock.policy", "algorithm.clock.ties"):
        if get(table, key) not in (None, "full", "sync"):
            used.add(f"{key} {get(table, key)}")
    return used


def with_clients(table: Table, kept: list[int]) -> Table:
    """Return the run with these clients only, in this order; a client may occur twice."""
    changes: dict[str, Any] = {}
    for key in _PER_CLIENT:
        value = get(table, key)
        if isinstance(value, list):
            changes[key] = [value[client] for client in kept]
    if "problem.weights" in changes:
        total = sum(changes["problem.weights"], fmpq(0))
        changes["problem.weights"] = [weight / total for weight in changes["problem.weights"]]
    return change(table, changes | _reduce_participants(table, kept))


def _reduce_participants(table: Table, kept: list[int]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    law, buffer = get(table, "algorithm.participation") or {}, get(table, "algorithm.clock.buffer")
    if law.get("kind") == "fixed":
        selected = [new for new, old in enumerate(kept) if old in law["clients"]]
        changes["algorithm.participation"] = {"kind": "fixed", "clients": selected}
    elif law.get("kind") == "uniform":
        changes["algorithm.participation"] = law | {"clients": min(law["clients"], len(kept))}
    if buffer is not None:
        changes["algorithm.clock.buffer"] = min(buffer, len(kept))
    return changes


def with_coordinates(table: Table, kept: list[int]) -> Table:
    """Return the run with some of its coordinates only; terms of scalar losses are kept."""
    problem = table["problem"]
    if "terms" in problem:
        return table
    changes: dict[str, Any] = {}
    if "hessians" in problem:
        hessians = [[[h[row][column] for column in kept] for row in kept] for h in problem["hessians"]]
        changes |= {"problem.hessians": hessians, "problem.linear": [[b[k] for k in kept] for b in problem["linear"]]}
    else:
        changes["problem.inputs"] = [[[row[k] for k in kept] for row in rows] for rows in problem["inputs"]]
    if isinstance(problem.get("start"), list):
        changes["problem.start"] = [problem["start"][k] for k in kept]
    return change(table, changes)
