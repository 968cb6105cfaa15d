"""Ladders: sequences of runs along which the variables of an O(.) statement tend to their limits.

The ladder depends on the quantity of the variable: rounds, iterations, clients and local steps increase, step sizes
decrease. The levels differ by powers of four, so that square roots of the variable stay rational. While one variable
changes, the others are fixed: horizons near their limit, all others at the value of the run.
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
"""Levels of the ladder on which all variables change together."""


@dataclass(frozen=True)
class Ladder:
    """Factors by which a variable is changed towards its limit."""

    limit: sp.Expr
    """Limit of the variable: infinity or zero."""
    levels: tuple[int, ...]
    longer: tuple[int, ...]
    """Additional levels, used if the first ones do not decide."""
    at: Callable[[Run, int], Run]
    """Function that returns the run at a level."""
    held: int = 1
    """The level at which the variable is fixed while another one changes; 1 keeps the value of the run."""
    beside: tuple[int, ...] = (1, 4, 16)
    """Levels of a count after the ladder of a first variable; each has four times as many clients or local steps."""
    longer_beside: tuple[int, ...] = (1, 4, 16)
    """These levels with longer horizons, used if the first ones do not decide."""
    place: int = 0
    """Rank of the ladder in the order in which changes are applied to a run."""
    climbs_jointly: bool = True
    """Whether the variable also changes together with others."""
    at_limit: Callable[[Run], Run] | None = None
    """The run at the limit, where it is known: its quantities are rational functions of an infinitesimal."""

    @property
    def is_count(self) -> bool:
        """Return whether levels are multiples of a count of the run."""
        return self.limit is sp.oo and self.held == 1

    def steps(self, is_first: bool, is_longer: bool) -> tuple[int, ...]:
        """Return the levels; the ladder of the first variable of a rate has more of them."""
        if self.is_count and not is_first:
            return self.longer_beside if is_longer else self.beside
        return (*self.levels, *self.longer) if is_longer else self.levels

    def start_level(self, is_longer: bool) -> int:
        """Return the level at which the variable is fixed; longer ladders fix it further towards the limit."""
        return self.longer[-1] if is_longer and self.held > 1 else self.held

    def jointly(self, is_longer: bool) -> tuple[int, ...]:
        """Return the levels of the joint ladder; horizons stay at their last level."""
        last = 4 ** (_JOINT - 1) if self.held == 1 else self.start_level(is_longer)
        return tuple(last // 4**number for number in reversed(range(_JOINT)))


def _shrink_steps(run: Run, division: int) -> Run:
    return run.with_step_factor(run.arithmetic.number(1, "one") / division)


def _copy_clients(run: Run, copies: int) -> Run:
    return run if copies == 1 else run.with_copies(copies)


def _multiply_local_steps(run: Run, factor: int) -> Run:
    return run if factor == 1 else run.with_local_steps_multiplied(factor)


def _lengthen_rounds(run: Run, factor: int) -> Run:
    """Return the run with more local steps in fewer rounds, with the same number of iterations."""
    return _multiply_local_steps(run, factor).with_rounds(max(run.algorithm.rounds // factor, 1))


_CLIENTS = Ladder(sp.oo, (1, 4, 16, 64), (256,), _copy_clients)
_STEP_SIZES = Ladder(
    sp.S.Zero, (1, 4, 16, 64, 256), (1024, 4096), _shrink_steps, place=1, at_limit=with_infinitesimal_steps
)
_OF_ROUNDS: Any = {"at": Run.with_rounds, "place": 2, "at_limit": with_endless_rounds}
_ROUNDS = Ladder(sp.oo, (1, 4, 16, 64, 256), (1024, 4096), held=256, **_OF_ROUNDS)
_ITERATIONS = Ladder(sp.oo, (16, 64, 256, 1024), (4096, 16384, 65536), held=1024, **_OF_ROUNDS)
# Orders such as K/N compare local steps with the horizon; they have no limit if both grow equally fast.
_OF_STEPS: Any = {
    "beside": (1, 4, 16, 64),
    "longer_beside": (1, 4, 16, 64, 256, 1024),
    "place": 3,
    "climbs_jointly": False,
}
_LOCAL_STEPS = Ladder(sp.oo, (1, 4, 16, 64), (256, 1024), _multiply_local_steps, **_OF_STEPS)
_LOCAL_STEPS_OF_ITERATIONS = Ladder(sp.oo, (1, 4, 16, 64), (256, 1024), _lengthen_rounds, **_OF_STEPS)

LADDERS = {
    "rounds": _ROUNDS,
    "iterations": _ITERATIONS,
    "clients": _CLIENTS,
    "local_steps": _LOCAL_STEPS,
    "local_step_size": _STEP_SIZES,
    "effective_step_size": _STEP_SIZES,
}


@cache
def list_ladders(claim: Claim) -> dict[sp.Symbol, Ladder]:
    """Return the variables of a claim's rate with their ladders; raises `InputError` for a variable without a ladder.

    A rate with a single variable gets ladders for all other variables in its order as well, unless the rate sets them
    or states its constant; then the instances vary them. A tuple of variables is complete.
    """
    assert claim.rate is not None
    found = {variable: find_ladder(claim, variable) for variable in claim.rate.variables}
    if isinstance(claim.rate.variable, tuple):
        if len({ladder.place for ladder in found.values()}) < len(found):
            raise InputError(claim.id, f"expected variables that vary independently, not {', '.join(map(str, found))}")
        return found
    if claim.rate.constant is not None:
        return found
    for symbol in sorted(claim.rate.order.free_symbols & claim.notation.keys(), key=str):
        name = claim.notation[symbol].name
        if name in LADDERS and not _is_set(claim.rate, name):
            ladder = find_ladder(claim, symbol)
            if ladder.place not in {other.place for other in found.values()}:
                found[symbol] = ladder
    return found


def find_ladder(claim: Claim, variable: sp.Symbol | None = None) -> Ladder:
    """Return the ladder of a variable, by default the first one of the rate; raises `InputError` if it has none."""
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
    """Return whether the rate itself fixes a quantity as a function of its variables."""
    setting = rate.local_steps if name == "local_steps" else rate.step_size if name.endswith("step_size") else None
    return setting is not None
