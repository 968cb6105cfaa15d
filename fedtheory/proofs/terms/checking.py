"""Checks the terms of a certificate: they are written, converted to data, parsed again and checked.

The result is reported in addition to the verdict on the certificate, which decides about the claim.
"""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.kernel import Step
from fedtheory.kernel.work import limit_work
from fedtheory.language.claim import Claim
from fedtheory.proofs.checker import MOST_WORK, RECORDED, REFUSALS, plain_document
from fedtheory.proofs.decoding import AnyCertificate
from fedtheory.proofs.decoding import decode as decode_certificate
from fedtheory.proofs.document import certificate_in, document_of, with_quantities
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.proof_report import Document, digest
from fedtheory.proofs.terms.codec import decode, encode
from fedtheory.proofs.terms.proof_of_claim import TermProof, check_terms
from fedtheory.proofs.terms.tactics import write_terms


@dataclass(frozen=True)
class TermReport:
    """The terms of a claim, as data and as parsed, and the checker's verdict."""

    claim: Claim
    document: Document | None
    """The terms as data; None if no tactic writes terms for the certificate."""
    proof: TermProof | None
    """The terms as parsed; None if parsing failed."""
    steps: tuple[Step, ...]

    @property
    def is_proved(self) -> bool:
        """Whether the terms prove the claim."""
        return self.proof is not None and bool(self.steps) and all(step.holds for step in self.steps)

    @property
    def digest(self) -> str | None:
        """A digest of the terms' content; None if there are none."""
        return None if self.document is None else digest(self.document)

    @property
    def refusal(self) -> str | None:
        """The reason why the terms are rejected; None if they prove the claim."""
        return None if self.is_proved else next((step.text for step in self.steps if not step.holds), "no terms")


def report_terms(claim: Claim, certificate: AnyCertificate | Document, prover: Prover = RECORDED) -> TermReport:
    """Write a certificate as terms, and check these after parsing them.

    `prover` proves the claims that it depends on.
    """
    document: Document | None = None
    with limit_work(MOST_WORK):
        try:
            plain, made = _read(claim, certificate)
            document = plain_document(encode(plain, write_terms(plain, made, prover)))
        except REFUSALS as reason:
            return TermReport(claim, None, None, (Step(str(reason) or "rejected", False),))
        return check_document(plain, document, prover)


def check_document(claim: Claim, document: Document, prover: Prover = RECORDED) -> TermReport:
    """Read the terms of a claim in plain symbols, and check them."""
    proof: TermProof | None = None
    steps: list[Step] = []
    with limit_work(MOST_WORK):
        try:
            proof = decode(claim, document)
            steps.extend(check_terms(claim, proof, prover))
        except REFUSALS as reason:
            steps.append(Step(str(reason) or "rejected", False))
    return TermReport(claim, document, proof, tuple(steps))


def _read(claim: Claim, certificate: AnyCertificate | Document) -> tuple[Claim, AnyCertificate]:
    """Return a claim in plain symbols, and its certificate as parsed from a document."""
    document = plain_document(certificate if isinstance(certificate, dict) else document_of(claim, certificate))
    plain = use_plain_symbols(with_quantities(claim, document))
    return plain, decode_certificate(certificate_in(plain, document))
