"""Pairs of a quantity and its time average, found by their terms; trusted like the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import sympy as sp

from fedtheory.kernel.expressions import Expr, Inner, Value
from fedtheory.language.quantities import Quantity, RunQuantity
from fedtheory.language.quantities.measuring.reductions import MEAN_OVER_STEPS
from fedtheory.language.quantities.quantity import MeanOverRounds
from fedtheory.language.signs import iterate_run_quantities
from fedtheory.language.term_relations import create_symbol, replace_by_symbols


@dataclass(frozen=True)
class StepAverage:
    """A time average over the local steps of each update, and the averaged numbers of a local step."""

    quantity: RunQuantity
    at_step: Expr
    where: Mapping[sp.Symbol, Quantity]
    """The quantities of its symbols."""


@cache
def list_step_averages() -> tuple[StepAverage, ...]:
    """Return the time averages over local steps of numbers of a local step, by comparing terms."""
    terms = [(quantity, quantity.term) for quantity in iterate_run_quantities() if quantity.term is not None]
    at_step = {replace_by_symbols(term): quantity for quantity, term in terms if quantity.per_step and not term.over}
    symbols = {expression: create_symbol(quantity) for expression, quantity in at_step.items()}
    found = []
    for quantity, term in terms:
        written = replace_by_symbols(term).xreplace(symbols)
        every = {create_symbol(used): used for used in (*at_step.values(), *(of for _, of in term.where))}
        where = {symbol: every[symbol] for symbol in written.free_symbols}
        has_only_numbers = all(isinstance(used, RunQuantity) for used in where.values())
        if term.over == (MEAN_OVER_STEPS,) and has_only_numbers and not written.atoms(Inner, Value):
            found.append(StepAverage(quantity, written, where))
    return tuple(found)


@cache
def map_round_averages() -> Mapping[RunQuantity, RunQuantity]:
    """Map each quantity to its average over the updates, if the vocabulary has one."""
    measures = ((quantity.measure, quantity) for quantity in iterate_run_quantities())
    return {measure.of: quantity for measure, quantity in measures if isinstance(measure, MeanOverRounds)}
