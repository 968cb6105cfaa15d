"""The algorithm of a claim, the factors of its parameters, and its run-file table at a point."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp
from flint import fmpq

from fedtheory.federation.algorithms import names as defined_names
from fedtheory.federation.definition import Compressed, FederatedAlgorithm, Mixed, Parameter
from fedtheory.language.assumptions import OfAlgorithm, decreasing_steps
from fedtheory.language.claim import Claim
from fedtheory.language.schedules import StepSizes
from fedtheory.runfile.definitions import find_definition, is_user_defined
from verify.falsify.regimes.factors import WITH_REPLACEMENT, Factor, Level, Point
from verify.falsify.regimes.problem_tables import (
    count_clients,
    count_local_steps,
    count_participants,
    get_unit_of_values,
)
from verify.falsify.run_tables import Table, find_most_steps
from verify.falsify.simple_numbers import round_power
from verify.instances.algorithms import build_mixing_matrix

_TRIED = ("0", "1/10", "1/2", "9/10", "1", "2", "10")
"""Values of a parameter without a known range."""
_BUFFER = 2
"""Buffer size of a buffered server, in reports."""
_LONGEST = 3
"""Time of the slowest clients if times differ; all clients report within an interval of this length."""
_NEAR, _FAR = 12, 20
"""Exponents up to which a parameter approaches an end of the unit interval, or grows on the half-line."""


@dataclass(frozen=True)
class ClaimedAlgorithm:
    """The algorithm that a claim concerns."""

    name: str
    fixed: tuple[tuple[str, Any], ...] = ()
    """Parameters to which the claim gives one value."""
    is_decreasing: bool = False
    """Whether the claim concerns steps 2/(mu tau (n + c)) in round n."""
    stated: StepSizes | None = None
    """The step sizes that the claim states, if any."""

    @classmethod
    def from_claim(cls, claim: Claim) -> ClaimedAlgorithm:
        """Return the algorithm of a claim, which is FedAvg if the claim names none."""
        named = [one for one in claim.assumptions if isinstance(one, OfAlgorithm) and one.names]
        if not named:
            return cls("fedavg")
        stated = next((one for one in named if isinstance(one, StepSizes)), None)
        return cls(named[0].names[0], named[0].numbers, decreasing_steps in claim.assumptions, stated)

    @cached_property
    def definition(self) -> FederatedAlgorithm | None:
        """Return the definition of the algorithm; None for a setting of the update rule."""
        if is_user_defined(self.name) or (self.name in defined_names() and self.name != "fedavg"):
            return find_definition(self.name, "algorithm.name")
        return None

    @property
    def steps_are_rounds(self) -> bool:
        """Return whether a round is one step."""
        return self.definition is not None and self.definition.steps_are_rounds

    @property
    def steps_one_by_one(self) -> bool:
        """Return whether local steps are simulated one by one, because they are not those of FedAvg, or change."""
        return self.definition is not None or self.is_decreasing or self.stated is not None

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """Return the factors of the algorithm's parameters."""
        if self.definition is None:
            return ()
        fixed = {key for key, _ in self.fixed}
        found = [_build_factor(one) for one in self.definition.parameters if one.key not in fixed]
        if self.definition.uses(Mixed):
            words = lambda level: f"{1 - 2.0**-level:.3g} kept" if level else "complete"  # noqa: E731
            found.append(Factor("mixing", (0, 1, 4, 8), steps=(2, 1), low=0, high=12, in_words=words))
        if any(True for _ in self.definition.nodes(Compressed)):
            words = lambda level: str(2**level)  # noqa: E731
            found.append(Factor("dimension", (0, 1, 3), steps=(1,), low=0, high=4, in_words=words))
        return tuple(found)

    def table(self, point: Point, step_size: fmpq, rounds: int) -> Table:
        """Return the `[algorithm]` table of a run."""
        found: Table = {"local_step_size": step_size / get_unit_of_values(point), "rounds": rounds}
        if not self.steps_are_rounds:
            found["local_steps"] = count_local_steps(point)
        if self.name != "fedavg":
            found |= {"name": self.name, **self._parameters(point)}
        return found | _build_local_work(found, point) | dict(_list_rule(point))

    def _parameters(self, point: Point) -> Table:
        definition = self.definition
        if definition is None:
            return {}
        found: Table = {
            one.key: _evaluate_level(one, point[one.key], point) for one in definition.parameters if one.key in point
        }
        found |= {
            one.key: bool(number) if one.is_flag else number
            for one in definition.parameters
            for key, number in self.fixed
            if key == one.key
        }
        if "mixing" in point:
            found["mixing"] = build_mixing_matrix(count_clients(point), round_power(-point["mixing"]))
        return found


def build_decreasing_steps(problem: Table, algorithm: Table) -> Table:
    """Return step sizes 2/(mu tau (n + c)), the first as given; empty where mu is not easily known.

    The smallest curvature mu is read from Hessians that are diagonal.
    """
    hessians, first = problem.get("hessians"), algorithm["local_step_size"]
    if hessians is None or isinstance(first, list) or not all(map(_is_diagonal, hessians)):
        return {}
    smallest = min(hessian[place][place] for hessian in hessians for place in range(len(hessian)))
    slower = smallest * find_most_steps({"algorithm": algorithm}) / 2
    return {"local_step_size": f"1/({1 / first} + ({slower})*n)"}


