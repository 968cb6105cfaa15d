"""The check of certificates of relations between vectors, link by link."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fedtheory.kernel import Context, Rejected, Step, check
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.meaning import require_meaning
from fedtheory.proofs.by_terms import check_roots
from fedtheory.proofs.certificate import BothWays, Certificate, InContext, build_link_context, write_out
from fedtheory.proofs.induction import Induction, induct
from fedtheory.proofs.numbers import list_known_conditions
from fedtheory.proofs.paper_contexts import paper_step_conditions
from fedtheory.proofs.prefix_sum import PrefixSum, total_of_past
from fedtheory.proofs.products import Positive, Products, check_positive, check_products
from fedtheory.proofs.proof import Prover, prefixed, use_lemma
from fedtheory.proofs.roots import conditions_with, name_roots
from fedtheory.proofs.squares import Squared, check_square


def check_links(claim: Claim, certificate: Certificate, prove: Prover) -> Iterator[Step]:
    """Check a certificate of a claim, link by link; `Rejected` where the claim is outside the kernel's language."""
    if len(claim.relations) != len(certificate.links):
        raise Rejected(f"{len(certificate.links)} links of the certificate, {len(claim.relations)} of the claim")
    lemmas = [prove(name) for name in certificate.lemmas]
    for lemma in lemmas:
        yield from use_lemma(claim, lemma)
    known = (*claim.conditions, *list_known_conditions(claim), *paper_step_conditions(claim))
    yield from check_roots(claim, certificate.roots, known, prove)
    known = conditions_with(certificate.roots, known)
    for number, (relation, why) in enumerate(zip(claim.relations, certificate.links, strict=True), start=1):
        link = f"link {number}: " if len(claim.relations) > 1 else ""
        _require_meaning(claim, relation)
        if isinstance(why, PrefixSum):
            found = total_of_past(claim, relation)
        else:
            context = build_link_context(claim, relation, certificate.roots, [lemma.statement for lemma in lemmas])
            sides = name_roots(certificate.roots, write_out(claim, relation)).ordered
            found = _link(claim, relation, sides, why, context=context, conditions=known)
        yield from prefixed(link, found)


def _link(
    claim: Claim,
    relation: Relation,
    sides: tuple[Expr, Expr],
    why: InContext,
    *,
    context: Context,
    conditions: Sequence[Expr],
) -> Iterator[Step]:
    smaller, larger = sides
    if isinstance(why, Induction):
        yield from induct(claim, relation, why, context, conditions)
    elif isinstance(why, Positive | Squared | Products):
        yield from _CHECKERS[type(why)](relation, why, context, conditions)
    elif isinstance(why, BothWays):
        if relation.operator != "==":
            raise Rejected("that neither side is larger shows an equation, and nothing else")
        yield from prefixed("at most: ", check(smaller, larger, why.at_most, context, conditions))
        yield from prefixed("at least: ", check(larger, smaller, why.at_least, context, conditions))
    elif relation.operator == "==" and why:
        yield Step("an equation has no terms", False)
    elif relation.operator not in ("<=", "==", ">="):
        yield Step("a certificate shows that a side is not larger, not that it is smaller", False)
    else:
        yield from check(smaller, larger, why, context, conditions)


def _require_meaning(claim: Claim, relation: Relation) -> None:
    written = relation if claim.place == "run" else write_out(claim, relation)
    try:
        require_meaning(written.left, claim.place)
        require_meaning(written.right, claim.place)
    except ValueError as reason:
        raise Rejected(str(reason)) from None


_CHECKERS: dict[type, Callable[[Relation, Any, Context, Sequence[Expr]], Iterator[Step]]] = {
    Positive: check_positive,
    Squared: check_square,
    Products: check_products,
}
