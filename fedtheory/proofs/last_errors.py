"""Derives a bound on the error of the last of K iterates from a bound on each error by the previous one.

If E F(xbar') <= E F(xbar) + b at every local step, the last error is at most that after step j plus (K - j) b, and
so at most the average error over the steps j = 1 .. K plus (K - 1) b/2.

If e' <= q e + b for the errors e = E F(xbar) - F*, with 0 <= q <= 1 and b >= 0, the last one is at most
q^K e + (1 + q + .. + q^(K-1)) b with the initial error as e, and 1 - q times the sum of these powers is at most 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expectation, Expr, Value
from fedtheory.kernel.quotients import is_zero, linear
from fedtheory.language import quantities as q
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import NUMBERS, ROUNDS, SymbolTable, power_of


@dataclass(frozen=True)
class LastOfFalling(Derived):
    """A bound on the value after each local step by the previous one.

    It gives the last error from the average error.
    """

    kind = "last of falling errors"
    label = "a proved claim that errors fall, for the last model"
    needs = ROUNDS
    place = "step"
    keeps_equations = False

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the slack that follows."""
        kept, added = _read_contraction(symbol, slack)
        if kept != 1:
            raise Rejected("expected E F(xbar') <= E F(xbar) + b at every local step")
        return (
            symbol(q.average_suboptimality) - symbol(q.final_suboptimality) + added * (count_iterations(symbol) - 1) / 2
        )


@dataclass(frozen=True)
class LastOfContracting(Derived):
    """A bound on the error after each local step by a multiple of the previous one; it gives the last error."""

    kind = "last of contracting errors"
    label = "a proved claim that errors contract, for the last model"
    needs = ROUNDS
    place = "step"
    keeps_equations = False

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the slack that follows."""
        factor, added = _read_contraction(symbol, slack)
        last = power_of(factor, count_iterations(symbol)) * symbol(q.initial_gap) - symbol(q.final_suboptimality)
        return (1 - factor) * last + added

    def requires(self, symbol: SymbolTable, slack: Expr) -> tuple[Expr, ...]:
        """Require that the factor lies between zero and one, and that the added number is non-negative."""
        factor, added = _read_contraction(symbol, slack)
        return (factor, 1 - factor, added)


def _read_contraction(symbol: SymbolTable, slack: Expr) -> tuple[Expr, Expr]:
    """Return q and b of a relation e' <= q e + b between expected errors; raise `Rejected` for other relations."""
    names = now, later, least = sp.symbols("now later least", cls=sp.Dummy)
    models: Sequence[q.VectorQuantity] = (q.average_iterate, q.next_average_iterate, q.optimum)
    found = slack
    for model, name in zip(models, names, strict=True):
        value = Value(symbol(q.objective), symbol(model))
        found = found.xreplace({Expectation(value): name, value: name})
    # The expectation of a sum is the sum of expectations.
    found = found.replace(
        Expectation, lambda inside: inside if inside.free_symbols & set(names) else Expectation(inside)
    )
    shares, added = linear(sp.expand(found), names)
    factor = shares[now]
    if shares[later] != -1 or not is_zero(shares[least] - (1 - factor)):
        raise Rejected("expected a bound on the error after a local step by that before it")
    for number in (factor, added):
        own = [one for one in number.free_symbols if symbol.quantity(one) not in NUMBERS]
        if own or number.atoms(sp.Function):
            raise Rejected(f"expected numbers that are the same at every local step, got {number}")
    return factor, added


def count_iterations(symbol: SymbolTable) -> Expr:
    """Return the number of local steps of a run: K, or tau T."""
    known = symbol.has(q.iterations)
    counted: Expr = symbol(q.iterations) if known else symbol(q.local_steps) * symbol(q.rounds)
    return counted
