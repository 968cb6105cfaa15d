"""Checks the certificate of a claim, and returns the kernel verdict.

A certificate is converted to a document and parsed again, and the result is rebuilt from a
closed list of types, so that no user-defined subclass can reach the kernel.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from fedtheory.errors import InputError
from fedtheory.kernel import Rejected, Step
from fedtheory.kernel.work import Exhausted, limit_work, spend
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find, is_registered
from fedtheory.proofs.cases import Cases, claims_of
from fedtheory.proofs.certificates_of_papers import recorded_for
from fedtheory.proofs.claim_context import with_iterations_in_powers
from fedtheory.proofs.decoding import AnyCertificate, decode
from fedtheory.proofs.document import certificate_in, document_of, lemmas_in, require_short, with_quantities
from fedtheory.proofs.examined import Examined
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import Proof, Prover, add_prefix, check_relaxation, conditions_of, require_provable
from fedtheory.proofs.proof_report import Document
from fedtheory.proofs.restatements import Powers, Squares
from fedtheory.proofs.terms.proof_of_claim import check_terms
from fedtheory.proofs.terms.tactics import TACTICS


def prove(claim: Claim) -> Proof:
    """Check the recorded certificate of a claim."""
    return _answer(_Request(claim)) if is_registered(claim) else _prove(claim, (claim.id,))


@dataclass(frozen=True)
class _Request:
    """A request for the proof of a registered claim; the chain of dependent claims is ignored in comparisons."""

    claim: Claim
    relying: tuple[str, ...] = field(default=(), compare=False)


@cache
def _answer(request: _Request) -> Proof:
    """Return the proof that a request asks for."""
    # Every claim on a circular chain is rejected, whichever is requested first, so that results can be cached.
    return _prove(request.claim, (*request.relying, request.claim.id))


def _prove(claim: Claim, relying: tuple[str, ...]) -> Proof:
    """Check the recorded certificate of a claim; the claims that rely on it are rejected as premises."""
    certificate = recorded_for(claim.id)
    if certificate is None:
        return Proof(claim, None, ())
    return check_certificate(claim, certificate, _make_prover(relying))


def _make_prover(relying: tuple[str, ...]) -> Prover:
    """Return a prover for the claims that others depend on; a circular dependency is rejected."""

    def prove_recorded(claim_id: str) -> Proof:
        if claim_id in relying:
            return Proof(find(claim_id), recorded_for(claim_id), (Step(f"{claim_id} relies on itself", False),))
        return _answer(_Request(find(claim_id), relying))

    return prove_recorded


RECORDED = _make_prover(())

REFUSALS = (InputError, Rejected, Exhausted, ValueError, RecursionError)
"""Exceptions that end a check, including those for very long numbers and deeply nested formulas."""
MOST_WORK = 6 * 10**7
"""Limit on the units of work for one certificate and its dependencies: some seconds."""


def check_certificate(claim: Claim, certificate: AnyCertificate | Document, prover: Prover = RECORDED) -> Proof:
    """Check a certificate of a claim, or a document; `prover` proves the claims on which it depends."""
    with limit_work(MOST_WORK) as meter:
        try:
            document = plain_document(certificate if isinstance(certificate, dict) else document_of(claim, certificate))
            read = certificate_in(claim, document)
        except REFUSALS as reason:
            return Proof(claim, certificate, (Step(str(reason), False),), None, {claim.id: meter.spent})
        others: dict[str, int] = {}
        steps = tuple(_check_document(claim, document, _count_once(prover, others)))
        own = meter.spent - sum(others.values())
        return Proof(claim, read, steps, document, {**others, claim.id: own})


def _count_once(prover: Prover, known: dict[str, int]) -> Prover:
    """Return a prover that counts the work of each claim once; `known` stores it by the claim's id."""

    def prove_counted(claim_id: str) -> Proof:
        """Prove a claim, and count only work that no earlier claim has counted."""
        proof = prover(claim_id)
        new = {claim: work for claim, work in proof.work.items() if claim not in known}
        known.update(new)
        spend(sum(new.values()))
        return proof

    return prove_counted


def _check_document(claim: Claim, document: Document, prover: Prover) -> Iterator[Step]:
    """Yield the steps of the check of a document, in symbols whose assumptions follow from their quantities."""
    try:
        plain = use_plain_symbols(with_quantities(claim, document))
        own: dict[str, Proof] = {}
        prove = _prefer_own(own, prover)
        for lemma in lemmas_in(plain, document):
            steps = tuple(_check_kind(lemma.claim, decode(lemma.certificate), prove))
            yield from add_prefix(f"{lemma.claim.id}: ", steps)
            own[lemma.claim.id] = Proof(lemma.claim, lemma.certificate, steps)
        yield from _check_kind(plain, decode(certificate_in(plain, document)), prove)
    except REFUSALS as reason:
        yield Step(str(reason), False)


def _prefer_own(own: Mapping[str, Proof], prover: Prover) -> Prover:
    """Prove lemmas of a document by the proofs of its previous entries, and other claims by `prover`."""
    return lambda name: own[name] if name in own else prover(name)


def plain_document(document: Document) -> Document:
    """Return a document that consists of JSON values only, as if read from a file."""
    try:
        text = json.dumps(document)
        require_short(text)
        plain: Document = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError("certificate", f"expected what JSON can say ({error})") from None
    return plain


def _check_kind(claim: Claim, certificate: AnyCertificate, prover: Prover) -> Iterator[Step]:
    """Yield the steps of the check of a parsed certificate, one by one."""
    if isinstance(certificate, Cases):
        for case, supposed in zip(certificate.cases, claims_of(claim, certificate), strict=True):
            suffices = "suffices" if certificate.is_single else f"is {case.name}"
            yield from add_prefix(f"where {case.argument} {suffices}: ", _check_kind(supposed, case.why, prover))
        return
    if isinstance(certificate, Powers | Squares):
        steps = _check_kind(certificate.restate(claim), certificate.why, prover)
        yield from add_prefix(f"{certificate.label}: ", steps)
        return
    claim = with_iterations_in_powers(claim, conditions_of(claim, certificate.relaxed))
    require_provable(claim)
    if certificate.relaxed is not None:
        yield from check_relaxation(claim, certificate.relaxed)
        # No step may use a condition that the certificate declares unnecessary.
        claim = replace(claim, conditions=certificate.relaxed)
        require_provable(claim)
    if isinstance(certificate, Examined):
        yield from certificate.check(claim, prover)
    else:
        # Only the terms are believed, which the certificate is translated into.
        yield from check_terms(claim, TACTICS[type(certificate)](claim, certificate, prover), prover)
