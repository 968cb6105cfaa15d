"""Certificates as documents: JSON that other programs can store, send and read; no part of it is executed.

    notation   expressions as text, read and written
    shapes     kinds of values, each read, written and described, by the types of fields
    records    kinds of certificates
    symbols    names of symbols
    reading    documents and files
    lemmas     statements that a document adds
    writing    certificates as documents
    schemas    the JSON schema

Every certificate is converted to a document before it is checked, and only types with a document format are allowed.
The parsed certificate is rebuilt from a closed list, so that the verdict does not depend on writing or reading.
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
