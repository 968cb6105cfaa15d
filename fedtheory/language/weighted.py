"""Weighted averages and sums of a quantity over the rounds or local steps of a run, with user-defined weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation import Compiled, compile_expression
from fedtheory.language.evaluation.site import whole_run
from fedtheory.language.quantities.quantity import RunQuantity
from fedtheory.language.typesetting import latex
from fedtheory.language.vocabulary import vocabulary


@dataclass(frozen=True)
class _Weighted:
    """Entries of a quantity with weights: an expression in the number of the entry and in quantities of the run."""

    of: RunQuantity
    weights: Expr
    index: sp.Symbol
    where: tuple[tuple[sp.Symbol, RunQuantity], ...]

    @cached_property
    def compiled(self) -> Compiled:
        """The weights, ready for runs; `ValueError` for what the language does not know."""
        counter = RunQuantity("entry", str(self.index), "number of the round or local step, from 0 on", self._numbers)
        return compile_expression(self.weights, {**dict(self.where), self.index: counter})

    def _numbers(self, run: Run) -> Array:
        values = self.of.on(run)
        return run.arithmetic.array(list(range(values.size))).reshape(values.shape)

    def entries_on(self, run: Run) -> tuple[Array, Array]:
        """Weights and values, entry by entry."""
        values = self.of.on(run)
        if values.shape[-1] != 1:
            raise NotApplicable(f"{self.of.name} has one value for each client, and weights are of rounds or steps")
        return (self.compiled(whole_run(run)) + 0 * values).ravel(), values.ravel()


@dataclass(frozen=True)
class _Sum(_Weighted):
    def __call__(self, run: Run) -> Any:
        weights, values = self.entries_on(run)
        return weights @ values


@dataclass(frozen=True)
class _Mean(_Weighted):
    def __call__(self, run: Run) -> Any:
        weights, values = self.entries_on(run)
        if not (weights >= 0).all() or not weights.sum() > 0:
            raise NotApplicable(f"expected weights that are not negative, and not all zero, of {self.weights}")
        return (weights @ values) / weights.sum()


def weighted_mean(
    name: str, of: RunQuantity, weights: Expr, index: sp.Symbol, where: Mapping[sp.Symbol, RunQuantity] | None = None
) -> RunQuantity:
    """The average of a quantity over its rounds or local steps t = 0, 1, ..., with weights that are not negative.

    `of` has one value for each round or local step, such as `quantities.suboptimality_at_step`; t = tau n + k counts
    the local steps of all rounds.  `weights` is an expression in `index`, which is t, and in symbols of `where`:
    ``weighted_mean("weighted_error", q.suboptimality_at_step, (a + t)**2, t, where)``.
    """
    found = _Mean(of, *_parts(name, of, weights, index, where or {}))
    weight, total = latex(found.weights), rf"\sum_{{{latex(index)}}}"
    formula = rf"\frac{{{total}\left({weight}\right)\,{of.latex}}}{{{total}\left({weight}\right)}}"
    return RunQuantity(name, formula, f"mean of {of.name} with weights {found.weights}, {index} = 0, 1, ...", found)


def weighted_sum(
    name: str, of: RunQuantity, weights: Expr, index: sp.Symbol, where: Mapping[sp.Symbol, RunQuantity] | None = None
) -> RunQuantity:
    """The sum of a quantity over its rounds or local steps, times weights; arguments as for `weighted_mean`."""
    found = _Sum(of, *_parts(name, of, weights, index, where or {}))
    formula = rf"\sum_{{{latex(index)}}}\left({latex(found.weights)}\right)\,{of.latex}"
    return RunQuantity(name, formula, f"sum of {of.name} times {found.weights}, {index} = 0, 1, ...", found)


def _parts(
    name: str, of: RunQuantity, weights: Expr, index: sp.Symbol, where: Mapping[sp.Symbol, RunQuantity]
) -> tuple[Expr, sp.Symbol, tuple[tuple[sp.Symbol, RunQuantity], ...]]:
    """The checked weights, index and quantities; `InputError` names what does not fit."""
    require_new_name(name)
    if not isinstance(of, RunQuantity) or of.root or not of.per_round:
        expected = "a quantity with one value for each round or local step, such as quantities.suboptimality_at_step"
        raise InputError(name, f"expected {expected}, got {getattr(of, 'name', of)!r}")
    if not isinstance(index, sp.Symbol) or index in where:
        raise InputError(name, f"expected a symbol that `where` does not have as index, got {index!r}")
    weights = sp.sympify(weights)
    used = [symbol for symbol in sorted(weights.free_symbols, key=str) if symbol != index]
    for symbol in used:
        if not isinstance(where.get(symbol), RunQuantity):
            raise InputError(name, f"expected {index} and symbols of `where` in the weights, got {symbol}")
    return weights, index, tuple((symbol, where[symbol]) for symbol in used)


def require_new_name(name: str) -> None:
    """Raise `InputError` unless a name can be that of a quantity that nothing else is called."""
    if not (isinstance(name, str) and name.isidentifier()) or any(e.quantity.name == name for e in vocabulary()):
        raise InputError("name", f"expected a new name such as weighted_error, got {name!r}")
