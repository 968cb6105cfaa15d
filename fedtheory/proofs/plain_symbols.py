"""Rewrites a claim in plain symbols, whose SymPy assumptions follow from their quantities.

An author may declare wrong assumptions for a symbol: positive, although it can
be zero, or a sign, although it has either.  SymPy simplifies accordingly.  Hence a
claim is checked in new symbols with the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.numbers import NONNEGATIVE, POSITIVE, symbols_of
from fedtheory.proofs.run_terms import rewrite, unfold_terms, unused_name


@lru_cache(maxsize=2**10)
def use_plain_symbols(claim: Claim) -> Claim:
    """Unfold the quantities that terms define in a claim; raise `Rejected` if its symbols are ambiguous."""
    symbols_of(claim)
    claim = unfold_terms(claim)
    known = {**claim.where, **claim.notation}
    plain = {symbol: _make_plain(symbol, quantity) for symbol, quantity in known.items()}
    plain |= {symbol: _declare_varied(symbol, values) for symbol, values in claim.for_all.items()}
    taken = [own.name for own in plain]
    twice = sorted({name for name in taken if taken.count(name) > 1})
    if twice:
        raise Rejected(f"two symbols have the name {twice[0]}")
    where = {plain[symbol]: quantity for symbol, quantity in known.items()}
    for_all = {plain[symbol]: values for symbol, values in claim.for_all.items()}
    return rewrite(claim, plain, where, for_all=for_all)


def match_symbols(claim: Claim, premise: Claim) -> dict[sp.Symbol, sp.Symbol]:
    """Return symbols for a premise that leave its statement unchanged: those of a claim for the same quantities.

    Both are in plain symbols.  A symbol of the premise alone keeps its name unless the claim uses it.
    """
    mine = symbols_of(claim)
    known = {**premise.where, **premise.notation}
    shared = {symbol: mine.known[quantity.name] for symbol, quantity in known.items() if mine.has(quantity)}
    taken = mine.known_symbols | {symbol for symbol in known if symbol not in shared} | premise.for_all.keys()
    names = {symbol.name for symbol in taken} | {symbol.name for symbol in claim.for_all}
    change = {symbol: own for symbol, own in shared.items() if symbol != own}
    for symbol, quantity in known.items():
        if symbol not in shared and symbol in mine.known_symbols:
            change[symbol] = _make_plain(sp.Symbol(unused_name(symbol.name, names)), quantity)
            names.add(change[symbol].name)
    return change


def rename_symbols(claim: Claim, symbols: Mapping[sp.Symbol, sp.Symbol]) -> Claim:
    """Return a claim in plain symbols with some symbols renamed; its statement is unchanged."""
    if not symbols:
        return claim
    known = {**claim.where, **claim.notation}
    return rewrite(claim, symbols, {symbols.get(symbol, symbol): quantity for symbol, quantity in known.items()})


def _make_plain(symbol: sp.Symbol, quantity: Quantity) -> sp.Symbol:
    """Return a symbol with the sign of the quantity."""
    if quantity in POSITIVE:
        return sp.Symbol(symbol.name, positive=True)
    if quantity is q.local_step_index:
        return sp.Symbol(symbol.name, nonnegative=True, integer=True)
    return sp.Symbol(symbol.name, nonnegative=True) if quantity in NONNEGATIVE else sp.Symbol(symbol.name, real=True)


def _declare_varied(symbol: sp.Symbol, values: Sequence[Expr]) -> sp.Symbol:
    """Return a symbol under a quantifier, with the assumptions that all of its values satisfy."""
    kinds = ("integer", "positive", "nonnegative")
    known = {kind: all(getattr(sp.sympify(value), f"is_{kind}") for value in values) or None for kind in kinds}
    return sp.Symbol(symbol.name, real=True, **known)
