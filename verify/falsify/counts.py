"""Counts that conditions fix or bound, such as ``Eq(T, 10)``: clients, rounds and local steps of runs that are made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import islice

import sympy as sp

from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity

_MOST = 16
"""Counts up to which runs in rationals are quick."""
_FEW = 4
"""Number of counts to choose from."""


@cache
def allowed_counts(claim: Claim, quantity: RunQuantity) -> Sequence[int]:
    """The smallest counts that the conditions on a quantity alone allow; empty without such conditions or counts."""
    symbols = {symbol for symbol, each in claim.notation.items() if each is quantity}
    asked = [
        condition for condition in claim.conditions if condition.free_symbols and condition.free_symbols <= symbols
    ]
    counts = range(1, _MOST + 1) if asked else ()
    return tuple(islice((count for count in counts if all(_holds(one, symbols, count) for one in asked)), _FEW))


def _holds(condition: sp.Basic, symbols: set[sp.Symbol], count: int) -> bool:
    return condition.subs(dict.fromkeys(symbols, count)) is sp.true
