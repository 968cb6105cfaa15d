"""The certificates that papers have for their claims."""

from __future__ import annotations

from functools import cache

from fedtheory.errors import InputError
from fedtheory.language.registry import paper_with, papers
from fedtheory.language.source import Paper
from fedtheory.proofs.decoding import AnyCertificate


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
    paper = paper_with(claim_id.partition(":")[0])
    return None if paper is None else _certificates_in(paper).get(claim_id)
