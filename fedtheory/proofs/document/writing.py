"""Writes certificates as documents, which are parsed again before they are checked."""

from __future__ import annotations

import json
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.proofs.decoding import declared_symbols
from fedtheory.proofs.document.reading import DEFINITION, FORMAT, VERSION, digest_definition
from fedtheory.proofs.document.records import CERTIFICATE
from fedtheory.proofs.document.symbols import declare, symbols_of
from fedtheory.proofs.proof_report import Document


def document_of(claim: Claim, certificate: Any) -> Document:
    """Return a certificate of a claim as a document.

    Raises `InputError` if it contains a value without a document format.
    """
    scope, declared = declare(declared_symbols(certificate), symbols_of(claim))
    digest_of_definition = digest_definition(claim)
    return {
        "format": FORMAT,
        "version": VERSION,
        "letters": declared,
        "certificate": CERTIFICATE.write(certificate, scope),
    } | ({} if digest_of_definition is None else {DEFINITION: digest_of_definition})


def text_of(document: Document) -> str:
    """Return a document as the text of a file."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
