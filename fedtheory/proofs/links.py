"""Kinds of links of certificates other than sums of terms: data from which proof terms are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Term
from fedtheory.kernel.expressions import Expr


@dataclass(frozen=True, kw_only=True)
class Induction:
    """A proof of a bound at every local step by induction."""

    kind: ClassVar[str] = "induction"
    measured: Expr
    """The distance D at the present local step, in iterates and vectors that are fixed in a round."""
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
    """A number of at least one, whose k-th power occurs in the bound.

    Other parts write `induction.POWER` for this power.
    """


@dataclass(frozen=True, kw_only=True)
class Squared:
    """A proof that the square of a norm is at most the square of a bound on it."""

    kind: ClassVar[str] = "squared"
    length: Expr
    bound: Expr
    terms: Sequence[Term]
    """Terms whose sum is the slack of ``length <= bound``."""


@dataclass(frozen=True)
class Nonnegative:
    """A non-negative polynomial in a proof's symbols, linear in the inner products and norms that they stand for."""

    kind: ClassVar[str] = "shown"
    slack: Expr
    terms: Sequence[Term]
    """Terms whose sum is the polynomial."""


@dataclass(frozen=True)
class CauchySchwarz:
    """``|u|^2 |v|^2 - <u, v>^2``, by the symbols of the three."""

    kind: ClassVar[str] = "Cauchy-Schwarz"
    left_sq: sp.Symbol
    right_sq: sp.Symbol
    inner: sp.Symbol

    @property
    def symbols(self) -> tuple[sp.Symbol, sp.Symbol, sp.Symbol]:
        """The three symbols."""
        return self.left_sq, self.right_sq, self.inner

    @property
    def slack(self) -> Expr:
        """Return the non-negative expression."""
        return self.left_sq * self.right_sq - self.inner**2


@dataclass(frozen=True)
class Product:
    """A number times non-negative facts."""

    kind: ClassVar[str] = "product"
    coefficient: Expr
    facts: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Products:
    """A proof of a relation between quotients: its slack, times denominators, is a sum of products of facts."""

    kind: ClassVar[str] = "products"
    scalars: Mapping[sp.Symbol, Expr]
    """Meanings of the proof's symbols: inner products, norms and differences of values."""
    facts: Mapping[str, Nonnegative | CauchySchwarz]
    divided_by: Sequence[str] = ()
    parts: Sequence[Product]


@dataclass(frozen=True)
class Positive:
    """A proof of a strict inequality: the difference is positive by the signs of its symbols."""

    kind: ClassVar[str] = "positive"


@dataclass(frozen=True)
class PrefixSum:
    """A proof of the value of a sum over past local steps: it is zero at first, and increases by its summands."""

    kind: ClassVar[str] = "total of the past"
