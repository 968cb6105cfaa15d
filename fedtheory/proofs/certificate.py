"""Certificates: for each link of a claim the terms whose sum is its slack, and the kernel's word on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import sympy as sp

from fedtheory.claim import Claim, Relation
from fedtheory.expressions import Expr, require_meaning
from fedtheory.kernel import Rejected, Step, Term, check, is_nonnegative, slack
from fedtheory.proofs.means import Span, check_mean
from fedtheory.proofs.theory import PROVABLE_PLACES, numbers_of, theory_of

ProofVerdict = Literal["proved", "broken", "no certificate"]


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Why a claim holds."""

    claim: str
    """Its id."""
    links: Sequence[Sequence[Term]]
    """For each relation the terms that add up to its slack; none for an identity."""
    relaxed: Sequence[Expr] | None = None
    """Weaker conditions than the claim's, under which the terms suffice; None for the claim's own."""


@dataclass(frozen=True, kw_only=True)
class MeanCertificate:
    """A claim about rounds or a run that is the mean, over the local steps, of a proved claim about each of them."""

    claim: str
    """Its id."""
    step: str
    """Id of the claim about each local step."""
    span: Span


@dataclass(frozen=True)
class Proof:
    """What the kernel says of a certificate."""

    claim: Claim
    certificate: Certificate | MeanCertificate | None
    steps: tuple[Step, ...]

    @property
    def verdict(self) -> ProofVerdict:
        """Proved where every step holds."""
        if self.certificate is None:
            return "no certificate"
        return "proved" if self.steps and all(step.holds for step in self.steps) else "broken"


def examine(claim: Claim, certificate: Certificate) -> Proof:
    """Check a certificate of a claim, link by link."""
    try:
        steps = [*_relaxation(claim, certificate.relaxed or ()), *_links(claim, certificate)]
    except Rejected as reason:
        steps = [Step(str(reason), False)]
    return Proof(claim, certificate, tuple(steps))


def _relaxation(claim: Claim, relaxed: Sequence[Expr]) -> Iterator[Step]:
    """That the weaker conditions are weaker: they follow from the claim's own."""
    for condition in relaxed:
        follows = isinstance(condition, sp.Le | sp.Ge) and is_nonnegative(
            slack(condition), numbers_of(claim), claim.conditions
        )
        yield Step(f"{condition} follows from the conditions of the claim", follows)


def _links(claim: Claim, certificate: Certificate) -> Iterator[Step]:
    if claim.place not in PROVABLE_PLACES or claim.rate is not None:
        raise Rejected(f"the kernel knows relations at {', '.join(PROVABLE_PLACES)}, not a claim about {claim.place}")
    if len(claim.relations) != len(certificate.links):
        raise Rejected(f"{len(certificate.links)} links of the certificate, {len(claim.relations)} of the claim")
    conditions = claim.conditions if certificate.relaxed is None else certificate.relaxed
    for number, (relation, terms) in enumerate(zip(claim.relations, certificate.links, strict=True), start=1):
        link = f"link {number}: " if len(claim.relations) > 1 else ""
        yield from (Step(link + step.text, step.holds) for step in _link(claim, relation, terms, conditions))


def examine_mean(claim: Claim, certificate: MeanCertificate, of_step: Proof) -> Proof:
    """Check that a claim is the mean of one about each local step, for which there is a proof."""
    proved = Step(f"{certificate.step} is proved", of_step.verdict == "proved")
    try:
        found = check_mean(claim, of_step.claim, certificate.span)
    except Rejected as reason:
        found = [Step(str(reason), False)]
    return Proof(claim, certificate, (proved, *found))


def _link(claim: Claim, relation: Relation, terms: Sequence[Term], conditions: Sequence[Expr]) -> list[Step]:
    if relation.operator == "==" and terms:
        return [Step("an equation has no terms", False)]
    if relation.operator in ("<", ">"):
        return [Step("a certificate shows that a side is not larger, not that it is smaller", False)]
    smaller, larger = _sides(relation)
    try:
        require_meaning(smaller, claim.place)
        require_meaning(larger, claim.place)
        return check(smaller, larger, terms, theory_of(claim), conditions)
    except (Rejected, ValueError) as reason:
        return [Step(str(reason), False)]


def _sides(relation: Relation) -> tuple[Expr, Expr]:
    """The side that is claimed to be smaller, and the other one."""
    return (relation.right, relation.left) if relation.operator == ">=" else (relation.left, relation.right)
