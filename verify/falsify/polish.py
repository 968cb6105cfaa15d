"""Change several knobs at once by the simplex method of Nelder and Mead."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from verify.falsify.knobs import Knob, list_knobs
from verify.falsify.local import turned, within_conditions
from verify.falsify.rounding import factor_of
from verify.falsify.score import NOTHING
from verify.falsify.search_state import SearchPoint, SearchState
from verify.falsify.tables import Table

_MOST_KNOBS = 8
_PRECISION = 0.002
_WORST = 1e3
"""Loss of a run to which the claim does not apply."""


def polish(hunt: SearchState, place: SearchPoint, generator: np.random.Generator) -> None:
    """Maximise the score of a run over several knobs."""
    from scipy.optimize import minimize

    knobs = list_knobs(place.table)
    chosen = [knobs[n] for n in generator.permutation(len(knobs))[:_MOST_KNOBS]]
    best = place

    def loss(exponents: Array) -> float:
        nonlocal best
        table = _turn_all(hunt, place.table, chosen, exponents)
        reached = NOTHING if table is None else hunt.look(table)
        if table is not None and reached > best.score:
            best = SearchPoint(table, reached)
        return _WORST if reached == NOTHING else -reached

    origin: Any = np.zeros(len(chosen))
    simplex = np.vstack([origin, origin + np.eye(len(chosen))])
    minimize(loss, origin, method="Nelder-Mead", options={"maxfev": 20 * len(chosen), "initial_simplex": simplex})
    hunt.keep(best)


def _turn_all(hunt: SearchState, table: Table, knobs: list[Knob], exponents: Array) -> Table | None:
    result: Table | None = table
    for knob, exponent in zip(knobs, exponents, strict=True):
        factor = factor_of(float(np.clip(exponent, -20, 20)), _PRECISION)
        if factor != 1 and result is not None:
            result = turned(result, knob, factor)
    if result is None:
        return None
    return within_conditions(hunt.claim, result) or result
