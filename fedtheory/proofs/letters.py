"""A claim in letters of which SymPy knows what their notions say, and nothing else.

An author may declare of a letter what it need not be: positive, though it can
be zero; of one sign, though it has either.  SymPy simplifies by that.  So a
claim is judged in other letters of the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
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
