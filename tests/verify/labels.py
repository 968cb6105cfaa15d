"""Which planted errors are known to be true, and which to be false, without a search.

A weakened claim is true where it follows from proved claims: its slack is theirs and something that is not negative.
It is false where it fails on one of the runs that are stored for the parts of the bound that it was planted in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import sympy as sp
from planted import OF_THE_PREMISES, Mutant

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import FedtheoryError
from fedtheory.kernel import Term, assumption, one
from fedtheory.kernel.signs import is_nonnegative
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import claims_of, paper_with
from fedtheory.proofs import Certificate, Combination, Part, certificate_of, examine
from fedtheory.proofs.facts import ONE
from fedtheory.proofs.intervals import Derived
from fedtheory.proofs.numbers import numbers_of
from fedtheory.runfile import parse_run, read_toml
from verify.check import check


def follows(mutant: Mutant, origin: Claim) -> bool:
    """Whether a mutant is true by the proof of the claim in which it was planted, or by those of others."""
    return _is_weaker(mutant.claim, origin) or is_proved(mutant)


def _is_weaker(claim: Claim, origin: Claim) -> bool:
    """Whether the slack of a claim is that of a relation of a proved one, and what is not negative by its signs."""
    if origin.verdict != "proved" or len(claim.relations) != 1:
        return False
    numbers, slack = numbers_of(claim), claim.relations[0].slack
    gained = [sp.expand(slack - relation.slack) for relation in origin.relations if relation.operator != "=="]
    shapes = [shape for rest in gained for shape in (sp.factor(rest), rest)]
    return any(is_nonnegative(shape, numbers, tuple(claim.conditions)) for shape in shapes)


def is_proved(mutant: Mutant) -> bool:
    """Whether a certificate shows that a mutant is true."""
    if len(mutant.claim.relations) != 1 or mutant.kind in OF_THE_PREMISES:
        certificate = certificate_of(mutant.claim.id)
        return certificate is not None and examine(mutant.claim, certificate).verdict == "proved"
    if mutant.claim.relation not in ("<=", ">="):
        return False
    # With its own letters only: a planted one may stand for what the claim has another one for.
    claim = replace(mutant.claim, id="t:mutant", where=_used(mutant.claim))
    return any(_follows(claim, premise, number) for premise, number in _near(mutant.claim))


def _used(claim: Claim) -> dict[sp.Symbol, q.Notion]:
    # Planted letters come first in a mutant, and each notion keeps the letter that is used, or else the last one.
    letters = {notion: symbol for symbol, notion in claim.where.items()}
    letters |= {notion: symbol for symbol, notion in claim.notation.items()}
    return {symbol: notion for notion, symbol in letters.items()}


def _near(claim: Claim) -> Iterator[tuple[Claim, int]]:
    """Relations of proved claims of the same source and place with a quantity in common on the smaller side."""
    measured = claim.relations[0].ordered[0].free_symbols
    for premise, number, relation in _proved(claim.source):
        if premise.place == claim.place and relation.free_symbols & measured:
            yield premise, number


@cache
def _proved(source: str) -> tuple[tuple[Claim, int, sp.Expr], ...]:
    return tuple(
        (claim, number, relation.slack)
        for claim in claims_of(source)
        if claim.verdict == "proved" and certificate_of(claim.id) is not None
        for number, relation in enumerate(claim.relations)
        if relation.operator in ("<=", "==", ">=")
    )


def _follows(claim: Claim, premise: Claim, number: int) -> bool:
    """Whether what a claim's slack has beyond a share of another's is not negative by the signs of its letters."""
    written = _in_rounds(claim)
    steps = [symbol for symbol, notion in written.where.items() if notion is q.local_steps]
    return any(_is_sum(written, premise, number, share) for share in (sp.S.One, *(1 / symbol for symbol in steps)))


def _is_sum(claim: Claim, premise: Claim, number: int, share: sp.Expr) -> bool:
    rest = sp.expand(claim.relations[0].slack - share * premise.relations[number].slack)
    if claim.place == "run":
        parts = [Part(share, Derived(premise.id, number)), Part(rest, ONE)]
        return examine(claim, Combination(claim=claim.id, links=[parts])).verdict == "proved"
    terms = [Term(share, assumption(f"{premise.id}, relation {number + 1}")), Term(rest, one())]
    found = examine(claim, Certificate(claim=claim.id, links=[terms], lemmas=[premise.id]))
    return found.verdict == "proved"


def _in_rounds(claim: Claim) -> Claim:
    """A claim with the iterations as local steps of all rounds, where these are the same."""
    letter = {notion: symbol for symbol, notion in claim.where.items()}
    if a.same_local_work not in claim.assumptions or not {q.iterations, q.rounds, q.local_steps} <= letter.keys():
        return claim
    rounds = {letter[q.iterations]: letter[q.rounds] * letter[q.local_steps]}
    (relation,) = claim.relations
    also = (Relation(relation.left.xreplace(rounds), relation.operator, relation.right.xreplace(rounds)),)
    return replace(claim, lhs=None, rhs=None, also=also)


def is_refuted_by_a_stored_run(mutant: Mutant) -> bool:
    """Whether a mutant fails on a run that needs much of a part of the bound it was planted in."""
    paper = paper_with(mutant.claim.source)
    files = [] if paper is None else sorted(paper.folder.glob(f"slack/{_slug(mutant.claim)}.*.toml"))
    return any(_fails(mutant.claim, str(file)) for file in files)


def _slug(claim: Claim) -> str:
    return claim.slug.removeprefix(f"{claim.source}-")


def _fails(claim: Claim, file: str) -> bool:
    try:
        return check(claim, parse_run(read_toml(file), RATIONAL)).holds is False
    except FedtheoryError:
        # A quantity may ask for what this run does not have.
        return False
