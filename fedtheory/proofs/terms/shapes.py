"""Shapes of proof terms as data, by the types of their fields."""

from __future__ import annotations

from typing import Any

from fedtheory.errors import InputError
from fedtheory.proofs.document.notation import Scope
from fedtheory.proofs.document.shapes import (
    PLAIN,
    TEXT,
    Expression,
    Json,
    Ordering,
    Schema,
    Symbol,
    Types,
    describe_object,
)
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules import RULES
from fedtheory.proofs.terms.term import Condition, Formula, ProofTerm, Variable


class _NameOrFormula(Expression):
    """A name, in a table, or an expression."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        if isinstance(data, dict):
            if data.keys() != {"name"} or not isinstance(data["name"], str):
                raise InputError(where, f"expected a table with a name, got {data!r:.80}")
            return data["name"]
        return super().read(data, scope, where)

    def write(self, value: Any, scope: Scope) -> Json:
        return {"name": value} if isinstance(value, str) else super().write(value, scope)

    def schema(self) -> Schema:
        return {"oneOf": [super().schema(), describe_object({"name": TEXT.schema()}, ["name"])]}


TYPES = Types(lambda made: {"rule": made.rule} if issubclass(made, ProofTerm) else {})
ANY_TERM = TYPES.one_of([*RULES.values()], reference="#/$defs/term")
"""A term of any rule."""
TYPES.known.update(PLAIN)
TYPES.known.update(
    {
        Formula: Expression(),
        Formula | str: _NameOrFormula(),
        Condition: Ordering(),
        Variable: Symbol(),
        ProofTerm: ANY_TERM,
    }
)
PROOF = TYPES.record(TermProof)
"""The terms of a claim."""
