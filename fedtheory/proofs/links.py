"""Why links of certificates hold, next to sums of terms: data from which proof terms are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Term
from fedtheory.kernel.expressions import Expr


@dataclass(frozen=True, kw_only=True)
class Induction:
    """Why a bound holds at every local step."""

    measured: Expr
    """D at the present local step: of iterates, and what stays the same in a round."""
    factor: Expr
    offset: Expr
    terms: Sequence[Term]
    """Terms whose sum is the slack of one step."""
    bound: Expr
    first: Sequence[Term] | None = None
    """Terms whose sum is the slack of ``D_1 <= bound(1)``, if the step is used from k = 1 on only."""
    start: Sequence[Term] = ()
    """Terms whose sum is the slack of ``D_0 <= bound(0)``."""
    base: Expr | None = None
    """A number from one on, whose k-th power occurs in the bound; elsewhere that power is `induction.POWER`."""


@dataclass(frozen=True, kw_only=True)
class Squared:
    """Why a relation holds: it says that the square of a length is not larger than that of a bound on it."""

    length: Expr
    bound: Expr
    terms: Sequence[Term]
    """Terms whose sum is the slack of ``length <= bound``."""


@dataclass(frozen=True)
class Nonnegative:
    """A polynomial in the symbols of a proof that is not negative, linear in what they stand for."""

    slack: Expr
    terms: Sequence[Term]
    """Terms whose sum it is."""


@dataclass(frozen=True)
class CauchySchwarz:
    """``|u|^2 |v|^2 - <u, v>^2``, by the symbols of the three."""

    left_sq: sp.Symbol
    right_sq: sp.Symbol
    inner: sp.Symbol

    @property
    def symbols(self) -> tuple[sp.Symbol, sp.Symbol, sp.Symbol]:
        """All three."""
        return self.left_sq, self.right_sq, self.inner

    @property
    def slack(self) -> Expr:
        """Return the non-negative expression."""
        return self.left_sq * self.right_sq - self.inner**2


@dataclass(frozen=True)
class Product:
    """A number times facts, each of which is not negative."""

    coefficient: Expr
    facts: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Products:
    """Why a relation holds: its slack, times facts that it is divided by, is a sum of products of facts."""

    scalars: Mapping[sp.Symbol, Expr]
    """Meanings of the proof's symbols: inner products, norms and differences of values."""
    facts: Mapping[str, Nonnegative | CauchySchwarz]
    divided_by: Sequence[str] = ()
    parts: Sequence[Product]


@dataclass(frozen=True)
class Positive:
    """Why a number is larger than another one: the difference is positive by the signs of its symbols."""


@dataclass(frozen=True)
class PrefixSum:
    """Why a sum of numbers over the past local steps is what it is: it begins with zero, and grows by its members."""
