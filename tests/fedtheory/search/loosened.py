"""Loosened variants of proved bounds about runs, which a search must prove from the originals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from fedtheory import Claim
from fedtheory import quantities as q
from fedtheory.kernel import is_ordering
from fedtheory.language.claim import Relation
from fedtheory.language.registry import all_claims
from fedtheory.search.premises import PARAMETERS


def proved_bounds() -> list[Claim]:
    """Return every proved bound about a run that is one inequality."""
    return [
        claim
        for claim in all_claims().values()
        if (claim.verdict, claim.place, claim.kind, claim.rate) == ("proved", "run", "bound", None)
        and len(claim.relations) == 1
        and claim.relations[0].operator in ("<=", ">=")
    ]


def variants(claim: Claim) -> Iterator[tuple[str, Claim]]:
    """Yield user-defined claims that follow from a claim, each with a description of the change."""
    _, larger = claim.relations[0].ordered
    for how, other in _loosen(larger, claim):
        yield how, restate_as_own(claim, other)
    eta = _symbol(claim, q.local_step_size)
    halved = [type(c)(c.lhs, c.rhs / 2, evaluate=False) if _binds(c, eta) else c for c in claim.conditions]
    if halved != list(claim.conditions):
        yield "half of the step size", restate_as_own(claim, larger, halved)


def _loosen(larger: Any, claim: Claim) -> Iterator[tuple[str, Any]]:
    """Yield larger right sides, by the signs of numbers or by the conditions."""
    if all(claim.notation.get(symbol) in PARAMETERS for symbol in larger.free_symbols):
        yield "doubled", 2 * larger
    yield "written out", sp.expand(larger)
    tau, clients = _symbol(claim, q.local_steps), _symbol(claim, q.clients)
    if tau is not None and larger.has(tau - 1):
        # A substitution would also make tau + 2 of tau + 1.
        yield "tau - 1 becomes tau", larger.xreplace({tau - 1: tau})
    if clients is not None and larger.has(1 - 1 / clients):
        yield "1 - 1/M becomes 1", larger.xreplace({1 - 1 / clients: sp.S.One})
    shared = sorted((s for s, n in claim.notation.items() if n in PARAMETERS and s.is_positive), key=str)[:2]
    if shared:
        yield "one more term", larger + sp.Mul(*shared)
    if len(shared) == 2:
        yield "one more square", larger + sp.expand((shared[0] - shared[1]) ** 2)
    eta, smoothness = _symbol(claim, q.local_step_size), _symbol(claim, q.smoothness)
    if eta and smoothness and any(_binds(c, eta) and c.rhs == 1 / smoothness for c in claim.conditions):
        terms = sp.Add.make_args(sp.expand(larger))
        loose = sp.Add(*(_without_step(term, eta, smoothness) for term in terms))
        if loose != sp.expand(larger):
            yield "L eta becomes 1", loose


def _symbol(claim: Claim, quantity: q.RunQuantity) -> sp.Symbol | None:
    return next((symbol for symbol, each in claim.notation.items() if each is quantity), None)


def _without_step(term: Any, eta: sp.Symbol, smoothness: sp.Symbol) -> Any:
    is_higher = term.is_polynomial(eta) and sp.degree(term, eta) >= 2
    return term / (smoothness * eta) if is_higher and term.has(smoothness) else term


def _binds(condition: Any, eta: sp.Symbol | None) -> bool:
    return is_ordering(condition) and eta is not None and condition.lhs == eta


def restate_as_own(claim: Claim, larger: Any, conditions: Sequence[Any] | None = None) -> Claim:
    """Return a claim with another larger side, as a user-defined one."""
    smaller, _ = claim.relations[0].ordered
    return replace(
        claim,
        id="mine:variant",
        lhs=None,
        rhs=None,
        chain=(),
        also=(Relation(smaller, "<=", larger),),
        where={**claim.where, **claim.notation},
        conditions=claim.conditions if conditions is None else tuple(conditions),
        is_published=False,
        **dict.fromkeys(("verdict", "corrects", "sharpens")),
    )
