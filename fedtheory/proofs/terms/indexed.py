"""Symbols for iterates of a run by their round and local step.

A symbol is one vector of a family at one round and one step.  In the families `LOCAL` and
`NOISE` every client has its own; the client is implicit, as in the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr

ROUND = sp.Dummy("n", integer=True, nonnegative=True)
"""The index of the round."""
STEP = sp.Dummy("k", integer=True, nonnegative=True)
"""The index of the local step in a round."""
Family = Literal["server", "local", "noise", "virtual", "centralised"]
OF_CLIENTS: frozenset[Family] = frozenset(("local", "noise"))
"""Families in which each client has its own vectors."""


class RangeSum(sp.Function):  # type: ignore[misc]
    """Sum of an expression over an index, from a first value up to, but without, an end."""

    nargs = 4


@dataclass(frozen=True)
class Indexed:
    """One vector of a run; server models have no step."""

    family: Family
    round: Expr
    step: Expr | None

    def depends_on(self, index: sp.Symbol) -> bool:
        """Return whether the vector depends on an index."""
        return bool(self.round.has(index) or (self.step is not None and self.step.has(index)))


_INDEXED: dict[sp.Symbol, Indexed] = {}


@cache
def _create_symbol(vector: Indexed) -> sp.Dummy:
    """Return the symbol of a vector at its round and step."""
    place = str(vector.round) if vector.step is None else f"{vector.round},{vector.step}"
    symbol = sp.Dummy(f"{vector.family}[{place}]", real=True)
    _INDEXED[symbol] = vector
    return symbol


def find_indexed(expression: Expr) -> Mapping[sp.Symbol, Indexed]:
    """Return the vectors of runs in an expression, by their symbols."""
    return {symbol: _INDEXED[symbol] for symbol in expression.free_symbols if symbol in _INDEXED}


def vector_at(family: Family, at_round: Expr = ROUND, at_step: Expr | None = STEP) -> Expr:
    """Return a vector of a family; before the first local step, iterates equal the server's model."""
    at_round, at_step = sp.expand(at_round), None if at_step is None else sp.expand(at_step)
    if family == "server" or (at_step == 0 and family != "noise"):
        return _create_symbol(Indexed("server", at_round, None))
    return _create_symbol(Indexed(family, at_round, at_step))


def server(at_round: Expr = ROUND) -> Expr:
    """Return the server's model at the start of a round."""
    return vector_at("server", at_round, None)


def average(at_round: Expr = ROUND, at_step: Expr = STEP) -> Expr:
    """Return the average of the clients' iterates."""
    return Average(vector_at("local", at_round, at_step))
