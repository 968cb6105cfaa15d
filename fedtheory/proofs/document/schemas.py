"""Generates the JSON schema of certificates from the readers of their values."""

from __future__ import annotations

from functools import singledispatch
from inspect import Parameter
from typing import get_args

from fedtheory.kernel.inequalities import INEQUALITIES, subjects
from fedtheory.language.claim import Place
from fedtheory.proofs.decoding import SIGNS
from fedtheory.proofs.document.notation import HEADS
from fedtheory.proofs.document.reading import DEFINITION, FORMAT, LEMMAS, QUANTITIES, VERSION
from fedtheory.proofs.document.records import (
    ALONE,
    CERTIFICATE,
    CONSEQUENCES,
    LINKS_OF_THEIR_OWN,
    TERMS,
    Link,
    Premise,
)
from fedtheory.proofs.document.shapes import (
    NAME,
    Count,
    Expression,
    Flag,
    Inequality,
    Json,
    Many,
    Named,
    OneOf,
    Ordering,
    Record,
    Shape,
    Table,
)
from fedtheory.proofs.proof_report import Document

_Schema = dict[str, Json]
_EXPRESSION: _Schema = {"$ref": "#/$defs/expression"}
_TEXT: _Schema = {"type": "string"}
_OF_QUANTITIES = "Names of quantities in the certificate that the claim does not use."
_OF_LEMMAS = "Statements with the assumptions of the claim, and its conditions unless others stand there: CLAIM#NAME."
_OF_DEFINITION = "The SHA-256 digest of the definition, for a claim about an algorithm in a user's file."


def schema() -> Document:
    """Return the JSON schema of documents."""
    symbol = {
        "type": "object",
        "properties": {"latex": {"type": "string"}, "is": {"enum": list(SIGNS)}},
        "required": ["latex", "is"],
        "additionalProperties": False,
    }
    expression = (
        "Whole numbers, letters, + - * / **, brackets, the heads "
        f"{', '.join(HEADS)}; for a condition one of <=, <, >=, >, == between two of them."
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": FORMAT,
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "letters": {"type": "object", "additionalProperties": symbol},
            "certificate": schema_of(CERTIFICATE),
            QUANTITIES: {"type": "array", "items": {"type": "string"}, "description": _OF_QUANTITIES},
            LEMMAS: {"type": "array", "items": _of_lemma(), "description": _OF_LEMMAS},
            DEFINITION: {"type": "string", "description": _OF_DEFINITION},
        },
        "required": ["format", "version", "letters", "certificate"],
        "additionalProperties": False,
        "$defs": {"expression": {"type": "string", "description": expression}},
    }


def _of_lemma() -> _Schema:
    """Return the schema of a lemma, whose certificate may be of any kind."""
    entries = {
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
        "place": {"enum": list(get_args(Place))},
        "statement": _EXPRESSION,
        "certificate": {"$ref": "#/properties/certificate"},
    }
    conditions = {"conditions": {"type": "array", "items": _EXPRESSION}}
    return _object(entries | conditions, list(entries))


@singledispatch
def schema_of(_shape: Shape) -> _Schema:
    """Return the schema of a shape."""
    return _TEXT


@schema_of.register
def _flag(_shape: Flag) -> _Schema:
    return {"type": "boolean"}


@schema_of.register
def _count(_shape: Count) -> _Schema:
    return {"type": "integer", "minimum": 0}


@schema_of.register
def _expression(_shape: Expression | Ordering) -> _Schema:
    return _EXPRESSION


@schema_of.register
def _describe_named(shape: Named) -> _Schema:
    """Return the schema of a name from a fixed list."""
    return {"enum": list(shape.known)}


@schema_of.register
def _describe_list(shape: Many) -> _Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema_of(shape.of)}


@schema_of.register
def _table(shape: Table) -> _Schema:
    return {"type": "object", "additionalProperties": schema_of(shape.of)}


@schema_of.register
def _record(shape: Record) -> _Schema:
    required = [name for name in shape.fields if name in shape.required]
    fields = {name: schema_of(one) for name, one in shape.fields.items()}
    return _object({"kind": {"const": shape.kind}} | fields, ["kind", *required])


@schema_of.register
def _one_of(shape: OneOf) -> _Schema:
    return {"oneOf": [schema_of(record) for record in shape.records]}


@schema_of.register
def _describe_reason(_shape: Inequality) -> _Schema:
    """Return the schema of a reference to an inequality of the kernel."""
    return {"oneOf": [_describe_inequality(kind) for kind in INEQUALITIES]}


@schema_of.register
def _premise(_shape: Premise) -> _Schema:
    alone = [_object({name: schema_of(shape)}, [name]) for name, shape in ALONE.items()]
    return {"oneOf": [*alone, *schema_of(CONSEQUENCES)["oneOf"]]}


@schema_of.register
def _link(_shape: Link) -> _Schema:
    return {"oneOf": [schema_of(TERMS), *schema_of(LINKS_OF_THEIR_OWN)["oneOf"]]}


def _object(properties: _Schema, required: list[str]) -> _Schema:
    """Return the JSON schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _describe_inequality(kind: str) -> _Schema:
    shapes = {subject.name: _describe_subject(subject) for subject in subjects(kind)}
    return _object({"reason": {"const": kind}} | shapes, ["reason", *shapes])


def _describe_subject(subject: Parameter) -> _Schema:
    if subject.kind is Parameter.VAR_POSITIONAL:
        return {"type": "array", "items": _EXPRESSION}
    return _TEXT if subject.name == NAME else _EXPRESSION
