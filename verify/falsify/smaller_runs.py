"""Tables of smaller runs: fewer clients, coordinates, rounds, local steps and rows of data, and fewer keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flint import fmpq

from verify.falsify.run_tables import (
    STEP_SIZE,
    Table,
    change,
    count_clients,
    count_rounds,
    find_most_steps,
    get,
    get_dimension,
    scale,
    with_clients,
    with_coordinates,
    with_entry,
)

OPTIONAL = (
    *(f"problem.{name}" for name in ("noise", "weights", "constants", "batch", "replacement")),
    *(f"algorithm.{name}" for name in ("server_step_size", "clock", "aggregation", "participation")),
)
"""Keys with a default value."""
_MANY = 16
"""Number of parts from which on they are not tried one by one."""
LARGE = 32
"""Rounds and local steps above which one or two less are not worth a try."""


def remove_parts(table: Table) -> Iterator[Table]:
    """Yield runs with fewer clients, coordinates, rounds, local steps or rows of data."""
    everyone, coordinates = list(range(count_clients(table))), list(range(get_dimension(table)))
    if len(everyone) > _MANY:
        # Tests at the cost of one client come first.
        yield from (with_coordinates(table, kept) for kept in _list_subsets(coordinates))
    for count in _list_fewer(count_rounds(table)):
        yield _set_rounds(table, count)
    for kept in _list_subsets(everyone):
        yield with_clients(table, kept)
    for kept in _list_subsets(coordinates):
        yield with_coordinates(table, kept)
    for count in _list_fewer(find_most_steps(table)):
        yield _set_steps(table, count)
        yield _set_longer_steps(table, count)
    steps = table["algorithm"].get("local_steps", 1)
    for client, own in enumerate(steps if isinstance(steps, list) else []):
        for count in _list_fewer(own):
            yield change(table, {"algorithm.local_steps": with_entry(steps, client, count)})
    yield from _remove_rows(table)


def _list_fewer(count: int) -> list[int]:
    """Return smaller counts, the smallest first; larger ones of a large count are bisected."""
    near = {count - 2, count - 1} if count <= LARGE else set()
    return sorted(({1, 2, count // 4, count // 2} | near) & set(range(1, count)))


def _set_rounds(table: Table, count: int) -> Table:
    return change(table, {"algorithm.rounds": count})


def _set_steps(table: Table, count: int) -> Table:
    return change(table, {"algorithm.local_steps": count})


def _set_longer_steps(table: Table, count: int) -> Table:
    """Return the run with so many local steps and the same product of step size and largest number of steps."""
    return scale(_set_steps(table, count), {STEP_SIZE: fmpq(find_most_steps(table), count)})


COUNTS: tuple[tuple[Callable[[Table], int], Callable[[Table, int], Table]], ...] = (
    (count_rounds, _set_rounds),
    (find_most_steps, _set_steps),
    (find_most_steps, _set_longer_steps),
)
"""Counts that may be large, each with the function that sets it."""


def _list_subsets(parts: list[int]) -> Iterator[list[int]]:
    """Yield single parts, pairs, halves, and all but one; of many parts only the first ones."""
    if len(parts) > _MANY:
        counts = {1, 2, *(len(parts) - len(parts) // share for share in (2, 4, 8, 16)), len(parts) - 1}
        yield from (parts[:count] for count in sorted(counts))
        return
    if len(parts) > 2:
        yield from ([part] for part in parts)
        yield from ([one, other] for one in parts[:6] for other in parts[:6] if one < other)
        yield parts[: len(parts) // 2]
        yield parts[len(parts) // 2 :]
    for out in parts if len(parts) > 1 else []:
        yield [part for part in parts if part != out]


def _remove_rows(table: Table) -> Iterator[Table]:
    problem = table["problem"]
    for client, rows in enumerate(problem.get("inputs", ())):
        for kept in _list_subsets(list(range(len(rows)))):
            fewer = {name: [problem[name][client][row] for row in kept] for name in ("inputs", "outputs")}
            yield change(table, {f"problem.{n}": with_entry(problem[n], client, part) for n, part in fewer.items()})


def remove_keys(table: Table) -> Iterator[Table]:
    """Yield runs without optional keys, or with simpler values of them."""
    yield from (change(table, {key: None}) for key in OPTIONAL if get(table, key) is not None)
    yield change(table, {"problem.batch": None, "problem.replacement": None})
    if get(table, "problem.batch") is not None:
        yield change(table, {"problem.batch": 1})
    law = get(table, "algorithm.participation")
    if law is not None and isinstance(law["clients"], int) and law["clients"] > 1:
        yield change(table, {"algorithm.participation": law | {"clients": 1}})
    for key in (STEP_SIZE, "algorithm.local_steps"):
        value = get(table, key)
        if isinstance(value, list):
            yield from (change(table, {key: entry}) for entry in dict.fromkeys(value))
    if get(table, "algorithm.clock.ties") == "one-by-one":
        yield change(table, {"algorithm.clock.ties": "together"})
    if get(table, "algorithm.clock.policy") == "fedbuff" and get(table, "algorithm.clock.buffer") == 1:
        yield change(table, {"algorithm.clock.policy": "async", "algorithm.clock.buffer": None})
