"""Quantities that an expression of the language of claims defines at every local step, and computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame
from fedtheory.kernel.expressions import Expr
from fedtheory.language.quantities.measuring.expectations import AtSteps
from fedtheory.language.quantities.measuring.reductions import Reduced
from fedtheory.language.quantities.quantity import Over, Quantity, RunQuantity, Term, symbol_of


@dataclass(frozen=True)
class ValueAtStep:
    """A term's expression as a function of a frame."""

    term: Term

    @cached_property
    def compiled(self) -> Callable[[Frame], Array]:
        """The expression, ready for frames; `ValueError` for what the language does not know."""
        # Evaluation knows all quantities, these among them: it is loaded when the first run is measured.
        from fedtheory.language.evaluation import Site, compile_expression

        evaluate = compile_expression(self.term.expression, dict(self.term.where))
        return lambda frame: evaluate(Site(frame.run, frame, frame.index, {}, {}))

    def __call__(self, frame: Frame) -> Array:
        """Return the values at a frame, (places, 1, 1 or M)."""
        return self.compiled(frame)


def evaluator_of(term: Term) -> AtSteps:
    """Return the function that computes a term on a run.

    It returns (N, K, 1 or M), with axes of length one for what `over` runs over, or a number where it runs over all.
    """
    return AtSteps(ValueAtStep(replace(term, over=())), Reduced(term.over))


def term_at_steps(expression: Expr, *of: Quantity, over: tuple[Over, ...] = ()) -> Term:
    """Define a number by an expression at each local step in the symbols of some quantities."""
    return Term(expression, _used(expression, of), over)


def _used(expression: Expr, of: Iterable[Quantity]) -> tuple[tuple[sp.Symbol, Quantity], ...]:
    """Pair the symbols of an expression with their quantities."""
    known: dict[sp.Symbol, Quantity] = {}
    for one in of:
        # Two quantities in one notation would be one symbol, and a term would mean either.
        assert known.setdefault(symbol_of(one), one) is one, f"{one.name} has the notation of another quantity"
    return tuple((symbol, known[symbol]) for symbol in sorted(expression.free_symbols, key=str))


def define(name: str, notation: str, meaning: str, term: Term) -> RunQuantity:
    """A quantity which its term defines and computes."""
    return place_by_term(RunQuantity(name, notation, meaning, evaluator_of(term)), term)


def place_by_term(quantity: RunQuantity, term: Term) -> RunQuantity:
    """A quantity with a term, and with values at the rounds and local steps that the term does not run over."""
    indices = {over.index for over in term.over if over.by != "before"}
    is_whole = not indices.isdisjoint(("rounds", "iterations"))
    per_step = not is_whole and "steps" not in indices
    return replace(quantity, term=term, per_round=not is_whole, per_step=per_step)
