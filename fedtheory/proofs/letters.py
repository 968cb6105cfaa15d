"""A claim in letters of which SymPy knows what their notions say, and nothing else.

An author may declare of a letter what it need not be: positive, though it can
be zero; of one sign, though it has either.  SymPy simplifies by that.  So a
claim is judged in other letters of the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Notion
from fedtheory.proofs.numbers import NONNEGATIVE, POSITIVE, letters_of


@lru_cache(maxsize=2**10)
def in_plain_letters(claim: Claim) -> Claim:
    """The same claim; `Rejected` where its letters are ambiguous."""
    letters_of(claim)
    known = {**claim.where, **claim.notation}
    plain = {symbol: _plain(symbol, notion) for symbol, notion in known.items()}
    plain |= {symbol: _varied(symbol, values) for symbol, values in claim.for_all.items()}
    taken = [letter.name for letter in plain]
    twice = sorted({name for name in taken if taken.count(name) > 1})
    if twice:
        raise Rejected(f"two letters are called {twice[0]}")
    relations = [relation.mapped(lambda side: side.xreplace(plain)) for relation in claim.relations]
    return replace(
        claim,
        lhs=None,
        rhs=None,
        chain=(),
        also=tuple(relations),
        where={plain[symbol]: notion for symbol, notion in known.items()},
        for_all={plain[symbol]: values for symbol, values in claim.for_all.items()},
        conditions=tuple(_condition(condition, plain) for condition in claim.conditions),
    )


def letters_for(claim: Claim, premise: Claim) -> dict[sp.Symbol, sp.Symbol]:
    """New letters for a premise, with which it says the same: those of a claim for the same quantities.

    Both are in plain letters.  A letter of the premise alone keeps its name unless the claim uses it.  `Rejected` where
    two letters of the premise would become one.
    """
    mine = letters_of(claim)
    known = {**premise.where, **premise.notation}
    shared = {symbol: mine.known[notion.name] for symbol, notion in known.items() if mine.has(notion)}
    taken = mine.known_symbols | {symbol for symbol in known if symbol not in shared} | premise.for_all.keys()
    names = {symbol.name for symbol in taken} | {symbol.name for symbol in claim.for_all}
    change = {symbol: letter for symbol, letter in shared.items() if symbol != letter}
    for symbol, notion in known.items():
        if symbol not in shared and symbol in mine.known_symbols:
            change[symbol] = _plain(sp.Symbol(_free(symbol.name, names)), notion)
            names.add(change[symbol].name)
    renamed = [change.get(symbol, symbol) for symbol in (*known, *premise.for_all)]
    if len(set(renamed)) < len(renamed):
        raise Rejected(f"two letters of {premise.id} would be called the same")
    return change


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    return name


def in_letters(claim: Claim, letters: Mapping[sp.Symbol, sp.Symbol]) -> Claim:
    """A claim in plain letters, with other letters for some: it says the same."""
    if not letters:
        return claim
    change = dict(letters)
    return replace(
        claim,
        lhs=None,
        rhs=None,
        chain=(),
        also=tuple(relation.mapped(lambda side: side.xreplace(change)) for relation in claim.relations),
        where={change.get(symbol, symbol): notion for symbol, notion in {**claim.where, **claim.notation}.items()},
        conditions=tuple(_condition(condition, change) for condition in claim.conditions),
    )


def _plain(symbol: sp.Symbol, notion: Notion) -> sp.Symbol:
    if notion in POSITIVE:
        return sp.Symbol(symbol.name, positive=True)
    if notion is q.local_step_index:
        return sp.Symbol(symbol.name, nonnegative=True, integer=True)
    return sp.Symbol(symbol.name, nonnegative=True) if notion in NONNEGATIVE else sp.Symbol(symbol.name, real=True)


def _varied(symbol: sp.Symbol, values: Sequence[Expr]) -> sp.Symbol:
    """A letter under a quantifier, of which is known what all of its values are."""
    kinds = ("integer", "positive", "nonnegative")
    known = {kind: all(getattr(sp.sympify(value), f"is_{kind}") for value in values) or None for kind in kinds}
    return sp.Symbol(symbol.name, real=True, **known)


def _condition(condition: Expr, plain: dict[sp.Symbol, sp.Symbol]) -> Expr:
    """A relation in other letters, which says as much, also where SymPy knows that it holds."""
    if not isinstance(condition, sp.Rel):
        return condition
    return condition.func(*(side.xreplace(plain) for side in condition.args), evaluate=False)
