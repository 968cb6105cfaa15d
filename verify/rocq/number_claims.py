"""Claims about numbers alone: theorems for all numbers of their signs, whatever run they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import ONE
from fedtheory.proofs.numbers import NUMBERS, numbers_of, symbols_of
from fedtheory.proofs.run_conditions import without_minima
from verify.rocq.numbers import SignProofs
from verify.rocq.refusals import NotExported
from verify.rocq.scalar_vocabulary import Spoken
from verify.rocq.theorem import Binder


def is_of_numbers(claim: Claim, certificate: Combination) -> bool:
    """Whether a claim follows from the signs of its numbers and its conditions, each the same in all of a run."""
    symbols = symbols_of(claim)
    premises = [part.premise for link in certificate.links for part in link]
    from_signs = all(premise is ONE or isinstance(premise, sp.Rel) for premise in premises)
    used = used_symbols(claim) - {*claim.for_all}
    return from_signs and claim.place == "run" and all(symbols.quantity(symbol) in NUMBERS for symbol in used)


def used_symbols(claim: Claim) -> set[sp.Symbol]:
    """All symbols of a claim's relations and conditions."""
    sides = [sp.sympify(side) for one in claim.relations for side in (one.left, one.right)]
    return set(sp.Tuple(*sides, *map(sp.sympify, claim.conditions)).free_symbols)


_MOST_TERMS = 40
"""Largest number of terms whose signs show the sign of a number: with more, Rocq takes too long."""


class NumbersVocabulary(Spoken):
    """The numbers of a claim, which are variables of its theorem."""

    library = ("Space", "Clients", "Objectives", "Normal")

    def __init__(self, claim: Claim, certificate: Combination) -> None:
        """Read the claim's symbols; `NotExported` where its numbers are too long."""
        super().__init__(claim)
        coefficients = [sp.expand(part.coefficient) for link in certificate.links for part in link]
        if sum(len(sp.Add.make_args(one)) for one in coefficients) > _MOST_TERMS:
            raise NotExported(f"the numbers in its certificate have more than {_MOST_TERMS} terms")
        self.claim_symbols = sorted(used_symbols(claim), key=str)
        self.kept = numbers_of(claim)
        each = {symbol: f"each_{n}" for n, symbol in enumerate(claim.for_all, start=1)}
        quantities = {symbol: self.symbols.quantity(symbol) for symbol in self.claim_symbols}
        self.names = {s: quantity.name for s, quantity in quantities.items() if quantity} | each

    @property
    def least(self) -> Sequence[tuple[sp.Symbol, Expr]]:
        """Counts are at least one."""
        return [(s, sp.Integer(self.kept.at_least[s])) for s in self.claim_symbols if s in self.kept.at_least]

    def signs(self, conditions: Sequence[Expr]) -> SignProofs:
        """Facts that proofs of signs may use; a bound by the least of several numbers is one by each of them."""
        plain = [one for one in without_minima(conditions, self.kept) if not one.has(sp.Min)]
        return SignProofs(self.names, tuple(plain), self.least)

    def fact(self, name: str) -> str:
        """A tactic for a fact."""
        return "lra" if name == ONE.name else super().fact(name)

    def ordering(self, premise: Expr, signs: SignProofs) -> str:
        """A tactic for an inequality, which is one of the claim's conditions or follows from signs."""
        return "lra" if premise in signs.conditions else super().ordering(premise, signs)

    def binders(self, _used: set[sp.Symbol]) -> list[Binder]:
        """Every number and its sign."""
        return list(self._binders())

    def _binders(self) -> Iterator[Binder]:
        for symbol in self.claim_symbols:
            name = self.names[symbol]
            yield Binder(name, "R")
            if symbol in self.kept.at_least:
                yield Binder(f"{name}_least", f"{self.kept.at_least[symbol]} <= {name}")
            else:
                maybe_zero = symbol in self.kept.maybe_zero and symbol not in self.kept.divisors
                yield Binder(f"{name}_sign", f"0 {'<=' if maybe_zero else '<'} {name}")