def _is_diagonal(matrix: list[list[fmpq]]) -> bool:
    return all(
        entry == 0 for row, entries in enumerate(matrix) for column, entry in enumerate(entries) if row != column
    )


def _build_factor(parameter: Parameter) -> Factor:
    """Return the factor of a parameter: levels at both ends of its range, and between them."""
    key, allowed = parameter.key, parameter.allowed
    words = lambda level: _format_level(parameter, level)  # noqa: E731
    if parameter.is_flag:
        return Factor(key, (False, True), False, in_words=words)
    if allowed.is_subset(sp.S.Integers):
        return Factor(key, (0, 1, 3), steps=(1,), low=0, high=_NEAR, in_words=words)
    nothing = (None,) if allowed.contains(0) == sp.true else ()
    if allowed.sup == 1:
        all_of_it = ("1",) if allowed.contains(1) == sp.true else ()
        return Factor(key, (*nothing, -7, -1, 3, 7, *all_of_it), steps=(2, 1), low=-_NEAR, high=_NEAR, in_words=words)
    if allowed.sup == sp.oo and allowed.inf in (0, -sp.oo):
        return Factor(key, (*nothing, -7, 0, 3), steps=(4, 2), low=-_FAR, high=_FAR, in_words=words)
    values = tuple(value for value in _TRIED if allowed.contains(sp.Rational(value)) == sp.true)
    return Factor(key, values or (None,), in_words=words)


def _evaluate_level(parameter: Parameter, level: Level, point: Point) -> Any:
    """Return the value of a parameter at a level."""
    if parameter.is_flag or isinstance(level, str):
        return level
    if parameter.allowed.is_subset(sp.S.Integers):
        return min(2**level, 2 ** point.get("dimension", 0) if "dimension" in point else 2**level)
    if parameter.allowed.sup != 1:
        return round_power(level)
    return (
        round_power(level or (-1 if level == 0 else None)) if level is None or level <= 0 else 1 - round_power(-level)
    )


def _format_level(parameter: Parameter, level: Level) -> str:
    return str(_evaluate_level(parameter, level, {}))


def _build_local_work(algorithm: Table, point: Point) -> Table:
    """Return local work with one step for the first client, larger by the ratio of the counts if normalised."""
    clients, kind = count_clients(point), point.get("local work")
    if kind is None or clients == 1 or "local_steps" not in algorithm:
        return {}
    steps = [1] + [max(algorithm["local_steps"], 2)] * (clients - 1)
    if kind == "unequal":
        return {"local_steps": steps}
    return {"local_steps": steps, "local_step_size": [algorithm["local_step_size"] / number for number in steps]}


def _list_rule(point: Point) -> Iterator[tuple[str, Any]]:
    """Yield server step size, participation, clock and weights, where they differ from plain FedAvg."""
    clients = count_clients(point)
    server = point.get("server step size")
    if server is not None:
        yield "server_step_size", fmpq(clients) if server == "M" else round_power(server)
    law = point.get("participation")
    if law is not None:
        kind = "multinomial" if law in WITH_REPLACEMENT else "uniform"
        yield "participation", {"kind": kind, "clients": count_participants(point)}
    clock = point.get("clock")
    if clock is not None:
        yield "clock", _build_clock(clock, clients)
    weights = point.get("aggregation")
    if weights is not None:
        unequal = [fmpq(2)] + [fmpq(1, 2)] * (clients - 1)
        yield "aggregation", unequal if weights == "unequal" else weights


def _build_clock(kind: str, clients: int) -> Table:
    times = [str(time) for time in _compute_times(kind, clients)]
    clocks: dict[str, Table] = {
        "one slow": {"policy": "async", "times": times, "ties": "one-by-one"},
        "equal times": {"policy": "async", "times": times, "ties": "one-by-one"},
        "fixed intervals": {"policy": "fedfix", "times": times, "interval": "1"},
        "long intervals": {"policy": "fedfix", "times": times, "interval": str(_LONGEST)},
        "buffer": {"policy": "fedbuff", "times": times, "buffer": min(_BUFFER, clients)},
    }
    return clocks[kind]


def _compute_times(kind: str, clients: int) -> list[int]:
    """Compute each client's time for a round."""
    if kind == "one slow":
        return [1] * (clients - 1) + [8]
    return [1] * clients if kind == "equal times" else [1 + client % _LONGEST for client in range(clients)]


def count_rounds_of_a_cycle(point: Point) -> int:
    """Return the rounds until all clients have reported in proportion to their speed; buffers delay reports."""
    kind, clients = point.get("clock"), count_clients(point)
    if kind is None:
        return 1
    times = _compute_times(kind, clients)
    if kind in ("long intervals", "buffer"):
        return 1
    cycle = math.lcm(*times)
    return cycle if kind == "fixed intervals" else sum(cycle // time for time in times)
