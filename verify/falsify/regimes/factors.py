"""Factors: features in which a run can be extreme, and the levels at which a claim is tried.

A point has one level of every factor. Numbers are exponents of two relative to their natural scale: the step size
relative to the edge of the claim's conditions, the rounds relative to the time constant of a curvature. With these
scales one coordinate often suffices for a joint change, such as more local steps, each smaller, for more rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from verify.falsify.counts import is_allowed, is_restricted

Level = Any
"""A number, a word, or None if the feature is absent."""
Point = Mapping[str, Level]

HALF_OF_MANY = "half of many"
"""Name of sampling half of the clients without a limit on their number, for bounds whose claims need no enumeration."""
AS_MANY_DRAWS = "as many draws"
"""Name of sampling with replacement, with as many draws as clients: some clients are drawn twice, others never."""
WITH_REPLACEMENT = ("multinomial", AS_MANY_DRAWS)
"""Names of sampling with replacement, with few draws and with as many as clients."""
DATA = ("data", "rare rows")
"""Name of least squares with mini-batches of one: rare rows cause the noise, at the step size of one row."""
_MOST_STEPS, MOST_STEPS_ONE_BY_ONE = 17, 14
"""Largest exponents of all clients' local steps in a round: FedAvg with constant steps, other algorithms."""
MOST_STEPS_OF_CLIENT = 11
"""Largest exponent of the local steps of a client if these are simulated one by one."""
MOST_SEPARATE = 10
"""Largest exponent of the clients if they are represented one by one; more clients are written as types."""
_MOST_WITH_CLOCKS = 7
"""Largest exponent of the clients if they have stale models."""
_MOST_HALVES = 2.585
"""Largest exponent of the clients if half of them participate; a claim may need an enumeration of all such sets."""
_MOST_DRAWN = 2.0
"""Largest exponent of the clients if as many are drawn with replacement."""
_COUNTED = (q.clients, q.rounds, q.iterations, q.local_steps, q.participants)
"""Quantities that are counts."""
_COUNTS = (*range(1, 33), 50, 64, 100, 128, 200, 256, 500, 512, 1000, 1024)
"""Counts that are tried for the least one that conditions allow."""


@dataclass(frozen=True)
class Factor:
    """One feature, with its levels from normal to extreme."""

    name: str
    levels: tuple[Level, ...]
    plain: Level = "none"
    """The level of most rows; a factor without one has all its levels equally often."""
    steps: tuple[float, ...] = ()
    """Decreasing step lengths of an ascent along numbers; words are exchanged."""
    low: float = float("-inf")
    high: float = float("inf")
    in_words: Callable[[Level], str] = str

    @property
    def has_plain(self) -> bool:
        """Return whether one level is that of most runs."""
        return bool(self.plain != "none")

    def up_to(self, high: float) -> Factor:
        """Return the factor without the levels above a bound."""
        return replace(self, levels=tuple(dict.fromkeys(min(level, high) for level in self.levels)), high=high)

    def without(self, level: Level) -> Factor:
        """Return the factor without one of its levels."""
        return replace(self, levels=tuple(other for other in self.levels if other != level))

    def within(self, number: float) -> float:
        """Clip a number to the bounds of the factor."""
        return min(max(number, self.low), self.high)


def count(power: float) -> int:
    """Return a number of clients or local steps from its exponent."""
    return int(max(1, min(round(2.0**power), 2**26)))


def _format_count(level: Level) -> str:
    return f"{count(level):,}"


def _format_power(level: Level) -> str:
    return "0" if level is None else f"{2.0**level:.3g}"


def _format_word(level: Level) -> str:
    return "none" if level is None else str(level)


def _describe_sources(level: Level) -> str:
    names = {"s": "start", "n": "noise", "p": "unlike gradients"}
    return " + ".join(names[symbol] for symbol in level)


def _describe_horizon(level: Level) -> str:
    unit, power = level
    if unit == "cycle":
        return f"{count(power):,} cycles" if power > 0 else "1 cycle"
    if unit == "T":
        return f"{count(power):,} rounds" if power > 0 else "1 round"
    return f"{2.0**power:g}/(eta {'L' if unit == 'L' else 'mu'}) steps"


def _describe_distance_from_edge(level: Level) -> str:
    return "the edge" if level == 0 else f"{2.0**level:.2g} of the edge"


