"""Quantities that are defined and computed by an expression of the language of claims at every local step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, read_common_steps
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expr
from fedtheory.language.quantities.measuring.expectations import AtSteps
from fedtheory.language.quantities.measuring.reductions import reduce_steps
from fedtheory.language.quantities.quantity import Over, Quantity, RunQuantity, Term, get_symbol

if TYPE_CHECKING:
    from fedtheory.language.evaluation import Site


@dataclass(frozen=True)
class _ByTerm:
    """A function that evaluates the expression of a term."""

    term: Term

    @cached_property
    def compiled(self) -> Callable[[Site], Array]:
        """The compiled expression; raises `ValueError` for expressions outside the language."""
        # Evaluation imports all quantities, so it is imported when the first run is measured.
        from fedtheory.language.evaluation import compile_expression

        return compile_expression(self.term.expression, dict(self.term.where))


class ValueAtStep(_ByTerm):
    """A term's expression as a function of a frame."""

    def __call__(self, frame: Frame) -> Array:
        """Return the values at a frame, (places, 1, 1 or M)."""
        from fedtheory.language.evaluation import Site

        return self.compiled(Site(frame.run, frame, frame.index, {}, {}))


class InNumbers(_ByTerm):
    """Computes a term in numbers of a run, without simulating further models."""

    def __call__(self, run: Run) -> Any:
        """Compute the quantity from the numbers of a run, on the axes that its reductions leave."""
        from fedtheory.language.evaluation import whole_run

        values = self.compiled(whole_run(run))
        for over in self.term.over:
            values = _repeat_entries(over, run, values)
        found = reduce_steps(self.term.over, run, values)
        is_number = not any(place_of(self.term)) and np.size(found) == 1
        return np.asarray(found).reshape(-1)[0] if is_number else found


def _repeat_entries(over: Over, run: Run, values: Array) -> Array:
    """Repeat a value that rounds or steps share, if a reduction depends on their number."""
    if over.by in ("largest", "smallest", "first", "last", "each", "own") and not over.begin:
        return values
    lengths = list(values.shape)
    if over.index in ("rounds", "windows", "iterations"):
        lengths[0] = run.algorithm.rounds
    if over.index in ("steps", "iterations"):
        lengths[1] = read_common_steps(run)
    return np.broadcast_to(values, lengths)


def compile_term(term: Term) -> AtSteps | InNumbers:
    """Return the function that computes a term on a run.

    It returns (N, K, 1 or M), with axes of length one for the reduced ones, or a number if all are reduced.
    A term in numbers of the run has axes of length one where none of the numbers varies.
    """
    if is_in_numbers(term):
        return InNumbers(term)
    return AtSteps(ValueAtStep(replace(term, over=())), term.over)


def is_in_numbers(term: Term) -> bool:
    """Return whether a term contains only numbers of a run, and no vectors or objectives."""
    return all(isinstance(of, RunQuantity) for _, of in term.where)


def term_at_steps(expression: Expr, *of: Quantity, over: tuple[Over, ...] = ()) -> Term:
    """Define a number by an expression at each local step in the symbols of some quantities."""
    return Term(expression, _pair_used(expression, of), over)


def _pair_used(expression: Expr, of: Iterable[Quantity]) -> tuple[tuple[sp.Symbol, Quantity], ...]:
    known: dict[sp.Symbol, Quantity] = {}
    for one in of:
        # Two quantities with the same notation would be one symbol, and the term would be ambiguous.
        assert known.setdefault(get_symbol(one), one) is one, f"{one.name} has the notation of another quantity"
    return tuple((symbol, known[symbol]) for symbol in sorted(expression.free_symbols, key=str))


def define(name: str, notation: str, meaning: str, term: Term) -> RunQuantity:
    """Return a quantity that is defined and computed by a term."""
    per_round, per_step = place_of(term)
    return RunQuantity(name, notation, meaning, compile_term(term), term=term, per_round=per_round, per_step=per_step)


def place_of(term: Term) -> tuple[bool, bool]:
    """Return whether a term has a value for each round, and whether it has one for each local step."""
    indices = {over.index for over in term.over if over.by != "before"}
    numbers = [of for _, of in term.where if isinstance(of, RunQuantity)]
    has_models = not is_in_numbers(term)
    is_whole = not indices.isdisjoint(("rounds", "windows", "iterations"))
    per_round = not is_whole and (has_models or any(of.per_round for of in numbers))
    per_step = not is_whole and "steps" not in indices and (has_models or any(of.per_step for of in numbers))
    return per_round, per_step


def define_in_numbers(
    name: str, notation: str, meaning: str, expression: Expr, *over: Over, of: Iterable[RunQuantity]
) -> RunQuantity:
    """Return a quantity defined by an expression in the symbols of others, and by reductions of its entries.

    It is a constant if all the others are, and has values of types if one of them has.
    """
    every = tuple(of)
    found = define(name, notation, meaning, term_at_steps(expression, *every, over=over))
    is_constant, of_types = all(one.is_constant for one in every), any(one.of_types for one in every)
    return replace(found, is_constant=is_constant, of_types=of_types)


def reduce_entries(name: str, notation: str, meaning: str, of: RunQuantity, *over: Over) -> RunQuantity:
    """Return a quantity that reduces the entries of another one, over its clients, local steps or rounds."""
    return define_in_numbers(name, notation, meaning, of.symbol, *over, of=[of])
