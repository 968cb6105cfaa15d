"""Proof terms: each one proves that an expression is zero, non-negative, or positive, in a context."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import sympy as sp

from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.words import explain

if TYPE_CHECKING:
    from fedtheory.proofs.terms.context import TermContext

Formula = Annotated[Any, "formula"]
"""A SymPy expression in the symbols of the context."""
Condition = Annotated[Any, "condition"]
"""An ordering of two such expressions, or an equation."""
Variable = Annotated[sp.Symbol, "variable"]
"""A symbol that a term declares."""


class ProofTerm(ABC):
    """One rule of inference with its arguments."""

    rule: ClassVar[str]
    """The name of the rule in documents."""

    @abstractmethod
    def check(self, context: TermContext) -> Proved:
        """Infer the conclusion of the term in a context; raise `Rejected` if it proves nothing."""

    def __str__(self) -> str:
        body = getattr(self, "body", None)
        return explain(self) if body is None else f"{explain(self)}: {body}"


@dataclass(frozen=True)
class Weighted:
    """A multiple of the conclusion of a term."""

    coefficient: Formula
    term: ProofTerm


def parts_of_term(term: ProofTerm) -> Iterator[ProofTerm]:
    """List the parts of a rule, in the order of its fields."""
    for one in fields(term):  # type: ignore[arg-type]
        yield from _list_terms(getattr(term, one.name))


def _list_terms(value: object) -> Iterator[ProofTerm]:
    """Yield the proof terms inside a value."""
    if isinstance(value, ProofTerm):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _list_terms(one)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from _list_terms(getattr(value, name))


def iterate_parts(term: ProofTerm) -> Iterator[ProofTerm]:
    """Yield a term and all its parts, recursively."""
    left = [term]
    while left:
        one = left.pop()
        yield one
        left.extend(parts_of_term(one))
