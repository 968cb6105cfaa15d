"""Discrete variants of a run: other counts, fewer or more clients, and typical extreme cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flint import fmpq

from verify.falsify.run_tables import (
    STEP_SIZE,
    Table,
    change,
    count_clients,
    get,
    get_dimension,
    read_array,
    scale,
    with_clients,
    with_coordinates,
    with_entry,
)


def list_variants(table: Table) -> Iterator[Table]:
    """Yield tables that are one structural change away; some are not valid runs."""
    yield from list_other_shapes(table)
    if "hessians" in table["problem"]:
        yield from _skip_unchanged(table, _change_linear_terms(table))


def list_other_shapes(table: Table) -> Iterator[Table]:
    """Yield variants that do not restore removed noise, distance or spread."""
    for kind in (
        _change_counts,
        _change_clients,
        _change_participants,
        _change_clocks,
        _change_batches,
        _drop_dimensions,
    ):
        yield from _skip_unchanged(table, kind(table))


def _skip_unchanged(table: Table, others: Iterator[Table]) -> Iterator[Table]:
    return (other for other in others if other != table)


def _drop_dimensions(table: Table) -> Iterator[Table]:
    for out in range(get_dimension(table) if get_dimension(table) > 1 else 0):
        yield with_coordinates(table, [k for k in range(get_dimension(table)) if k != out])


def _change_counts(table: Table) -> Iterator[Table]:
    rounds, steps = table["algorithm"]["rounds"], table["algorithm"].get("local_steps", 1)
    for count in {1, max(rounds - 1, 1), rounds + 1, 2 * rounds}:
        yield change(table, {"algorithm.rounds": count})
    # Step sizes may be tied to the square root of the number of iterations.
    yield scale(change(table, {"algorithm.rounds": 4 * rounds}), {STEP_SIZE: fmpq(1, 2)})
    each = steps if isinstance(steps, list) else [steps] * count_clients(table)
    for other in ([1] * len(each), [k + 1 for k in each], [2 * k for k in each], [max(k - 1, 1) for k in each]):
        yield from _change_steps(table, each, other)
    if isinstance(steps, list) or isinstance(get(table, STEP_SIZE), list):
        for client in range(len(each)):
            for other_count in (each[client] + 1, max(each[client] - 1, 1)):
                yield from _change_steps(table, each, with_entry(each, client, other_count))


def _change_steps(table: Table, before: list[int], after: list[int]) -> Iterator[Table]:
    """Yield runs with other local steps, of the same size, and of sizes with the same product of both."""
    if before == after:
        return
    counts: Any = after[0] if len(set(after)) == 1 else after
    other = change(table, {"algorithm.local_steps": counts})
    yield other
    factors = [fmpq(b, a) for b, a in zip(before, after, strict=True)]
    if len(set(factors)) == 1:
        yield scale(other, {STEP_SIZE: factors[0]})
        return
    given = get(table, STEP_SIZE)
    if isinstance(given, str):
        return
    each = given if isinstance(given, list) else [given] * count_clients(table)
    yield change(other, {STEP_SIZE: [size * factor for size, factor in zip(each, factors, strict=True)]})


def _change_clients(table: Table) -> Iterator[Table]:
    everyone = list(range(count_clients(table)))
    for out in everyone if len(everyone) > 1 else []:
        yield with_clients(table, [i for i in everyone if i != out])
    if len(everyone) <= 8:
        yield with_clients(table, everyone * 2)
    if len(everyone) <= 3:
        yield from (with_clients(table, [*everyone, i]) for i in everyone)
    if get(table, "problem.weights") is not None:
        yield change(table, {"problem.weights": None})


def _change_participants(table: Table) -> Iterator[Table]:
    law = get(table, "algorithm.participation") or {"kind": "full"}
    selected = law.get("clients")
    if isinstance(selected, int):
        for count in (selected - 1, selected + 1, 1, count_clients(table)):
            if count >= 1 and count != selected:
                yield change(table, {"algorithm.participation": law | {"clients": count}})
        yield change(table, {"algorithm.participation": None})
    elif law["kind"] == "full" and count_clients(table) > 1:
        for kind in ("uniform", "multinomial"):
            yield change(table, {"algorithm.participation": {"kind": kind, "clients": 1}})
    if get(table, "algorithm.aggregation") is not None:
        for weights in (None, "time-based", "identical"):
            yield change(table, {"algorithm.aggregation": weights})


def _change_clocks(table: Table) -> Iterator[Table]:
    clock = get(table, "algorithm.clock")
    if clock is None:
        return
    yield change(table, {"algorithm.clock": None})
    for client, time in enumerate(clock["times"]):
        for other in (time + 1, time - 1, 2 * time):
            yield change(table, {"algorithm.clock.times": with_entry(clock["times"], client, other)})
    if "ties" in clock:
        yield change(table, {"algorithm.clock.ties": "together" if clock["ties"] == "one-by-one" else "one-by-one"})
    if "buffer" in clock:
        for buffer in (clock["buffer"] - 1, clock["buffer"] + 1):
            yield change(table, {"algorithm.clock.buffer": buffer})


def _change_linear_terms(table: Table) -> Iterator[Table]:
    """Yield opposite linear terms, noise if there is none, a start close to the optimum, and one common Hessian."""
    linear, hessians = read_array(table, "problem.linear"), read_array(table, "problem.hessians")
    one = [fmpq(1)] * count_clients(table)
    if get(table, "problem.noise") is None:
        yield change(table, {"problem.noise": one})
    for client in range(count_clients(table)):
        for other in (-linear[client], linear[client] + 1, linear[client] * 0):
            yield change(table, {"problem.linear": with_entry(linear.tolist(), client, other.tolist())})
    start = get(table, "problem.start")
    yield change(table, {"problem.start": [value + 1 for value in start]})
    yield change(table, {"problem.start": [-value for value in start]})
    for client in range(count_clients(table)):
        if (hessians != hessians[client]).any():
            yield change(table, {"problem.hessians": [hessians[client].tolist()] * count_clients(table)})
    if count_clients(table) > 1 and (hessians == hessians[0]).all():
        flat = [hessians[0].tolist(), *((hessians[1:] * 0).tolist())]
        yield change(table, {"problem.hessians": flat, "problem.linear": (linear * 0).tolist()})


def _change_batches(table: Table) -> Iterator[Table]:
    problem = table["problem"]
    if "inputs" not in problem:
        return
    yield change(table, {"problem.batch": None, "problem.replacement": None})
    batch = problem.get("batch")
    if batch is None:
        yield change(table, {"problem.batch": 1, "problem.replacement": True})
        return
    yield change(table, {"problem.replacement": not problem.get("replacement", True)})
    yield change(table, {"problem.batch": batch + 1})
    rows = min(len(part) for part in problem["inputs"])
    for out in range(rows if rows > 1 else 0):
        yield change(table, {f"problem.{name}": _remove_row(problem[name], out) for name in ("inputs", "outputs")})


def _remove_row(parts: list[Any], out: int) -> list[Any]:
    return [[row for place, row in enumerate(part) if place != out] for part in parts]
