"""Reads the `[algorithm]` table of a run file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fedtheory.arithmetic import RATIONAL, Array, Number
from fedtheory.arithmetic.reading import is_number
from fedtheory.errors import InputError
from fedtheory.federation import (
    SETTINGS,
    Algorithm,
    Bernoulli,
    Fixed,
    Full,
    Multinomial,
    Normalised,
    Participation,
    Uniform,
)
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.clock import (
    Asynchronous,
    Clock,
    Cyclic,
    FedBuff,
    FedFix,
    Policy,
    StalenessWeight,
    Synchronous,
    Ties,
    read_staleness,
)
from fedtheory.federation.problem import Problem
from fedtheory.federation.step_sizes import StepSchedule
from fedtheory.runfile.definitions import read_defined
from fedtheory.runfile.table import TomlTable, read_whole_number


def read_algorithm(
    table: TomlTable,
    problem: Problem,
    folder: Path = Path(),
    adapt: Callable[[Participation], Participation] = lambda law: law,
) -> Algorithm:
    """Return the algorithm of an `[algorithm]` table, for a problem.

    `folder` is where a user's definition is looked up; `adapt` converts the participation law if clients are types.
    """
    name, schedule = table.text("name", "fedavg"), _read_schedule(table)
    defined = read_defined(table, name, schedule is not None, folder)
    setting = SETTINGS[name if defined is None else "fedavg"]
    law = _read_participation(_require_participation_table(table))
    clock = _read_clock(table, problem, law if isinstance(law, Cyclic) else None)
    participation = adapt(Full() if isinstance(law, Cyclic) else law)
    # A participation law that does not fit the problem raises its error when its moments are computed.
    participation.moments(problem.weights)
    algorithm = setting(
        problem,
        rounds=_read_rounds(table, clock, participation, problem),
        local_step_size=_read_step_size(table, problem, schedule),
        local_steps=_read_local_steps(table, problem),
        server_step_size=table.number("server_step_size", 1),
        participation=participation,
        clock=clock,
        aggregation=_read_aggregation(table, clock, problem),
    )
    table.finish()
    if defined is None:
        return algorithm
    return replace(algorithm, name=name, defined=defined, work=replace(algorithm.work, schedule=schedule))


def _read_schedule(table: TomlTable) -> StepSchedule | None:
    """Return the formula of the step sizes; None if they are numbers."""
    value = table.peek("local_step_size")
    if not isinstance(value, str) or is_number(value):
        return None
    return StepSchedule(value)


def _read_step_size(table: TomlTable, problem: Problem, schedule: StepSchedule | None) -> Number | Array:
    """Read the local step size: one number or one for each client."""
    value = table.take("local_step_size")
    if schedule is not None:
        return table.arithmetic.number(schedule.first, table.path("local_step_size"))
    if not isinstance(value, list):
        return table.arithmetic.number(value, table.path("local_step_size"))
    sizes = table.rectangular(value, "local_step_size", 1)
    if len(sizes) != problem.clients:
        raise InputError(table.path("local_step_size"), f"expected one number or {problem.clients}, got {len(sizes)}")
    return sizes


def _read_local_steps(table: TomlTable, problem: Problem) -> int | tuple[int, ...]:
    """Read the numbers of local steps: one number or one for each client."""
    value, key = table.take("local_steps", 1), table.path("local_steps")
    if not isinstance(value, list):
        return read_whole_number(value, key, 1)
    if len(value) != problem.clients:
        raise InputError(key, f"expected one number or {problem.clients}, got {len(value)}")
    return tuple(read_whole_number(steps, f"{key}[{n}]", 1) for n, steps in enumerate(value))


def _require_participation_table(table: TomlTable) -> TomlTable:
    """Return the table of the participation; raise InputError for other values."""
    given = table.peek("participation")
    if given is not None and not isinstance(given, dict):
        clients = given if isinstance(given, int) and given > 0 else 5
        way_out = f'write {{ kind = "uniform", clients = {clients} }} for {clients} clients in each round'
        raise InputError(table.path("participation"), f"expected a table, got {given!r}: {way_out}")
    return table.table("participation", {"kind": "full"})


def _read_participation(table: TomlTable) -> Participation | Cyclic:
    """Read which clients take part in a round."""
    if table.peek("kind") == "power-of-choice":
        raise InputError(
            table.path("kind"),
            "expected participants sampled independently of the iterates; selection by loss depends on them",
        )
    kind = table.choice("kind", ("full", "uniform", "multinomial", "fixed", "bernoulli", "cyclic"), "full")
    participation: Participation | Cyclic
    if kind == "full":
        participation = Full()
    elif kind == "fixed":
        given, key = table.take("clients"), table.path("clients")
        if not isinstance(given, list):
            raise InputError(key, f"expected a list of client numbers, got {given!r}")
        participation = Fixed(tuple(read_whole_number(client, f"{key}[{n}]", 0) for n, client in enumerate(given)))
    elif kind == "multinomial":
        participation = Multinomial(table.integer("clients"))
    else:
        participation = _read_sampled(table, kind)
    table.finish()
    return participation


def _read_sampled(table: TomlTable, kind: str) -> Participation | Cyclic:
    """Read sampling without replacement, independent (Bernoulli) sampling or cyclic participation."""
    if kind == "cyclic":
        selected = table.integer("clients")
        return Cyclic(selected, table.choice("weights", ("unbiased", "normalised"), "unbiased") == "normalised")
    if kind == "uniform":
        law: Uniform | Bernoulli = Uniform(table.integer("clients"))
    else:
        law = Bernoulli(RATIONAL.number(table.take("probability"), table.path("probability")))
    weights = table.choice("weights", ("unbiased", "normalised"), "unbiased")
    return Normalised(law) if weights == "normalised" else law


def _read_clock(table: TomlTable, problem: Problem, cycle: Cyclic | None) -> Clock:
    """Read the clock; its times are rationals in every arithmetic, so that ties and numbers of updates are exact."""
    clock = TomlTable(table.take("clock", {"policy": "sync"}), table.path("clock"), RATIONAL)
    policy = _POLICIES[clock.choice("policy", tuple(_POLICIES), "sync")](clock)
    if cycle is not None:
        if not isinstance(policy, Synchronous):
            expected = 'expected policy = "sync" with cyclic participation, whose rounds wait for the clients in turn'
            raise InputError(clock.path("policy"), expected)
        policy = cycle
    times = clock.rectangular(clock.take("times", [1] * problem.clients), "times", 1)
    if len(times) != problem.clients:
        raise InputError(clock.path("times"), f"expected {problem.clients} numbers, got {len(times)}")
    law = clock.choice("law", ("fixed", "exponential"), "fixed")
    clock.finish()
    return Clock(policy, tuple(times), "exponential" if law == "exponential" else "fixed")


def _read_ties(clock: TomlTable) -> Ties:
    """Read how reports at the same time are treated."""
    return "one-by-one" if clock.choice("ties", ("together", "one-by-one"), "together") == "one-by-one" else "together"


def _read_staleness(clock: TomlTable) -> StalenessWeight | None:
    """Read the weights of stale reports; None if reports are not weighted."""
    return read_staleness(clock.text("staleness")) if clock.has("staleness") else None


_POLICIES: dict[str, Callable[[TomlTable], Policy]] = {
    "sync": lambda _table: Synchronous(),
    "async": lambda clock: Asynchronous(_read_ties(clock)),
    "fedfix": lambda clock: FedFix(clock.number("interval")),
    "fedbuff": lambda clock: FedBuff(clock.integer("buffer"), _read_ties(clock), _read_staleness(clock)),
}


def _read_aggregation(table: TomlTable, clock: Clock, problem: Problem) -> Array | None:
    """Return the aggregation weights d_i, (M,); None for the client weights."""
    given, key = table.take("aggregation", "importance"), table.path("aggregation")
    if given == "importance":
        return None
    if given == "identical":
        return table.arithmetic.array([1] * problem.clients)
    if given == "time-based":
        return table.arithmetic.array(compute_time_based_weights(clock, RATIONAL.array(problem.weights)))
    if not isinstance(given, list):
        raise InputError(key, f"expected importance, identical, time-based or a list of numbers, got {given!r}")
    weights = table.rectangular(given, "aggregation", 1)
    if len(weights) != problem.clients:
        raise InputError(key, f"expected {problem.clients} numbers, got {len(weights)}")
    return weights


def _read_rounds(table: TomlTable, clock: Clock, participation: Participation, problem: Problem) -> int:
    """Return the number of server updates.

    The number is given, or as large as the time budget allows (in expectation if clients are sampled).
    """
    if not table.has("time"):
        return table.integer("rounds")
    if table.has("rounds"):
        raise InputError(table.path("time"), "expected either rounds or time, got both")
    time = RATIONAL.number(table.take("time"), table.path("time"))
    if clock.is_synchronous and not clock.is_random:
        duration = participation.round_time(clock.times, RATIONAL.array(problem.weights))
        rounds, first = int((time / duration).floor()), duration
    else:
        rounds, first = clock.updates_within(time), clock.schedule(1).updates[0].time
    if rounds < 1:
        raise InputError(table.path("time"), f"expected at least the time of one round, {first}")
    return rounds
