"""User-defined quantities, given by an expression of the language of claims at every local step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation import compile_expression
from fedtheory.language.meaning import require_meaning
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import Over, Quantity, RunQuantity, Term, Weights
from fedtheory.language.typesetting import latex
from fedtheory.language.weighted_sums import require_new_name, require_weights

Scope = Literal["step", "round", "run"]
"""Whether a quantity has one value for each local step, for each round, or one for the run."""
Reduction = Literal["mean", "sum", "largest", "smallest"]
"""Reductions of the values at local steps to one of a round or of the run."""
_OVER: Mapping[Scope, tuple[Literal["steps", "rounds"], ...]] = {
    "step": (),
    "round": ("steps",),
    "run": ("steps", "rounds"),
}
_WORDS: Mapping[Scope, str] = {
    "step": "at each local step",
    "round": "over the local steps of each round",
    "run": "over the local steps of all rounds",
}
_SIGNS: Mapping[Reduction, str] = {
    "mean": r"\operatorname{mean}",
    "sum": r"\sum",
    "largest": r"\max",
    "smallest": r"\min",
}
Extreme = Literal["largest", "smallest"]


def quantity(
    name: str,
    term: Expr,
    where: Mapping[sp.Symbol, Quantity],
    *,
    over: Scope = "step",
    by: Reduction = "mean",
    weights: Expr | None = None,
    index: sp.Symbol | None = None,
    clients: Extreme | None = None,
) -> RunQuantity:
    """Return a user-defined quantity: an expression at each local step, or its reduction over a round or the run.

    `term` is an expression as in claims with ``place="step"``: inner products and objective values are inside an
    `Expectation`, and `where` maps its symbols to quantities.  With `weights`, an expression in `index` and in symbols
    of `where`, local steps of the run are weighted; `index` is t = tau n + k = 0, 1, ...:
    ``quantity("weighted_error", Expectation(Value(F, x) - Value(F, best)), where, over="run", weights=(a + t)**2,
    index=t)``.  With `clients`, the largest or smallest of the clients' values counts at each local step.
    """
    require_new_name(name)
    extremes = get_args(Extreme)
    if over not in _OVER or by not in _SIGNS or clients not in (None, *extremes):
        expected = f"over= one of {', '.join(_OVER)}, by= one of {', '.join(_SIGNS)}"
        got = f"{over!r}, {by!r} and {clients!r}"
        raise InputError(name, f"expected {expected}, and clients= one of {', '.join(extremes)} or None, got {got}")
    at_step = _build_term_at_step(name, term, where)
    if clients is not None:
        at_step = replace(at_step, over=(Over("clients", clients),))
    if weights is not None:
        return _weigh_steps(name, at_step, by, over, require_weights(name, weights, index, where))
    (notation, meaning), every = _describe(at_step), tuple(Over(one, by) for one in _OVER[over])
    found = replace(at_step, over=(*at_step.over, *every))
    if not every:
        return define(name, notation, f"{meaning} {_WORDS[over]}", found)
    formula = rf"{_SIGNS[by]}_{{{','.join('kt'[: len(every)])}}}\left({notation}\right)"
    return define(name, formula, f"{by} of {meaning} {_WORDS[over]}", found)


def _describe(at_step: Term) -> tuple[str, str]:
    """Return the symbol and the meaning of the values at a local step."""
    notation, meaning = latex(at_step.expression), str(at_step.expression)
    if not at_step.over:
        return notation, meaning
    extreme: Extreme = "largest" if at_step.over[0].by == "largest" else "smallest"
    return rf"{_SIGNS[extreme]}_i\left({notation}\right)", f"{extreme} of the clients' {meaning}"


def _weigh_steps(name: str, at_step: Term, by: Reduction, over: Scope, weights: Weights) -> RunQuantity:
    """Return a weighted average or sum over all local steps of a run."""
    if over != "run" or by not in ("mean", "sum"):
        raise InputError(name, f"weights are for over='run' and by='mean' or 'sum', got {over!r} and {by!r}")
    (notation, meaning), every = _describe(at_step), Over("iterations", by, weights=weights)
    found = replace(at_step, over=(*at_step.over, every))
    weight, total = latex(weights.expression), rf"\sum_{{{latex(weights.index)}}}"
    formula = rf"{total}\left({weight}\right)\left({notation}\right)"
    if by == "mean":
        formula = rf"\frac{{{formula}}}{{{total}\left({weight}\right)}}"
    counted = f"{weights.expression}, {weights.index} = 0, 1, ..."
    return define(name, formula, f"{by} of {meaning} {_WORDS['run']}, with weights {counted}", found)


def quantity_at_steps(name: str, term: Expr, where: Mapping[sp.Symbol, Quantity]) -> RunQuantity:
    """Return a quantity with one value for each local step, or for each step and client, given by an expression.

    `term` and `where` are as for `quantity`; `weighted_mean` and `weighted_sum` reduce it to a number of a run:
    ``quantity_at_steps("error", Expectation(norm_sq(x - best)), {x: q.average_iterate, best: q.optimum})``.
    """
    return quantity(name, term, where)


def _build_term_at_step(name: str, term: Expr, where: Mapping[sp.Symbol, Quantity]) -> Term:
    """Return the term of an expression at each local step; raise `InputError` if it has no value there."""
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
    return found
