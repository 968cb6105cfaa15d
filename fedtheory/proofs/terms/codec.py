"""Converts proof terms to documents and back, by shapes; reading executes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.proofs.document.notation import HEADS
from fedtheory.proofs.document.shapes import Schema
from fedtheory.proofs.document.symbols import DECLARED, declare, read_declared, symbols_of
from fedtheory.proofs.proof_report import Document
from fedtheory.proofs.terms.process import vocabulary_symbols
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.name_roots import NameRoots
from fedtheory.proofs.terms.rules.product import Multiply
from fedtheory.proofs.terms.shapes import ANY_TERM, PROOF
from fedtheory.proofs.terms.term import iterate_parts

FORMAT, VERSION = "fedtheory proof term", 1
MOST_RULES = 20_000
"""Limit on the rules in one document; the longest term of a paper has some hundred."""
MOST_NESTED = 60
"""Limit on the nesting of tables and lists in one document."""


def encode(claim: Claim, proof: TermProof) -> Document:
    """Write the terms of a claim in plain symbols as data; raise `InputError` if a symbol has no name."""
    scope, symbols = declare(_list_declared(proof), _name_symbols(claim))
    return {"format": FORMAT, "version": VERSION, "symbols": symbols, "proof": PROOF.write(proof, scope)}


def decode(claim: Claim, document: object) -> TermProof:
    """Read the terms of a claim in plain symbols from data; an `InputError` names the place and what was expected."""
    if not isinstance(document, dict) or document.keys() != {"format", "version", "symbols", "proof"}:
        raise InputError("", "expected a table with format, version, symbols, proof")
    if (document["format"], document["version"]) != (FORMAT, VERSION):
        raise InputError("format", f"expected {FORMAT!r} of version {VERSION}, got {document['format']!r:.40}")
    if not isinstance(document["symbols"], dict):
        raise InputError("symbols", f"expected a table, got {document['symbols']!r:.80}")
    _require_small(document["proof"])
    scope = read_declared(document["symbols"], _name_symbols(claim), "symbols")
    proof: TermProof = PROOF.read(document["proof"], scope, "proof")
    if proof.claim != claim.id:
        raise InputError("proof.claim", f"expected {claim.id}, got {proof.claim}")
    return proof


def schema() -> Schema:
    """Return the JSON schema of documents with proof terms."""
    text = f"An expression, or an ordering of two, in the notation of certificates, with the heads {', '.join(HEADS)}."
    return {
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "symbols": DECLARED,
            "proof": PROOF.schema(),
        },
        "required": ["format", "version", "symbols", "proof"],
        "additionalProperties": False,
        "$defs": {
            "expression": {"type": "string", "description": text},
            "term": ANY_TERM.choices(),
        },
    }


def _name_symbols(claim: Claim) -> dict[str, sp.Symbol]:
    """Return the symbols of a claim and of techniques, then those of quantities that the claim does not name."""
    return {quantity.name: symbol for symbol, quantity in vocabulary_symbols().items()} | symbols_of(claim)


def _list_declared(proof: TermProof) -> Iterator[sp.Symbol]:
    """Yield the symbols that terms declare: for roots, and for products."""
    for term in (rule for relation in proof.relations for rule in iterate_parts(relation)):
        if isinstance(term, NameRoots):
            yield from (named.symbol for named in term.roots)
        elif isinstance(term, Multiply):
            yield from (one.symbol for one in term.scalars)


def _require_small(data: object) -> None:
    """Raise `InputError` for more rules, or deeper nesting, than the limits."""
    left, count = [(data, 0)], 0
    while left:
        one, depth = left.pop()
        inside = list(one.values()) if isinstance(one, dict) else one if isinstance(one, list) else []
        count += isinstance(one, dict)
        if count > MOST_RULES or depth > MOST_NESTED:
            raise InputError("proof", f"expected at most {MOST_RULES} rules, {MOST_NESTED} tables and lists deep")
        left.extend((part, depth + 1) for part in inside)
