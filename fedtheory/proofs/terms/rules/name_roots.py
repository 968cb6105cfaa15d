"""Rule: symbols for square roots of numbers that are proved non-negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from fedtheory.kernel import Numbers
from fedtheory.kernel.admitted import list_denominator_factors
from fedtheory.proofs.numbers import sides_of
from fedtheory.proofs.roots import Root, add_root_symbols, positive, require_own_symbols, rewrite_conditions
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm, Variable


@dataclass(frozen=True)
class NamedRoot:
    """A symbol for the square root of a number."""

    symbol: Variable
    square: Formula
    least: Formula
    """A non-negative rational lower bound of the number."""
    body: ProofTerm
    """The proof, on the whole run, that the number is at least this bound."""

    @property
    def root(self) -> Root:
        """The symbol with its radicand."""
        return Root(self.symbol, self.square, (), self.least)


@dataclass(frozen=True)
class NameRoots(ProofTerm):
    """A proof in which symbols stand for square roots."""

    rule: ClassVar[str] = "name roots"
    roots: tuple[NamedRoot, ...]
    body: ProofTerm

    def check(self, context: TermContext) -> Proved:
        """Check each radicand, then the body with the symbols."""
        roots = [named.root for named in self.roots]
        for named in self.roots:
            check_named(named, roots, context)
        return self.body.check(add_roots_to_context(context, roots))


def check_named(named: NamedRoot, roots: Sequence[Root], context: TermContext) -> None:
    """Check that the symbol of a root has no other meaning, and that the radicand is non-negative."""
    require_own_symbols(context.claim, roots, context.numbers)
    context.numbers.plain(context.require_number(named.square))
    context.require(positive(named.root, context.numbers, context.conditions))
    here = replace(context, place="run", reading="expectation", vectors=None)
    here.require_proof(named.body, named.square - named.least, f"the square of {named.symbol}")


def add_roots_to_context(context: TermContext, roots: Sequence[Root]) -> TermContext:
    """Return a context whose numbers and conditions use the symbols for roots."""
    if not roots:
        return context
    numbers: Numbers = add_root_symbols(roots, context.numbers)
    sides = sides_of(context.claim)
    for root in roots:
        sides = [root.substitute(side) for side in sides]
    # A root in a denominator of the claim may be a factor of it only after it has a symbol.
    numbers = replace(numbers, nonzero=numbers.nonzero | list_denominator_factors(sides))
    named = rewrite_conditions(roots, context.conditions)
    if context.vectors is None:
        return replace(context, numbers=numbers, conditions=tuple(dict.fromkeys((*named, *context.conditions))))
    return replace(context, numbers=numbers, conditions=named, vectors=replace(context.vectors, numbers=numbers))
