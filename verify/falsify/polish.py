"""Change several scalings at once by the simplex method of Nelder and Mead."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from verify.falsify.local_search import apply_scaling, reduce_to_conditions
from verify.falsify.run_tables import Table
from verify.falsify.scalings import Scaling, list_scalings
from verify.falsify.score import NOTHING
from verify.falsify.search_state import SearchPoint, SearchState
from verify.falsify.simple_numbers import find_simple_power

_MOST_SCALINGS = 8
_PRECISION = 0.002
_WORST = 1e3
"""Loss of a run to which the claim does not apply."""


def polish(state: SearchState, place: SearchPoint, generator: np.random.Generator) -> None:
    """Maximise the score of a run over several scalings."""
    from scipy.optimize import minimize

    scalings = list_scalings(place.table)
    chosen = [scalings[n] for n in generator.permutation(len(scalings))[:_MOST_SCALINGS]]
    best = place

    def loss(exponents: Array) -> float:
        nonlocal best
        table = _apply_all(state, place.table, chosen, exponents)
        reached = NOTHING if table is None else state.look(table)
        if table is not None and reached > best.score:
            best = SearchPoint(table, reached)
        return _WORST if reached == NOTHING else -reached

    origin: Any = np.zeros(len(chosen))
    simplex = np.vstack([origin, origin + np.eye(len(chosen))])
    minimize(loss, origin, method="Nelder-Mead", options={"maxfev": 20 * len(chosen), "initial_simplex": simplex})
    state.keep(best)


def _apply_all(state: SearchState, table: Table, scalings: list[Scaling], exponents: Array) -> Table | None:
    result: Table | None = table
    for scaling, exponent in zip(scalings, exponents, strict=True):
        factor = find_simple_power(float(np.clip(exponent, -20, 20)), _PRECISION)
        if factor != 1 and result is not None:
            result = apply_scaling(result, scaling, factor)
    if result is None:
        return None
    return reduce_to_conditions(state.claim, result) or result
