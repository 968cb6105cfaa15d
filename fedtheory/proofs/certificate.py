"""Certificates: for each link of a claim the terms whose sum is its slack, and the kernel's word on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fedtheory import quantities as q
from fedtheory.claim import Claim, Relation
from fedtheory.expressions import Expr, norm_sq, require_meaning
from fedtheory.kernel import Rejected, Step, Term, Theory, check
from fedtheory.proofs.induction import Induction, induct
from fedtheory.proofs.proof import Prover, conditions_of, named, relaxation, reliance
from fedtheory.proofs.rounds import step_size, theory_of_round, without_indicators
from fedtheory.proofs.theory import PROVABLE_PLACES, known_conditions, letters_of, theory_of
from fedtheory.registry import find


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Why a claim holds."""

    claim: str
    """Its id."""
    links: Sequence[Sequence[Term] | Induction]
    """For each relation the terms that add up to its slack, none for an identity; or an induction over local steps."""
    relaxed: Sequence[Expr] | None = None
    """Weaker conditions than the claim's, under which the terms suffice; None for the claim's own."""
    drift: str | None = None
    """Id of a proved bound on the drift, which a term may name as its reason."""


def examine_links(claim: Claim, certificate: Certificate, prove: Prover) -> Iterator[Step]:
    """Check a certificate of a claim, link by link; `Rejected` where the claim is outside the kernel's language."""
    if claim.place not in PROVABLE_PLACES or claim.rate is not None or not claim.relations:
        raise Rejected(f"the kernel knows relations at {', '.join(PROVABLE_PLACES)}, not a claim about {claim.place}")
    if len(claim.relations) != len(certificate.links):
        raise Rejected(f"{len(certificate.links)} links of the certificate, {len(claim.relations)} of the claim")
    conditions = conditions_of(claim, certificate.relaxed)
    yield from relaxation(claim, certificate.relaxed)
    if certificate.drift is not None:
        lemma = prove(certificate.drift)
        yield from reliance(claim, lemma, conditions)
        yield Step(f"{certificate.drift} is the one on record", lemma.claim is find(certificate.drift))
    relations = [_written_out(claim, relation) for relation in claim.relations]
    for number, (relation, terms) in enumerate(zip(relations, certificate.links, strict=True), start=1):
        link = f"link {number}: " if len(relations) > 1 else ""
        theory = theory_of_link(claim, certificate, relation)
        yield from named(link, _link(claim, relation, terms, theory, (*conditions, *known_conditions(claim))))


def _link(
    claim: Claim, relation: Relation, terms: Sequence[Term] | Induction, theory: Theory, conditions: Sequence[Expr]
) -> Iterator[Step]:
    smaller, larger = relation.ordered
    try:
        require_meaning(smaller, claim.place)
        require_meaning(larger, claim.place)
    except ValueError as reason:
        raise Rejected(str(reason)) from None
    if isinstance(terms, Induction):
        yield from induct(claim, relation, terms, theory, conditions)
    elif relation.operator == "==" and terms:
        yield Step("an equation has no terms", False)
    elif relation.operator not in ("<=", "==", ">="):
        yield Step("a certificate shows that a side is not larger, not that it is smaller", False)
    else:
        yield from check(smaller, larger, terms, theory, conditions)


def _written_out(claim: Claim, relation: Relation) -> Relation:
    """A relation about a round with its step sizes and participants in terms of the round's numbers."""
    if claim.place != "round":
        return relation
    size = {letters_of(claim)(q.client_step_size): step_size(claim)}
    left, right = (without_indicators(claim, side.xreplace(size)) for side in (relation.left, relation.right))
    return Relation(left, relation.operator, right)


def theory_of_link(claim: Claim, certificate: Certificate, relation: Relation) -> Theory:
    """The theory in which one link is checked."""
    if claim.place == "round":
        return theory_of_round(claim, relation)
    return _theory_with_drift(claim, certificate.drift)


def _theory_with_drift(claim: Claim, drift: str | None) -> Theory:
    """The theory of a claim, with a bound on the largest drift of a run: it holds for every client at every step."""
    theory = theory_of(claim)
    if drift is None:
        return theory
    lemma = find(drift)
    letter, relation = letters_of(lemma), lemma.relations[0]
    is_bound = lemma.place == "run" and len(lemma.relations) == 1 and relation.operator == "<="
    if claim.place != "step" or not is_bound or relation.left != letter(q.max_drift):
        raise Rejected(f"{lemma.id} does not bound the drift at a local step")
    apart = norm_sq(letter(q.local_iterate) - letter(q.average_iterate))
    return replace(theory, assumed={**theory.assumed, lemma.id: relation.right - apart})
