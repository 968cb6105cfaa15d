"""Counts that conditions fix or bound, such as ``Eq(T, 10)``: clients, rounds and local steps of generated runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import islice

import sympy as sp

from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity

_MOST = 16
"""Largest count for which runs in rationals are fast."""
_FEW = 4
"""Number of counts to choose from."""


@cache
def list_allowed_counts(claim: Claim, quantity: RunQuantity) -> Sequence[int]:
    """Return the smallest counts that satisfy the conditions on one quantity; empty if there are none."""
    counts = range(1, _MOST + 1) if _find_conditions(claim, quantity) else ()
    return tuple(islice((count for count in counts if is_allowed(claim, quantity, count)), _FEW))


def is_restricted(claim: Claim, quantity: RunQuantity) -> bool:
    """Return whether a condition of a claim restricts this quantity alone."""
    return bool(_find_conditions(claim, quantity))


def is_allowed(claim: Claim, quantity: RunQuantity, count: int) -> bool:
    """Return whether a count satisfies all conditions on its quantity alone."""
    symbols = dict.fromkeys(_find_symbols(claim, quantity), count)
    return all(condition.subs(symbols) is sp.true for condition in _find_conditions(claim, quantity))


def _find_conditions(claim: Claim, quantity: RunQuantity) -> list[sp.Basic]:
    symbols = _find_symbols(claim, quantity)
    return [one for one in claim.run_conditions if one.free_symbols and one.free_symbols <= symbols]


def _find_symbols(claim: Claim, quantity: RunQuantity) -> set[sp.Symbol]:
    return {symbol for symbol, each in claim.notation.items() if each is quantity}