SOURCES = Factor("sources", ("s", "n", "p", "sn", "sp", "np", "snp"), in_words=_describe_sources)
CLIENTS = Factor("clients", (0, 1, 3.32, 5, 9.97), steps=(3, 1), low=0, high=13, in_words=_format_count)
SHAPE = Factor(
    "curvatures",
    ("alike", "alternate", "one steep", "one flat", "diagonal", "rank one", "crossed"),
    in_words=_format_word,
)
CONDITIONING = Factor("conditioning", (-3, -10, None), steps=(4, 1), low=-16, high=0, in_words=_format_power)
ANGLE = Factor("angle", (-3, -6.6), steps=(2, 1), low=-12, high=0, in_words=_format_power)
LOCAL_STEPS = Factor("local steps", (0, 1, 3, 6, 11), steps=(3, 1), low=0, high=16, in_words=_format_count)
HORIZON = Factor("horizon", (("T", 0), ("T", 2), ("L", 0), ("L", 5), ("mu", 5)), in_words=_describe_horizon)
STEP_SIZE = Factor("step size", (0, -1, -4, -10), steps=(5, 2, 1), high=0, in_words=_describe_distance_from_edge)

PROBLEM = (
    SOURCES,
    CLIENTS,
    SHAPE,
    CONDITIONING,
    ANGLE,
    Factor("gradients", (0, 5, -5), 0, (4, 1), in_words=_format_power),
    Factor("noise", (0, 5, -5), 0, (4, 1), in_words=_format_power),
    Factor("unlike gradients", ("signs", "one"), in_words=_format_word),
    Factor("noisy clients", ("all", "one"), "all", in_words=_format_word),
    Factor("direction", ("both", "flat", "steep", "minus"), in_words=_format_word),
    Factor("unit of values", (0, 12, -12), 0, (12, 4), -48, 48, in_words=_format_power),
    Factor("unit of length", (0, 12, -12), 0, (12, 4), -48, 48, in_words=_format_power),
    Factor("weights", (None, "one heavy", "one tiny"), None, in_words=_format_word),
    Factor("loss", (None, "Huber", "Huber, linear part", "kinked", *DATA, "bounded"), None, in_words=_format_word),
    Factor("negative curvature", (None, "one client", "all"), None, in_words=_format_word),
)
RULE = (
    LOCAL_STEPS,
    HORIZON,
    STEP_SIZE,
    Factor("server step size", (None, -7, 1.6, 4.3, "M"), None, (3, 1), -20, 12, _format_word),
    Factor("participation", (None, "one", "half", *WITH_REPLACEMENT), None, in_words=_format_word),
    Factor("local work", (None, "unequal", "normalised"), None, in_words=_format_word),
    Factor(
        "clock",
        (None, "one slow", "equal times", "fixed intervals", "long intervals", "buffer"),
        None,
        in_words=_format_word,
    ),
    Factor("aggregation", (None, "time-based", "identical", "unequal"), None, in_words=_format_word),
)
STANDARD: Mapping[str, Factor] = {factor.name: factor for factor in (*PROBLEM, *RULE)}
"""The factors of every run, by name."""

_CYCLES = (("cycle", 0), ("cycle", 2))
_AT_EQUATION = Factor("step size", (0,), high=0, in_words=_describe_distance_from_edge)
"""The only level of a step size that satisfies an equation: the solution, which is the edge."""
_OF_TIED_STEPS = (
    Factor("clients", (0, 2, 4, 10), steps=(2,), low=0, high=10, in_words=_format_count),
    Factor("local steps", (0, 2, 4), steps=(2,), low=0, high=12, in_words=_format_count),
    Factor("horizon", (("T", 0), ("T", 12), ("T", 6), ("T", 20)), in_words=_describe_horizon),
    _AT_EQUATION,
    # Curvatures alone determine the edge of the conditions there, so they change in small steps.
    Factor("unit of values", (0, 12, -12), 0, (4, 0.5, 1 / 16), -48, 48, in_words=_format_power),
)


def list_factors(claim: Claim) -> dict[str, Factor]:
    """Return the factors of every run, with the levels that the assumptions of a claim allow.

    A run that must end after a whole cycle of its clock has the length of some cycles. A step size that an equation
    fixes has no other level. A step size that is tied to roots of clients or iterations is rational if both are powers
    of four.
    """
    found = {
        name: replace(factor, levels=restrict_counts(claim).get(name, factor.levels))
        for name, factor in STANDARD.items()
    }
    if a.whole_cycles in claim.assumptions:
        found["horizon"] = replace(HORIZON, levels=_CYCLES)
    if has_equation_on_step(claim):
        found["step size"] = _AT_EQUATION
    if is_tied(claim) or _has_equation_on_roots(claim):
        found |= {factor.name: factor for factor in _OF_TIED_STEPS}
    return found


@cache
def restrict_counts(claim: Claim) -> Mapping[str, tuple[Level, ...]]:
    """Return the levels of counts that conditions restrict, as ``Eq(T, 1)`` does, by the names of factors."""
    clients = _allow(claim, q.clients, CLIENTS.levels)
    steps = _allow(claim, q.local_steps, LOCAL_STEPS.levels)
    rounds = _allow(claim, q.rounds, [power for unit, power in HORIZON.levels if unit == "T"])
    found = {"clients": clients, "local steps": steps, "horizon": tuple(("T", power) for power in rounds)}
    if len(rounds) > 1:
        found["horizon"] += tuple(level for level in HORIZON.levels if level[0] != "T")
    return {name: levels for name, levels in found.items() if levels}


