"""Number of rounds of a run at a point: a fixed number, or multiples of the time constant, within the budget."""

from __future__ import annotations

import math

from flint import fmpq

from fedtheory.arithmetic import plain_float
from verify.falsify.regimes.algorithm_tables import ClaimedAlgorithm, count_rounds_of_a_cycle
from verify.falsify.regimes.factors import DATA, WITH_REPLACEMENT, Point
from verify.falsify.regimes.problem_tables import (
    count_clients,
    count_local_steps,
    count_participants,
    has_one_outcome,
    limit_enumerated_steps,
)

_MOST = 2**22
"""Largest number of rounds if they are computed by repeated squaring."""
_ON_GRAPHS, _ROUNDS_ONE_BY_ONE, _STEPS_ONE_BY_ONE = 80, 120, 500
"""Largest numbers of rounds with one step each, on a graph and without, and of local steps otherwise."""
_CLOCK, _SAMPLED, _LOSSES, _DATA = 200, 600, 32, 256
_ONE_OUTCOME = 256
"""Largest number of local steps on losses that are not quadratic, if nothing is random."""
_STATED = 48
"""Largest number of local steps for step sizes given by a formula, whose rounds are computed one by one."""
_MOST_IN_CYCLES = 256
"""Largest number of rounds of runs that end with a whole cycle of their clock."""


def find_rounds(point: Point, step_size: fmpq, subject: ClaimedAlgorithm, looked_at: int | None = None) -> int:
    """Return T >= 1; `looked_at` bounds the local steps of all clients for claims with terms at each step."""
    steps = 1 if subject.steps_are_rounds else count_local_steps(point)
    if point["horizon"][0] == "cycle":
        return _count_whole_cycles(point)
    most = _limit_steps(point, subject, steps)
    if looked_at is not None:
        most = min(most, looked_at // max(count_clients(point), _count_sets_of_participants(point)))
    return max(1, min(round(_choose_rounds(point, step_size, steps)), most // steps, _MOST))


def _count_sets_of_participants(point: Point) -> int:
    """Count the sets of participants of a round, which a claim about each step may enumerate."""
    clients, participants, law = count_clients(point), count_participants(point), point.get("participation")
    if law is None:
        return clients
    return math.comb(clients + participants - 1 if law in WITH_REPLACEMENT else clients, participants)


def _count_whole_cycles(point: Point) -> int:
    """Return the rounds of the allowed number of whole cycles; one round if even one cycle is too long."""
    cycle = count_rounds_of_a_cycle(point)
    most = _MOST_IN_CYCLES // cycle
    return cycle * max(1, min(round(2.0 ** point["horizon"][1]), most)) if most else 1


def _choose_rounds(point: Point, step_size: fmpq, steps: int) -> float:
    unit, exponent = point["horizon"]
    if unit == "T":
        return float(2.0**exponent)
    server = point.get("server step size")
    speed = 1.0 if server is None else count_clients(point) if server == "M" else 2.0**server
    travelled = plain_float(step_size) * steps * speed * _find_curvature(point, unit)
    return float(min(2.0**exponent / travelled, 1e18))


def _find_curvature(point: Point, unit: str) -> float:
    """Return the largest curvature of a client, which is 1, or the smallest one."""
    if unit == "L" or point["conditioning"] is None or point["curvatures"] == "alike":
        return 1.0
    if point["curvatures"] == "rank one":
        return float(2.0 ** (2 * point["angle"]))
    return float(2.0 ** point["conditioning"])


def _limit_steps(point: Point, subject: ClaimedAlgorithm, steps: int) -> int:
    """Return the largest number of local steps of a run, by the cost of its simulation."""
    if point.get("loss") is not None:
        return _limit_steps_of_loss(point)
    if point.get("clock"):
        return _CLOCK
    if subject.stated is not None:
        return _STATED
    if point.get("participation") or subject.is_decreasing:
        return _SAMPLED * steps
    if subject.definition is not None:
        return _limit_steps_of_definition(point, subject, steps)
    return _MOST * steps


def _limit_steps_of_loss(point: Point) -> int:
    """Return the largest number of local steps on losses that are not quadratic, or on data."""
    if has_one_outcome(point):
        return _ONE_OUTCOME
    if point["loss"] in DATA and not point.get("clock"):
        return _DATA
    enumerated = limit_enumerated_steps(point)
    return _LOSSES if enumerated is None else enumerated


def _limit_steps_of_definition(point: Point, subject: ClaimedAlgorithm, steps: int) -> int:
    """Return the largest number of local steps of a run whose rounds are simulated one by one."""
    if subject.steps_are_rounds:
        return _ON_GRAPHS if "mixing" in point else _ROUNDS_ONE_BY_ONE
    return max(_STEPS_ONE_BY_ONE, _STEPS_ONE_BY_ONE // 10 * steps)
