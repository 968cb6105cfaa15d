"""Rule: a proved claim is instantiated in the context, where its assumptions and conditions must hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kernel import Rejected
from fedtheory.kernel.admitted import require_finite
from fedtheory.kernel.expressions import Expr, LocalSum, PastSum, Selected
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.link_context import write_out
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.prefix_sum import has_prefix_sum
from fedtheory.proofs.proof import Proof, use_lemma
from fedtheory.proofs.rounds import is_in_expectation
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.process import vocabulary_symbols
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import ProofTerm


@dataclass(frozen=True)
class Use(ProofTerm):
    """One relation of a proved claim."""

    rule: ClassVar[str] = "use"
    claim: str
    link: int = 0

    def check(self, context: TermContext) -> Proved:
        """Check that the claim is proved and may be used here, and return its slack in the context's symbols."""
        proof = context.prove(self.claim).rename_for(context.claim)
        premise = proof.statement
        relation = require_relation(proof, self.link)
        context.require(use_lemma(context.claim, proof, context.conditions, relation))
        _require_place(premise, relation, context)
        if premise.place != "run":
            relation = write_out(premise, relation)
        found = context.write_powers(write_in_symbols(context, premise, relation.slack))
        if context.vectors is None:
            require_finite([found], context.numbers, context.conditions)
        return Proved(found, "==" if relation.operator == "==" else ">=")


def require_relation(proof: Proof, link: int) -> Relation:
    """Return one relation of a proved claim; raise `Rejected` if it has too few."""
    relations = proof.statement.relations
    if link >= len(relations):
        raise Rejected(f"{proof.statement.id} has no relation number {link + 1}")
    return relations[link]


_USABLE_AT: dict[str, tuple[str, ...]] = {
    "run": ("run",),
    "step": ("step", "run"),
    "path": ("path", "run"),
    "round": ("round",),
    "points": ("points",),
    "induction": ("step", "path", "round"),
    "start": ("step", "path", "round"),
}
"""Places of claims that may be used at a place of a context; facts on a step are unknown after the last one."""


def _require_place(premise: Claim, relation: Relation, context: TermContext) -> None:
    """Raise `Rejected` if a claim is about another place, or has another interpretation of scalars."""
    known = _USABLE_AT.get(context.place, ())
    is_induction = context.place in ("induction", "start")
    if premise.place not in known or (is_induction and premise.place != context.claim.place):
        raise Rejected(f"{premise.id} is about the place {premise.place!r}, and is used at {context.place!r}")
    if premise.place == "run":
        return
    if has_prefix_sum(relation):
        raise Rejected(f"{premise.id} sums over the past steps of another round")
    if context.place == "start" and relation.atoms(LocalSum, PastSum, Selected):
        raise Rejected(f"{premise.id} sums over steps that are not taken at the start of a round")
    if premise.place == "round":
        reading = "expectation" if is_in_expectation(premise, relation) else "outcome"
        if reading != context.reading:
            raise Rejected(f"{premise.id} holds for the {reading}, and is used for the {context.reading}")


def write_in_symbols(context: TermContext, premise: Claim, slack: Expr) -> Expr:
    """Return a slack in the symbols of the context.

    Raises `Rejected` for quantities unknown there and in the vocabulary.
    """
    theirs, change = symbols_of(premise), {}
    for symbol in slack.free_symbols:
        quantity = theirs.quantity(symbol)
        if quantity is q.local_step_index and context.vectors is not None:
            change[symbol] = context.index
        elif quantity is not None and not context.symbols.has(quantity):
            if quantity not in vocabulary_symbols().values():
                raise Rejected(f"{quantity.name} is a quantity that {context.claim.id} does not name")
            change[symbol] = context.symbols(quantity)
        elif quantity is None and symbol in premise.for_all and symbol not in context.claim.for_all:
            raise Rejected(f"{symbol} is under a quantifier of {premise.id} alone")
    return slack.xreplace(change)