def _allow(claim: Claim, quantity: RunQuantity, levels: Sequence[float]) -> tuple[float, ...]:
    """Return the levels that conditions on the count alone allow, with the least allowed one; empty without conditions.

    If only one count is allowed, it is the only level.
    """
    if not is_restricted(claim, quantity):
        return ()
    kept = [power for power in levels if is_allowed(claim, quantity, count(power))]
    least = [number for number in _COUNTS if is_allowed(claim, quantity, number)][:1]
    return tuple(sorted({*kept, *(math.log2(number) for number in least)} if len(kept) < 2 else kept))


def is_tied(claim: Claim) -> bool:
    """Return whether an assumption fixes the step size by the numbers of clients and iterations."""
    return a.speedup_step in claim.assumptions or a.plain_speedup_step in claim.assumptions


@cache
def has_equation_on_step(claim: Claim) -> bool:
    """Return whether a condition is an equation that contains the step size."""
    return bool(_list_equations_on_step(claim))


@cache
def _has_equation_on_roots(claim: Claim) -> bool:
    """Return whether an equation on the step size contains a root of a count, such as ``sqrt(T)``."""
    counts = {symbol for symbol, quantity in claim.notation.items() if quantity in _COUNTED}
    powers = {power for one in _list_equations_on_step(claim) for power in one.atoms(sp.Pow)}
    return any(power.base.free_symbols & counts and not power.exp.is_integer for power in powers)


def _list_equations_on_step(claim: Claim) -> list[sp.Basic]:
    symbols = {symbol for symbol, quantity in claim.notation.items() if quantity is q.local_step_size}
    return [one for one in claim.run_conditions if isinstance(one, sp.Equality) and one.free_symbols & symbols]


BASE: Point = {
    **{name: factor.plain for name, factor in STANDARD.items() if factor.has_plain},
    "sources": "snp",
    "clients": 1,
    "curvatures": "alternate",
    "conditioning": -3,
    "angle": -6.6,
    "local steps": 1,
    "horizon": ("T", 2),
    "step size": -4,
    "unlike gradients": "signs",
    "direction": "both",
}
"""The normal run in which levels are tried one at a time."""


def has_single_clients(point: Point) -> bool:
    """Return whether equal clients differ in their weights, work or participation, so that they are no type."""
    return any(point.get(name) for name in ("weights", "participation", "local work", "clock", "aggregation"))


def _limit_clients(point: Point) -> dict[str, Level]:
    """Limit the clients to what clock and participation allow; remove cycles without a clock."""
    found = dict(point)
    if found["horizon"][0] == "cycle" and not found.get("clock"):
        found["horizon"] = ("T", found["horizon"][1])
    if found.get("clock"):
        found["clients"] = min(found["clients"], _MOST_WITH_CLOCKS)
        found["local steps"] = min(found["local steps"], MOST_STEPS_OF_CLIENT)
    if has_single_clients(found):
        found["clients"] = min(found["clients"], MOST_SEPARATE)
    if found.get("participation") == "half":
        found["clients"] = min(found["clients"], _MOST_HALVES)
    if found.get("participation") == AS_MANY_DRAWS:
        found["clients"] = min(found["clients"], _MOST_DRAWN)
    return found


def normalise(point: Point, most_steps: float = _MOST_STEPS) -> dict[str, Level]:
    """Return the point with coordinates that have no effect at their usual levels, so that no run is tried twice.

    `most_steps` is the largest exponent of the local steps of all clients in a round.
    """
    found = _limit_clients(point)
    if found.get("loss") == "rare rows":
        # Batches have no effect if the start is the optimum.
        found["sources"] = "snp" if "p" in found["sources"] else "sn"
    sources = found["sources"]
    if found["curvatures"] != "rank one" or count(found["clients"]) == 1:
        found["angle"] = BASE["angle"]
    if count(found["clients"]) == 1:
        alone = {"alternate": "alike", "one steep": "alike", "one flat": "alike", "rank one": "diagonal"}
        found |= {"curvatures": alone.get(found["curvatures"], found["curvatures"]), "unlike gradients": "signs"}
        found |= {name: None for name in ("weights", "participation", "local work") if name in found}
        found |= {"noisy clients": "all"}
        found |= {"server step size": None} if found.get("server step size") == "M" else {}
    # The steps of one client are simulated one by one.
    found["local steps"] = max(0, min(found["local steps"], most_steps - min(found["clients"], MOST_SEPARATE)))
    if found["direction"] != "minus" and found["curvatures"] in ("alike", "alternate", "one steep", "one flat"):
        found["direction"] = "both"
    if "n" not in sources:
        found |= {"noise": 0, "noisy clients": "all"}
    if len(sources) == 1:
        found |= {"gradients": 0, "noise": 0}
    if "p" not in sources and not found.get("loss"):
        found["gradients"] = 0
    return found
