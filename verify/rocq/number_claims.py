"""Export claims about numbers only, as theorems for all numbers of the given signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import ONE
from fedtheory.proofs.numbers import NUMBERS, numbers_of, symbols_of
from fedtheory.proofs.run_conditions import split_minima
from verify.rocq.names import list_sides
from verify.rocq.numbers import SignProofs
from verify.rocq.refusals import NotExported
from verify.rocq.scalar_vocabulary import ScalarVocabulary
from verify.rocq.theorem import Binder


def is_of_numbers(claim: Claim, certificate: Combination) -> bool:
    """Return whether a claim follows from conditions and signs of numbers that are constant in a run."""
    symbols = symbols_of(claim)
    premises = [part.premise for link in certificate.links for part in link]
    from_signs = all(premise is ONE or isinstance(premise, sp.Rel) for premise in premises)
    used = list_used_symbols(claim) - {*claim.for_all}
    return from_signs and claim.place == "run" and all(symbols.quantity(symbol) in NUMBERS for symbol in used)


def list_used_symbols(claim: Claim) -> set[sp.Symbol]:
    """Return all symbols of a claim's relations and conditions."""
    return set(sp.Tuple(*list_sides(claim), *claim.conditions).free_symbols)


_MOST_TERMS = 40
"""Largest number of terms in a proof of a sign; with more, Rocq takes too long."""


class NumbersVocabulary(ScalarVocabulary):
    """The numbers of a claim, which are variables of its theorem."""

    library = ("Space", "Clients", "Objectives", "Normal")

    def __init__(self, claim: Claim, certificate: Combination) -> None:
        """Read the claim's symbols; raises `NotExported` if its expressions are too long."""
        super().__init__(claim)
        coefficients = [sp.expand(part.coefficient) for link in certificate.links for part in link]
        if sum(len(sp.Add.make_args(one)) for one in coefficients) > _MOST_TERMS:
            raise NotExported(f"the numbers in its certificate have more than {_MOST_TERMS} terms")
        self.claim_symbols = sorted(list_used_symbols(claim), key=str)
        self.kept = numbers_of(claim)
        each = {symbol: f"each_{n}" for n, symbol in enumerate(claim.for_all, start=1)}
        quantities = {symbol: self.symbols.quantity(symbol) for symbol in self.claim_symbols}
        self.names = {s: quantity.name for s, quantity in quantities.items() if quantity} | each

    @property
    def least(self) -> Sequence[tuple[sp.Symbol, Expr]]:
        """Return lower bounds of counts, which are at least one."""
        return [(s, sp.Integer(self.kept.at_least[s])) for s in self.claim_symbols if s in self.kept.at_least]

    def signs(self, conditions: Sequence[Expr]) -> SignProofs:
        """Return the facts for proofs of signs; a bound by a minimum is split into one bound for each argument."""
        plain = [one for one in split_minima(conditions, self.kept) if not one.has(sp.Min)]
        return SignProofs(self.names, tuple(plain), self.least)

    def fact(self, name: str) -> str:
        """Return a tactic for a fact."""
        return "lra" if name == ONE.name else super().fact(name)

    def ordering(self, premise: Expr, signs: SignProofs) -> str:
        """Return a tactic for an inequality that is one of the claim's conditions or follows from signs."""
        return "lra" if premise in signs.conditions else super().ordering(premise, signs)

    def binders(self, _used: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield every number and its sign as variables and hypotheses."""
        for symbol in self.claim_symbols:
            name = self.names[symbol]
            yield Binder(name, "R")
            if symbol in self.kept.at_least:
                yield Binder(f"{name}_least", f"{self.kept.at_least[symbol]} <= {name}")
            else:
                maybe_zero = symbol in self.kept.maybe_zero and symbol not in self.kept.divisors
                yield Binder(f"{name}_sign", f"0 {'<=' if maybe_zero else '<'} {name}")
