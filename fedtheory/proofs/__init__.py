"""Proofs as certificates: how a claim is brought before the kernel.

What a claim may be proved by:

certificate    for each link one identity, or one of
                 induction   over the local steps of a round
                 squares     of an inequality between lengths
                 products    of facts, for relations between quotients
                 past        sums over the local steps up to the present one
means          means over the local steps of a round or a run
recursion      bounds on the drift, step by step
combination    sums of proved claims about a run, and of what follows from those about its steps (intervals)
roots          letters for square roots of numbers, in certificates and combinations

What the kernel may use, from a claim's assumptions: theory, rounds for statements about one round, and small_steps
for the point to which runs tend.  What people are shown: outline, and printed for the proofs of the sources.

Uses `language`, `kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from fedtheory.errors import InputError
from fedtheory.kernel import Rejected, Step
from fedtheory.kernel.admitted import require_admitted, require_admitted_condition
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find, papers
from fedtheory.language.source import Paper
from fedtheory.proofs.certificate import Certificate, examine_links
from fedtheory.proofs.combination import Combination, Part, examine_combination
from fedtheory.proofs.induction import POWER
from fedtheory.proofs.means import MeanCertificate, examine_mean
from fedtheory.proofs.proof import Proof, Prover, conditions_of, relaxation
from fedtheory.proofs.recursion import Recursion, examine_recursion, k
from fedtheory.proofs.theory import letters_of, numbers_of, theory_of
from fedtheory.proofs.updates import LETTERS

__all__ = [
    "AnyCertificate",
    "Certificate",
    "Combination",
    "MeanCertificate",
    "Part",
    "Proof",
    "Recursion",
    "certificate_of",
    "certificates",
    "examination",
    "examine",
    "prove",
    "theory_of",
]

AnyCertificate = Certificate | MeanCertificate | Combination | Recursion

_EXAMINERS: dict[type, Callable[[Claim, Any, Prover], Iterator[Step]]] = {
    Certificate: examine_links,
    MeanCertificate: examine_mean,
    Combination: examine_combination,
    Recursion: examine_recursion,
}


@cache
def _certificates_in(paper: Paper) -> dict[str, AnyCertificate]:
    """The certificates of a paper by the ids of its claims; `InputError` where the list is none or names others."""
    part = paper.part("certificates")
    found = [] if part is None else getattr(part, "CERTIFICATES", None)
    file = "" if part is None else str(part.__file__)
    if not isinstance(found, list):
        raise InputError("CERTIFICATES", f"expected a list of certificates, got {found!r}", file)
    known, by_claim = {claim.id for claim in paper.source.claims}, {}
    for n, certificate in enumerate(found):
        if not isinstance(certificate, AnyCertificate):
            raise InputError(f"CERTIFICATES[{n}]", f"expected a certificate, got {certificate!r}", file)
        if certificate.claim not in known or certificate.claim in by_claim:
            expected = f"expected the id of a claim of {paper.source.key}, once"
            raise InputError(f"CERTIFICATES[{n}]", f"{expected}, got {certificate.claim!r}", file)
        by_claim[certificate.claim] = certificate
    return by_claim


def certificates() -> dict[str, AnyCertificate]:
    """Every certificate by the id of its claim."""
    return {claim: found for paper in papers().values() for claim, found in _certificates_in(paper).items()}


def certificate_of(claim_id: str) -> AnyCertificate | None:
    """The certificate that goes by the id of a claim; None where its paper has none."""
    paper = papers().get(claim_id.partition(":")[0])
    return None if paper is None else _certificates_in(paper).get(claim_id)


def prove(claim: Claim) -> Proof:
    """What the kernel says of a claim and the certificate that goes by its id."""
    certificate = certificate_of(claim.id)
    return Proof(claim, None, ()) if certificate is None else examine(claim, certificate)


@cache
def _proof_of(claim_id: str) -> Proof:
    return prove(find(claim_id))


def examine(claim: Claim, certificate: AnyCertificate, prover: Prover = _proof_of) -> Proof:
    """Check a certificate of a claim; `prover` says what is proved of the claims that it relies on."""
    return Proof(claim, certificate, tuple(examination(claim, certificate, prover)))


def examination(claim: Claim, certificate: AnyCertificate, prover: Prover = _proof_of) -> Iterator[Step]:
    """The steps of an examination, one by one."""
    try:
        _require_provable(claim)
        yield from relaxation(claim, certificate.relaxed)
        # Nothing may rest on a condition that a certificate says it does not need.
        supposed = replace(claim, conditions=conditions_of(claim, certificate.relaxed))
        _require_provable(supposed)
        yield from _EXAMINERS[type(certificate)](supposed, certificate, prover)
    except Rejected as reason:
        yield Step(str(reason), False)


_OWN = {POWER, k, *LETTERS}
"""Letters of the certificates, which no claim has."""


def _require_provable(claim: Claim) -> None:
    """Raise `Rejected` where a claim says nothing, has a rounded number, or a letter that means something else."""
    if not claim.relations:
        raise Rejected("the claim has no relation that could be proved")
    sides = [side for relation in claim.relations for side in (relation.left, relation.right)]
    for side in sides:
        require_admitted(side)
    for condition in claim.conditions:
        require_admitted_condition(condition)
    numbers_of(claim), letters_of(claim)
    for expression in (*sides, *claim.conditions, *claim.where, *claim.for_all):
        if expression.free_symbols & _OWN:
            raise Rejected(f"{expression} has a letter that certificates use")
