"""Ladders: how each variable that an O(.) statement names is driven to its limit on a run.

The quantity that a variable stands for decides its ladder: rounds, iterations,
clients and local steps grow, step sizes shrink.  Steps are powers of four, so
that square roots of the variable stay rational.  While one variable climbs, the
others are held: horizons near their limit, all else at the run's own value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from fedtheory.engine.limiting_runs import with_endless_rounds, with_infinitesimal_steps
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim, Rate

_JOINT = 3
"""Rungs of the ladder on which all variables climb together."""


@dataclass(frozen=True)
class Ladder:
    """Rungs towards a limit."""

    limit: sp.Expr
    """Limit of the variable: infinity or zero."""
    rungs: tuple[int, ...]
    longer: tuple[int, ...]
    """Further rungs where the first ones do not decide."""
    at: Callable[[Run, int], Run]
    """The run at a rung."""
    held: int = 1
    """The rung at which the variable stays while another one climbs; 1 leaves the run's own value."""
    beside: tuple[int, ...] = (1, 4, 16)
    """Rungs of a count next to the ladder of a first variable; each has four times as many clients or local steps."""
    longer_beside: tuple[int, ...] = (1, 4, 16)
    """Rungs where the first ones do not decide; horizons are longer then."""
    place: int = 0
    """Place among the ladders in the order in which a run is changed."""
    climbs_jointly: bool = True
    """Whether the variable also climbs together with others."""
    at_limit: Callable[[Run], Run] | None = None
    """The run at the limit, where that is known: its quantities are rational functions of an infinitesimal."""

    @property
    def is_count(self) -> bool:
        """Whether rungs are multiples of a count of the run."""
        return self.limit is sp.oo and self.held == 1

    def steps(self, is_first: bool, is_longer: bool) -> tuple[int, ...]:
        """The rungs to climb: the first ladder of a rate is climbed further than those of other counts."""
        if self.is_count and not is_first:
            return self.longer_beside if is_longer else self.beside
        return (*self.rungs, *self.longer) if is_longer else self.rungs

    def start_rung(self, is_longer: bool) -> int:
        """Return the rung while another variable climbs: further out where the first rungs do not decide."""
        return self.longer[-1] if is_longer and self.held > 1 else self.held

    def jointly(self, is_longer: bool) -> tuple[int, ...]:
        """The rungs while all variables climb together; horizons are held at their last rung."""
        last = 4 ** (_JOINT - 1) if self.held == 1 else self.start_rung(is_longer)
        return tuple(last // 4**number for number in reversed(range(_JOINT)))


def _smaller_steps(run: Run, division: int) -> Run:
    return run.with_step_factor(run.arithmetic.number(1, "one") / division)


def _copies(run: Run, copies: int) -> Run:
    return run if copies == 1 else run.with_copies(copies)


def _multiply_local_steps(run: Run, factor: int) -> Run:
    return run if factor == 1 else run.with_local_steps_multiplied(factor)


def _longer_rounds(run: Run, factor: int) -> Run:
    """The run with more local steps in fewer rounds, so that the number of iterations stays."""
    return _multiply_local_steps(run, factor).with_rounds(max(run.algorithm.rounds // factor, 1))


_CLIENTS = Ladder(sp.oo, (1, 4, 16, 64), (256,), _copies)
_STEP_SIZES = Ladder(
    sp.S.Zero, (1, 4, 16, 64, 256), (1024, 4096), _smaller_steps, place=1, at_limit=with_infinitesimal_steps
)
_OF_ROUNDS: Any = {"at": Run.with_rounds, "place": 2, "at_limit": with_endless_rounds}
_ROUNDS = Ladder(sp.oo, (1, 4, 16, 64, 256), (1024, 4096), held=256, **_OF_ROUNDS)
_ITERATIONS = Ladder(sp.oo, (16, 64, 256, 1024), (4096, 16384, 65536), held=1024, **_OF_ROUNDS)
# Orders such as K/N compare local steps with the horizon: they have no limit where both grow alike.
_OF_STEPS: Any = {
    "beside": (1, 4, 16, 64),
    "longer_beside": (1, 4, 16, 64, 256, 1024),
    "place": 3,
    "climbs_jointly": False,
}
_LOCAL_STEPS = Ladder(sp.oo, (1, 4, 16, 64), (256, 1024), _multiply_local_steps, **_OF_STEPS)
_LOCAL_STEPS_OF_ITERATIONS = Ladder(sp.oo, (1, 4, 16, 64), (256, 1024), _longer_rounds, **_OF_STEPS)

LADDERS = {
    "rounds": _ROUNDS,
    "iterations": _ITERATIONS,
    "clients": _CLIENTS,
    "local_steps": _LOCAL_STEPS,
    "local_step_size": _STEP_SIZES,
    "effective_step_size": _STEP_SIZES,
}


@cache
def ladders_of(claim: Claim) -> dict[sp.Symbol, Ladder]:
    """The variables of a claim's rate with their ladders; `InputError` where one stands for nothing that can be driven.

    A rate with a single variable climbs in all others that its order names as
    well, unless the rate sets them, or states the constant: then nothing is
    hidden, and instances differ in the others.  A tuple of variables is complete.
    """
    assert claim.rate is not None
    found = {variable: ladder_of(claim, variable) for variable in claim.rate.variables}
    if isinstance(claim.rate.variable, tuple):
        if len({ladder.place for ladder in found.values()}) < len(found):
            raise InputError(claim.id, f"expected variables that vary independently, not {', '.join(map(str, found))}")
        return found
    if claim.rate.constant is not None:
        return found
    for symbol in sorted(claim.rate.order.free_symbols & claim.notation.keys(), key=str):
        name = claim.notation[symbol].name
        if name in LADDERS and not _is_set(claim.rate, name):
            ladder = ladder_of(claim, symbol)
            if ladder.place not in {other.place for other in found.values()}:
                found[symbol] = ladder
    return found


def ladder_of(claim: Claim, variable: sp.Symbol | None = None) -> Ladder:
    """The ladder of a variable, or of the first one of a claim's rate; `InputError` where there is none."""
    assert claim.rate is not None
    variable = claim.rate.variables[0] if variable is None else variable
    quantity = claim.notation.get(variable)
    if quantity is None or quantity.name not in LADDERS:
        expected = f"expected the rate's variable to stand for one of {', '.join(LADDERS)}"
        raise InputError(claim.id, f"{expected}, not {variable}")
    if quantity.name == "local_steps" and "iterations" in {other.name for other in claim.notation.values()}:
        return _LOCAL_STEPS_OF_ITERATIONS
    return LADDERS[quantity.name]


def _is_set(rate: Rate, name: str) -> bool:
    """Return whether a rate itself says how a quantity depends on its variables."""
    setting = rate.local_steps if name == "local_steps" else rate.step_size if name.endswith("step_size") else None
    return setting is not None
