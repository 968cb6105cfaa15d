"""Ladders: how the variable of an O(.) statement is driven to its limit on a run.

Which ladder belongs to a variable is decided by the quantity that it stands
for: rounds, iterations and clients grow, step sizes shrink.  Steps are powers
of four, so that square roots of the variable stay rational.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim


@dataclass(frozen=True)
class Ladder:
    """Rungs towards a limit."""

    limit: sp.Expr
    """Where the variable goes: infinity or zero."""
    rungs: tuple[int, ...]
    longer: tuple[int, ...]
    """Further rungs where the first ones do not decide."""
    at: Callable[[Run, int], Run]
    """The run at a rung."""


def _smaller_steps(run: Run, division: int) -> Run:
    return run.with_step_factor(run.arithmetic.number(1, "one") / division)


_ROUNDS = Ladder(sp.oo, (1, 4, 16, 64, 256), (1024, 4096), Run.with_rounds)
_STEP_SIZES = Ladder(sp.S.Zero, (1, 4, 16, 64, 256), (1024, 4096), _smaller_steps)
_CLIENTS = Ladder(sp.oo, (1, 4, 16, 64), (256,), Run.with_copies)

LADDERS = {
    "rounds": _ROUNDS,
    "iterations": Ladder(sp.oo, (16, 64, 256, 1024), (4096,), Run.with_rounds),
    "clients": _CLIENTS,
    "local_step_size": _STEP_SIZES,
    "effective_step_size": _STEP_SIZES,
}


def ladder_of(claim: Claim) -> Ladder:
    """The ladder of a claim's rate; `InputError` where its variable stands for nothing that can be driven."""
    assert claim.rate is not None
    notion = claim.notation.get(claim.rate.variable)
    if notion is None or notion.name not in LADDERS:
        expected = f"expected the rate's variable to stand for one of {', '.join(LADDERS)}"
        raise InputError(claim.id, f"{expected}, not {claim.rate.variable}")
    return LADDERS[notion.name]
