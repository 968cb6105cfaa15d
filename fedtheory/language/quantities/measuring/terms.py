"""Quantities that an expression of the language of claims defines at every local step, and computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expr
from fedtheory.language.quantities.measuring.expectations import mean_over_steps, measure_at_each_step
from fedtheory.language.quantities.quantity import Quantity, RunQuantity, Term, per_round, per_step, symbol_of


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


def evaluator_of(term: Term) -> Callable[[Run], Array]:
    """Return the function that computes a term on a run: (N, K, 1 or M), or (N, 1, 1 or M) for a mean over steps."""
    value = ValueAtStep(term)
    return mean_over_steps(value) if term.steps == "mean" else measure_at_each_step(value)


def term_at_steps(expression: Expr, *of: Quantity) -> Term:
    """Define a value at each local step by an expression in the symbols of some quantities."""
    return Term(expression, _used(expression, of))


def mean_term(expression: Expr, *of: Quantity) -> Term:
    """Define a mean over the local steps of each round by an expression in the symbols of some quantities."""
    return Term(expression, _used(expression, of), "mean")


def _used(expression: Expr, of: Iterable[Quantity]) -> tuple[tuple[sp.Symbol, Quantity], ...]:
    """Pair the symbols of an expression with their quantities."""
    known: dict[sp.Symbol, Quantity] = {}
    for one in of:
        # Two quantities in one notation would be one symbol, and a term would mean either.
        assert known.setdefault(symbol_of(one), one) is one, f"{one.name} has the notation of another quantity"
    return tuple((symbol, known[symbol]) for symbol in sorted(expression.free_symbols, key=str))


def define_at_steps(name: str, notation: str, meaning: str, term: Term) -> RunQuantity:
    """A quantity with a value for each local step, which its term defines and computes."""
    return per_step(name, notation, meaning, evaluator_of(term), term=term)


def define_mean_over_steps(name: str, notation: str, meaning: str, term: Term) -> RunQuantity:
    """A quantity with a value for each round, which its term defines and computes."""
    return per_round(name, notation, meaning, evaluator_of(term), term=term)
