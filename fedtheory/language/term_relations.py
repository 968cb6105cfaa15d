"""Relations between quantities that follow from their terms: equal ones, and those that a term defines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

import sympy as sp

from fedtheory.kernel.expressions import Expectation, Expr, has_plain_vectors
from fedtheory.language import quantities
from fedtheory.language.quantities import Quantity, RunQuantity
from fedtheory.language.quantities.measuring.terms import compile_term
from fedtheory.language.quantities.quantity import Term
from fedtheory.language.signs import iterate_run_quantities


@cache
def create_symbol(quantity: Quantity) -> sp.Dummy:
    """Return a symbol that is unique to a quantity, even if others have the same notation."""
    return sp.Dummy(quantity.latex, real=True)


def replace_by_symbols(term: Term, same: Mapping[Quantity, Quantity] | None = None) -> Expr:
    """Return the expression of a term in unique symbols of quantities; `same` maps quantities to equal ones."""
    every = same or {}
    return term.expression.xreplace({symbol: create_symbol(every.get(one, one)) for symbol, one in term.where})


@cache
def _list_vocabulary_ids() -> frozenset[int]:
    """Return the identities of the quantities of the vocabulary, which exist as long as it does."""
    return frozenset(id(getattr(quantities, name)) for name in quantities.__all__)


def is_defined_by_term(quantity: RunQuantity) -> bool:
    """Return whether a number is defined by its term: one of the vocabulary, or computed by a term of its quantities.

    A user can define a quantity whose term contradicts its measure, or whose vectors have names of others.
    """
    term = quantity.term
    if term is None or id(quantity) in _list_vocabulary_ids():
        return term is not None
    is_computed = quantity.measure == compile_term(term) and not quantity.root
    return is_computed and all(id(of) in _list_vocabulary_ids() for _, of in term.where)


def find_by_term(quantity: RunQuantity, same: Mapping[Quantity, Quantity]) -> RunQuantity:
    """Return the quantity of the vocabulary with the same term, given that some quantities are equal.

    Returns the quantity itself if there is none.
    """
    term = quantity.term
    if term is None or id(quantity) in _list_vocabulary_ids() or not is_defined_by_term(quantity):
        return quantity
    found = term.over, _remove_expectations(replace_by_symbols(term, same))
    known = ((one, one.term) for one in iterate_run_quantities() if one.term is not None and one.root == quantity.root)
    alike = (
        one for one, other in known if (other.over, _remove_expectations(replace_by_symbols(other, same))) == found
    )
    return next(alike, quantity)


@lru_cache(maxsize=2**10)
def _remove_expectations(expression: Expr) -> Expr:
    """Return an expression without `Expectation`, which is linear; unchanged if a vector contains one."""
    if not has_plain_vectors(expression):
        return expression
    return sp.expand(expression.replace(Expectation, lambda inside: inside))
