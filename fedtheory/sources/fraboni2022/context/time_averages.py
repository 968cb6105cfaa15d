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
from fedtheory.language.signs import quantities_of_runs
from fedtheory.language.term_relations import create_symbol, replace_by_symbols


@dataclass(frozen=True)
class MeanOfSteps:
    """A time average over the local steps of each update, and the averaged numbers of a local step."""

    quantity: RunQuantity
    at_step: Expr
    where: Mapping[sp.Symbol, Quantity]
    """The quantities of its symbols."""


@cache
def means_of_steps() -> tuple[MeanOfSteps, ...]:
    """Return the time averages over local steps of numbers of a local step, by comparing terms."""
    known = [(one, one.term) for one in quantities_of_runs() if one.term is not None]
    at_step = {replace_by_symbols(term): one for one, term in known if one.per_step and not term.over}
    named = {expression: create_symbol(one) for expression, one in at_step.items()}
    found = []
    for one, term in known:
        written = replace_by_symbols(term).xreplace(named)
        every = {create_symbol(used): used for used in (*at_step.values(), *(of for _, of in term.where))}
        where = {symbol: every[symbol] for symbol in written.free_symbols}
        is_of_numbers = all(isinstance(used, RunQuantity) for used in where.values())
        if term.over == (MEAN_OVER_STEPS,) and is_of_numbers and not written.atoms(Inner, Value):
            found.append(MeanOfSteps(one, written, where))
    return tuple(found)


@cache
def means_of_rounds() -> Mapping[RunQuantity, RunQuantity]:
    """Map each quantity to its average over the updates, if the vocabulary has one."""
    means = ((one.measure, one) for one in quantities_of_runs())
    return {measure.of: one for measure, one in means if isinstance(measure, MeanOverRounds)}
