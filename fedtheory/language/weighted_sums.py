"""Weighted averages and sums of a quantity over the rounds or local steps of a run, with user-defined weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.kernel.expressions import Expr
from fedtheory.language.quantities.measuring.reductions import reduce_steps
from fedtheory.language.quantities.quantity import Over, RunQuantity, Weights
from fedtheory.language.typesetting import latex
from fedtheory.language.vocabulary import vocabulary


@dataclass(frozen=True)
class _Reduced:
    """Computes an average or a sum of a quantity's entries."""

    of: RunQuantity
    over: Over

    def __call__(self, run: Run) -> Any:
        values = self.of.on(run)
        if values.shape[-1] != 1:
            raise NotApplicable(f"{self.of.name} has one value for each client, and weights are of rounds or steps")
        if self.of.per_round:
            # All rounds may have a value in common.
            values = np.broadcast_to(values, (run.algorithm.rounds, *values.shape[1:]))
        return reduce_steps((self.over,), run, values)


def weighted_mean(
    name: str, of: RunQuantity, weights: Expr, index: sp.Symbol, where: Mapping[sp.Symbol, RunQuantity] | None = None
) -> RunQuantity:
    """Return the average of a quantity over its rounds or local steps t = 0, 1, ..., with non-negative weights.

    `of` has one value for each round or local step, such as `quantities.suboptimality_at_step`; t = tau n + k counts
    the local steps of all rounds.  `weights` is an expression in `index`, which is t, and in symbols of `where`:
    ``weighted_mean("weighted_error", q.suboptimality_at_step, (a + t)**2, t, where)``.
    """
    found, formula = _weigh(name, of, weights, index, where)
    formula = rf"\frac{{{formula}}}{{\sum_{{{latex(index)}}}\left({latex(found.expression)}\right)}}"
    meaning = f"mean of {of.name} with weights {found.expression}, {index} = 0, 1, ..."
    return _reduce(name, formula, meaning, of, Over("iterations", "mean", weights=found))


def weighted_sum(
    name: str, of: RunQuantity, weights: Expr, index: sp.Symbol, where: Mapping[sp.Symbol, RunQuantity] | None = None
) -> RunQuantity:
    """Return the weighted sum of a quantity over its rounds or local steps, with the arguments of `weighted_mean`."""
    found, formula = _weigh(name, of, weights, index, where)
    meaning = f"sum of {of.name} times {found.expression}, {index} = 0, 1, ..."
    return _reduce(name, formula, meaning, of, Over("iterations", "sum", weights=found))


def _weigh(
    name: str, of: RunQuantity, weights: Expr, index: sp.Symbol, where: Mapping[sp.Symbol, RunQuantity] | None
) -> tuple[Weights, str]:
    """Return the checked weights and the LaTeX of the weighted sum; `InputError` unless `of` has entries to add."""
    found = require_weights(name, weights, index, where or {})
    if not isinstance(of, RunQuantity) or of.root or not of.per_round:
        expected = "a quantity with one value for each round or local step, such as quantities.suboptimality_at_step"
        raise InputError(name, f"expected {expected}, got {getattr(of, 'name', of)!r}")
    return found, rf"\sum_{{{latex(index)}}}\left({latex(found.expression)}\right)\,{of.latex}"


def _reduce(name: str, notation: str, meaning: str, of: RunQuantity, over: Over) -> RunQuantity:
    """Return a quantity that reduces the entries of another one, by a term if that one has a term."""
    reduced = None if of.term is None else replace(of.term, over=(*of.term.over, over))
    return RunQuantity(name, notation, meaning, _Reduced(of, over), term=reduced)


def require_weights(name: str, weights: Expr, index: object, where: Mapping[sp.Symbol, object]) -> Weights:
    """Return the checked weights; an `InputError` names an invalid part."""
    require_new_name(name)
    if not isinstance(index, sp.Symbol) or index in where:
        raise InputError(name, f"expected a symbol that `where` does not have as index, got {index!r}")
    weights = sp.sympify(weights)
    known: list[tuple[sp.Symbol, RunQuantity]] = []
    for symbol in sorted(weights.free_symbols - {index}, key=str):
        quantity = where.get(symbol)
        if not isinstance(quantity, RunQuantity):
            raise InputError(name, f"expected {index} and symbols of `where` in the weights, got {symbol}")
        known.append((symbol, quantity))
    return Weights(weights, index, tuple(known))


def require_new_name(name: str) -> None:
    """Raise `InputError` unless a name is valid for a quantity and unused."""
    if not (isinstance(name, str) and name.isidentifier()) or any(e.quantity.name == name for e in vocabulary()):
        raise InputError("name", f"expected a new name such as weighted_error, got {name!r}")
