"""The JSON schema of certificates."""

from __future__ import annotations

import re
from typing import Any, get_args

from fedtheory.language.claim import Place
from fedtheory.proofs.document.notation import HEADS
from fedtheory.proofs.document.reading import DEFINITION, FORMAT, LEMMAS, QUANTITIES, VERSION
from fedtheory.proofs.document.records import CERTIFICATE
from fedtheory.proofs.document.shapes import Expression, Schema, describe_object
from fedtheory.proofs.document.symbols import DECLARED
from fedtheory.proofs.proof_report import Document

_OF_QUANTITIES = "Names of quantities in the certificate that the claim does not use."
_OF_LEMMAS = "Statements with the assumptions of the claim, and its conditions unless others stand there: CLAIM#NAME."
_OF_DEFINITION = "The SHA-256 digest of the definition, for a claim about an algorithm in a user's file."


def schema() -> Document:
    """Return the JSON schema of documents."""
    expression = (
        "Whole numbers, letters, + - * / **, brackets, the heads "
        f"{', '.join(HEADS)}; for a condition one of <=, <, >=, >, == between two of them."
    )
    shared: dict[str, Schema] = {"expression": {"type": "string", "description": expression}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": FORMAT,
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "letters": DECLARED,
            "certificate": _share_kinds(CERTIFICATE.schema(), shared),
            QUANTITIES: {"type": "array", "items": {"type": "string"}, "description": _OF_QUANTITIES},
            LEMMAS: {"type": "array", "items": _describe_lemma(), "description": _OF_LEMMAS},
            DEFINITION: {"type": "string", "description": _OF_DEFINITION},
        },
        "required": ["format", "version", "letters", "certificate"],
        "additionalProperties": False,
        "$defs": shared,
    }


def _share_kinds(part: Any, shared: dict[str, Schema]) -> Any:
    """Return a schema with references for the objects of one kind, and for alternatives, which `shared` defines.

    Objects of one kind that have other entries elsewhere are written out there.
    """
    if isinstance(part, list):
        return [_share_kinds(one, shared) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: _share_kinds(value, shared) for key, value in part.items()}
    name = _find_name(found)
    return {"$ref": f"#/$defs/{name}"} if name and shared.setdefault(name, found) == found else found


def _find_name(part: Schema) -> str | None:
    """Return a name for an object with a kind, or for some alternatives by the first of them; None for others."""
    entries = part.get("properties", {})
    marks = [f"{key} {entries[key]['const']}" for key in ("kind", "reason") if "const" in entries.get(key, {})]
    first, *others = part.get("oneOf", [{}])
    if others and "$ref" in first:
        marks.append(f"{len(others) + 1} alternatives from {first['$ref'].removeprefix('#/$defs/')}")
    return re.sub(r"\W+", "-", marks[0]) if marks else None


def _describe_lemma() -> Schema:
    """Return the schema of a lemma, whose certificate may be of any kind."""
    entries = {
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
        "place": {"enum": list(get_args(Place))},
        "statement": Expression().schema(),
        "certificate": {"$ref": "#/properties/certificate"},
    }
    conditions = {"conditions": {"type": "array", "items": Expression().schema()}}
    return describe_object(entries | conditions, list(entries))
