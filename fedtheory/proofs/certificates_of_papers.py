"""The certificates that papers have for their claims."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find_paper, papers
from fedtheory.language.source import Paper
from fedtheory.proofs.decoding import AnyCertificate
from fedtheory.proofs.document import Document, document_of, find_claim_id, read_document


@cache
def _read_certificates(paper: Paper) -> dict[str, AnyCertificate]:
    """Return the certificates of a paper by the ids of its claims.

    Raises `InputError` if the list is invalid or names claims of other papers.
    """
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
            near = [] if certificate.claim in known else get_close_matches(certificate.claim, known, n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise InputError(f"CERTIFICATES[{n}]", f"{expected}, got {certificate.claim!r}{hint}", file)
        by_claim[certificate.claim] = certificate
    return by_claim


@cache
def _read_found(paper: Paper) -> dict[str, Document]:
    """Return certificates that a search wrote into a paper's folder, by the ids of their claims."""
    files = [file for claim in paper.source.claims if (file := paper.certificate_file(claim)).is_file()]
    documents = [read_document(str(file)) for file in files]
    return {find_claim_id(document): document for document in documents}


def certificates() -> dict[str, AnyCertificate]:
    """Return every certificate by the id of its claim."""
    return {claim: found for paper in papers().values() for claim, found in _read_certificates(paper).items()}


def certificate_of(claim_id: str) -> AnyCertificate | None:
    """Return the certificate with the id of a claim; None if its paper has none."""
    paper = find_paper(claim_id.partition(":")[0])
    return None if paper is None else _read_certificates(paper).get(claim_id)


def recorded_for(claim_id: str) -> AnyCertificate | Document | None:
    """Return the certificate of a claim from its paper's list, else one that a search wrote into the paper's folder."""
    listed = certificate_of(claim_id)
    paper = find_paper(claim_id.partition(":")[0])
    return listed if listed is not None or paper is None else _read_found(paper).get(claim_id)


def document_for(claim: Claim) -> Document | None:
    """Return the certificate of a claim as data; None if it has none."""
    recorded = recorded_for(claim.id)
    return recorded if recorded is None or isinstance(recorded, dict) else document_of(claim, recorded)
