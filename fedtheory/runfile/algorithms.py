"""The `[algorithm]` table of a run file."""

from __future__ import annotations

from fedtheory.arithmetic import RATIONAL, Array, Number
from fedtheory.errors import InputError
from fedtheory.federation import SETTINGS, Algorithm, Fixed, Full, Multinomial, Participation, Uniform
from fedtheory.problem import Problem
from fedtheory.runfile.table import Table, whole_number


def read_algorithm(table: Table, problem: Problem) -> Algorithm:
    """The algorithm of an `[algorithm]` table, for a problem."""
    setting = SETTINGS[table.choice("name", tuple(SETTINGS), "fedavg")]
    table.choice("aggregation", ("importance",), "importance")
    round_time = _round_time(table, problem)
    algorithm = setting(
        problem,
        rounds=_rounds(table, round_time),
        local_step_size=_step_size(table, problem),
        local_steps=_local_steps(table, problem),
        server_step_size=table.number("server_step_size", 1),
        participation=_participation(table.table("participation", {"kind": "full"})),
        round_time=round_time,
    )
    table.finish()
    # A law that does not fit the problem is found when its moments are asked for.
    algorithm.aggregation.participation.moments(problem.weights)
    return algorithm


def _step_size(table: Table, problem: Problem) -> Number | Array:
    value = table.take("local_step_size")
    if not isinstance(value, list):
        return table.arithmetic.number(value, table.path("local_step_size"))
    sizes = table.rectangular(value, "local_step_size", 1)
    if len(sizes) != problem.clients:
        raise InputError(table.path("local_step_size"), f"expected one number or {problem.clients}, got {len(sizes)}")
    return sizes


def _local_steps(table: Table, problem: Problem) -> int | tuple[int, ...]:
    value, key = table.take("local_steps", 1), table.path("local_steps")
    if not isinstance(value, list):
        return whole_number(value, key, 1)
    if len(value) != problem.clients:
        raise InputError(key, f"expected one number or {problem.clients}, got {len(value)}")
    return tuple(whole_number(steps, f"{key}[{n}]", 1) for n, steps in enumerate(value))


def _participation(table: Table) -> Participation:
    kind = table.choice("kind", ("full", "uniform", "multinomial", "fixed"), "full")
    participation: Participation
    if kind == "full":
        participation = Full()
    elif kind == "fixed":
        given, key = table.take("clients"), table.path("clients")
        if not isinstance(given, list):
            raise InputError(key, f"expected a list of client numbers, got {given!r}")
        participation = Fixed(tuple(whole_number(client, f"{key}[{n}]", 0) for n, client in enumerate(given)))
    else:
        law = Uniform if kind == "uniform" else Multinomial
        participation = law(table.integer("clients"))
    table.finish()
    return participation


def _round_time(table: Table, problem: Problem) -> Number:
    """Clock time of a synchronous round, the slowest client's; a rational, so that rounds are counted exactly."""
    clock = Table(table.take("clock", {"policy": "sync"}), table.path("clock"), RATIONAL)
    clock.choice("policy", ("sync",), "sync")
    times = clock.rectangular(clock.take("times", [1] * problem.clients), "times", 1)
    if len(times) != problem.clients:
        raise InputError(clock.path("times"), f"expected {problem.clients} numbers, got {len(times)}")
    if any(time <= 0 for time in times):
        raise InputError(clock.path("times"), "expected positive numbers")
    clock.finish()
    return max(times)


def _rounds(table: Table, round_time: Number) -> int:
    if not table.has("time"):
        return table.integer("rounds")
    if table.has("rounds"):
        raise InputError(table.path("time"), "expected either rounds or time, got both")
    rounds = int((RATIONAL.number(table.take("time"), table.path("time")) / round_time).floor())
    if rounds < 1:
        raise InputError(table.path("time"), f"expected at least the time of one round, {round_time}")
    return rounds
