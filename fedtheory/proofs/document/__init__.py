"""Certificates as documents: JSON that can be kept, sent, and read by other programs; nothing in it is executed.

    notation   expressions as text
    shapes     how values are read
    records    which certificates there are
    reading    documents and files, and the symbols in them
    lemmas     statements of a document's own
    writing    certificates as documents
    algorithms what documents say of algorithms
    schemas    the JSON schema

Whatever is checked has been a document: what a document cannot say cannot be said.  What is read is rebuilt from
closed pieces before it is checked, so that nothing rests on how certificates are written or read.
"""

from fedtheory.proofs.document.lemmas import Lemma, lemma_id, lemmas_in
from fedtheory.proofs.document.reading import (
    certificate_in,
    find_claim_id,
    read_document,
    require_short,
    with_quantities,
)
from fedtheory.proofs.document.schemas import schema
from fedtheory.proofs.document.writing import document_of, text_of
from fedtheory.proofs.proof_report import Document, digest

__all__ = [
    "Document",
    "Lemma",
    "certificate_in",
    "digest",
    "document_of",
    "find_claim_id",
    "lemma_id",
    "lemmas_in",
    "read_document",
    "require_short",
    "schema",
    "text_of",
    "with_quantities",
]
