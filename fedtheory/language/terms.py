"""User-defined quantities at every local step, from an expression of the language of claims."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation import compile_expression
from fedtheory.language.meaning import require_meaning
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import Quantity, RunQuantity, Term
from fedtheory.language.typesetting import latex
from fedtheory.language.weighted import require_new_name


def quantity_at_steps(name: str, term: Expr, where: Mapping[sp.Symbol, Quantity]) -> RunQuantity:
    """A quantity with one value for each local step, or one for each step and client: that of an expression.

    `term` is an expression as in claims with ``place="step"``: inner products
    and objective values stand inside an `Expectation`.  `where` says what its
    symbols stand for.  `weighted_mean` and `weighted_sum` make a number of a run of it:
    ``quantity_at_steps("error", Expectation(norm_sq(x - best)), {x: q.average_iterate, best: q.optimum})``.
    """
    require_new_name(name)
    expression = sp.sympify(term)
    used = sorted(expression.free_symbols, key=str)
    for symbol in used:
        if symbol not in where:
            raise InputError(name, f"expected symbols of `where` in the term, got {symbol}")
    found = Term(expression, tuple((symbol, where[symbol]) for symbol in used))
    try:
        require_meaning(expression, "step")
        compile_expression(expression, dict(found.where))
    except ValueError as reason:
        raise InputError(name, str(reason)) from None
    notation, meaning = latex(expression), f"{expression} at each local step"
    return define(name, notation, meaning, found)
