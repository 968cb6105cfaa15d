"""The formal language of statements and proofs, inside SymPy.

Vectors are formal SymPy expressions of degree one in vector symbols, such as
``x - eta*g``.  Scalars are made from them by `inner`, `norm_sq` and `Value`;
`Average` runs over clients and `Expectation` over all randomness.  The
classes are only syntax: `fedtheory.language.evaluation` computes their values on a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sympy as sp

from fedtheory.kernel.work import spend

Expr = Any
"""A SymPy expression (SymPy ships no complete types)."""
Symbol = sp.Symbol
"""Symbol of a number, a vector or an objective."""
ZERO, ONE = sp.S.Zero, sp.S.One
_LOOK = 10
"""Units of work to visit a part of an expression."""
_STRIDE = 100
"""Number of visited parts whose work is counted together."""


class Rejected(Exception):
    """An expression or a step of a certificate is outside the kernel's language, or does not follow.

    The arguments are parts of the message, which is assembled when it is displayed: printing takes longer than
    rejecting.
    """

    def __str__(self) -> str:
        return "".join(map(str, self.args))


class Inner(sp.Function):  # type: ignore[misc]
    """``<u, v>`` of two vectors; ``|u|^2`` if both are equal."""

    nargs = 2


class Gradient(sp.Function):  # type: ignore[misc]
    """Gradient of an objective at a point: a vector."""

    nargs = 2


class SampledGradient(sp.Function):  # type: ignore[misc]
    """Stochastic gradient of a client's objective at a point, for the client's present sample: a vector.

    It occurs in definitions of quantities; the kernel does not admit it.
    """

    nargs = 2


class Value(sp.Function):  # type: ignore[misc]
    """Value of an objective at a point: a scalar."""

    nargs = 2


class Average(sp.Function):  # type: ignore[misc]
    """Average over clients with the client weights p_i, of a scalar or a vector that depends on the client."""

    nargs = 1


class ClientSum(sp.Function):  # type: ignore[misc]
    """Sum over clients, without weights, of a scalar or a vector that depends on the client."""

    nargs = 1


class Expectation(sp.Function):  # type: ignore[misc]
    """Expectation over all randomness, of a scalar or a vector.

    At local steps its argument is linear in inner products and function
    values; over the outcomes of a round, where it is conditional on the
    model at the start of the round, the argument is arbitrary.
    """

    nargs = 1


class LocalSum(sp.Function):  # type: ignore[misc]
    """Sum over a client's local steps of one round, of a scalar or a vector."""

    nargs = 1


class PastSum(sp.Function):  # type: ignore[misc]
    """Sum over the local steps of a round up to and including the present one, of a scalar or a vector."""

    nargs = 1


class Selected(sp.Function):  # type: ignore[misc]
    """Sum over clients of a vector, with the random weights of the round's participants."""

    nargs = 1


def inner(left: Expr, right: Expr) -> Expr:
    """``<left, right>``."""
    return Inner(*sorted((sp.sympify(left), sp.sympify(right)), key=sp.default_sort_key))


def norm_sq(vector: Expr) -> Expr:
    """``|vector|^2``."""
    return Inner(vector, vector)


def is_length(expression: Expr) -> bool:
    """Return whether a scalar is the norm of a vector, ``sqrt(norm_sq(vector))``."""
    is_root = expression.is_Pow and expression.exp == sp.Rational(1, 2) and isinstance(expression.base, Inner)
    return bool(is_root and expression.base.args[0] == expression.base.args[1])


def has_plain_vectors(expression: Expr) -> bool:
    """Return whether no vector contains an expectation or a stochastic gradient.

    Only then may an `Expectation` be omitted in a statement where every inner product and value has one.
    """
    inside = parts_of(expression, Inner, Value, Gradient)
    return not parts_of(expression, SampledGradient) and not any(parts_of(part, Expectation) for part in inside)


def parts_of(expression: Expr, *kinds: type) -> set[Expr]:
    """Return the parts of the given classes in an expression, which may be one of them itself."""
    return {part for part in subexpressions(expression) if isinstance(part, kinds)}


def subexpressions(expression: Expr) -> Iterator[Expr]:
    """Yield an expression and all its parts; a part comes before its own parts."""
    left, looked = [expression], 0
    while left:
        part = left.pop()
        looked += 1
        if not looked % _STRIDE:
            spend(_STRIDE * _LOOK)
        yield part
        left.extend(part.args)
    spend(looked % _STRIDE * _LOOK)


def factors(product: Expr) -> Sequence[Expr]:
    """Return the factors of a product; anything else is its only factor."""
    return tuple(sp.Mul.make_args(product))


def product_of(parts: Iterable[Expr]) -> Expr:
    """Return the product of factors, one if there are none."""
    return sp.Mul(*parts)


def total(parts: Iterable[Expr]) -> Expr:
    """Return the sum of parts, zero if there are none."""
    return sp.Add(*parts)


# Conditions that are orderings of two numbers.


def is_ordering(condition: Expr) -> bool:
    """Return whether a condition is one of <, <=, > and >=."""
    return isinstance(condition, sp.Le | sp.Lt | sp.Ge | sp.Gt)


def ends(condition: Expr) -> tuple[Expr, Expr]:
    """Return the smaller side, and the larger one."""
    ascending = isinstance(condition, sp.Le | sp.Lt)
    return (condition.lhs, condition.rhs) if ascending else (condition.rhs, condition.lhs)


def slack(condition: Expr) -> Expr:
    """Return the slack of a condition (<, <=, > or >=): negative if the condition fails."""
    smaller, larger = ends(condition)
    return larger - smaller
