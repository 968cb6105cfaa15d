"""Typeset a certificate for the page of its claim: coefficients, inequalities and non-negative terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fedtheory.language.claim import Claim
from fedtheory.language.typesetting import latex
from fedtheory.proofs.certificates_of_papers import document_for
from fedtheory.proofs.document import certificate_in, digest, text_of
from fedtheory.proofs.entries import Entry
from fedtheory.proofs.outline import outline
from report.mathml import typeset_formula, typeset_prose, typeset_statement


@dataclass(frozen=True)
class CertificateTerm:
    """A coefficient and the slack that it multiplies, typeset."""

    coefficient: Markup
    not_negative: Markup
    reason: str
    premise: str | None
    """Id of the proved claim that has this slack."""


@dataclass(frozen=True)
class CertificateGroup:
    """The terms whose sum is the slack of one statement, typeset; empty for an identity."""

    statement: Markup
    terms: Sequence[CertificateTerm]


@dataclass(frozen=True)
class CertificateSection:
    """The certificate of a claim."""

    introduction: Markup
    groups: Sequence[CertificateGroup]
    relaxed: Sequence[Markup] | None
    """Conditions of the certificate, if they are weaker than the claim's."""
    file: str
    """File name of the certificate on the site."""
    digest: str
    content: str
    """Content of the file."""


def make_certificate_section(claim: Claim) -> CertificateSection | None:
    """Return the certificate of a claim, typeset; None if it has none."""
    found, document = outline(claim), document_for(claim)
    if found is None or document is None:
        return None
    relaxed = certificate_in(claim, document).relaxed
    return CertificateSection(
        typeset_prose(found.introduction),
        [
            CertificateGroup(typeset_statement(group.statement), [_build_term(e) for e in group.entries])
            for group in found.groups
        ],
        None if relaxed is None else [typeset_formula(latex(condition)) for condition in relaxed],
        f"{claim.slug}.certificate.json",
        digest(document),
        text_of(document),
    )


def _build_term(entry: Entry) -> CertificateTerm:
    return CertificateTerm(
        typeset_formula(latex(entry.coefficient)), typeset_statement(latex(entry.factor)), entry.reason, entry.premise
    )
