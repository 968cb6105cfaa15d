"""The entries of an outline: coefficients, their factors, and why these are non-negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel import Context, Term
from fedtheory.kernel.expressions import Expr


@dataclass(frozen=True)
class Entry:
    """A coefficient and the factor that it multiplies."""

    coefficient: Expr
    reason: str
    """The reason why the factor is non-negative, or zero."""
    factor: Expr
    premise: str | None = None
    """Id of the proved claim whose slack is the factor."""


@dataclass(frozen=True)
class Group:
    """The entries whose sum is the slack of one statement."""

    statement: str
    """The statement in LaTeX."""
    entries: tuple[Entry, ...]


def list_entries(terms: Sequence[Term], context: Context) -> tuple[Entry, ...]:
    """Return the terms of a certificate as entries; a client's own number stays inside the average."""
    found = []
    for term in terms:
        reason = term.reason.instantiate(context)
        # A client's own number stays inside the average.
        alone = replace(term, coefficient=sp.S.One)
        stays = term.averaged and context.numbers.differs(sp.sympify(term.coefficient))
        shown = (sp.S.One, term) if stays else (sp.sympify(term.coefficient), alone)
        found.append(Entry(shown[0], reason.name, shown[1].whole(reason)))
    return tuple(found)
