"""Averages a proved relation about each of several items over these items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, ClientSum, Expr, Gradient, Inner, Value
from fedtheory.kernel.quotients import linear
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import NUMBERS, SymbolTable


@dataclass(frozen=True)
class KnownMean:
    """A multiple of a quantity with known average: the factor, the quantity, and its average."""

    factor: Expr
    of: Expr
    mean: Expr


@dataclass(frozen=True)
class Averaged(Derived):
    """A relation about each of several items, averaged over them."""

    same: ClassVar[Sequence[Quantity]] = NUMBERS
    """Quantities that do not depend on the averaged index."""

    def means(self, symbol: SymbolTable) -> Mapping[Expr, Expr]:
        """Return the quantities with a known average, with their averages."""
        raise NotImplementedError

    def list_weighted_symbols(self, _symbol: SymbolTable) -> Mapping[Expr, Expr]:
        """Return the symbols whose product with a factor has a known average, with the factor."""
        return {}

    def parts(self, symbol: SymbolTable, slack: Expr) -> tuple[list[KnownMean], Expr]:
        """Return the multiples of quantities with known averages, and the rest.

        Raises `Rejected` if another factor depends on the averaged index.
        """
        own, known = self.list_weighted_symbols(symbol), self.means(symbol)
        stands = {one * factor: sp.Dummy() for one, factor in own.items()}
        counted = sp.expand(slack).xreplace({one: stands[one * factor] / factor for one, factor in own.items()})
        factors, rest = linear(sp.expand(counted), [stands.get(one, one) for one in known])
        for constant in (*factors.values(), rest):
            require_constant(symbol, constant, self.same)
        parts = [KnownMean(factors[stands.get(one, one)], one, mean) for one, mean in known.items()]
        return [part for part in parts if part.factor != 0], rest

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the slack that follows."""
        parts, rest = self.parts(symbol, slack)
        found: Expr = rest + sp.Add(*(part.factor * part.mean for part in parts))
        return found


def require_constant(symbol: SymbolTable, constant: Expr, same: Sequence[Quantity]) -> None:
    """Raise `Rejected` for an expression that depends on the averaged index."""
    others = [each for each in constant.free_symbols if symbol.quantity(each) not in same]
    if others or constant.atoms(ClientSum, Average, Inner, Value, Gradient):
        raise Rejected(f"{constant} differs among the averaged items")
