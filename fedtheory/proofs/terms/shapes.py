"""Conversions of terms to data, derived from the types of their fields.

Each shape reads, writes and describes values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel.work import NODE, spend
from fedtheory.proofs.document.notation import Scope, read, read_ordering
from fedtheory.proofs.document.writing import write_expression
from fedtheory.proofs.terms.rules import RULES
from fedtheory.proofs.terms.term import ProofTerm

Json = Any
Schema = dict[str, Any]
_FORMULA: Schema = {"$ref": "#/$defs/formula"}


class Shape(ABC):
    """One kind of value."""

    @abstractmethod
    def read(self, data: Json, scope: Scope, where: str) -> Any:
        """Return the value of JSON data; an `InputError` names the place and what was expected."""

    def write(self, value: Any, _scope: Scope) -> Json:
        """Return a value as JSON."""
        return value

    @abstractmethod
    def schema(self) -> Schema:
        """Return the JSON schema."""


class _Formula(Shape):
    """An expression in the notation of certificates."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        return read(data, scope, where)

    def write(self, value: Any, scope: Scope) -> Json:
        return write_expression(value, scope)

    def schema(self) -> Schema:
        return _FORMULA


class _Condition(_Formula):
    """An ordering of two expressions, or an equation."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        return read_ordering(data, scope, where)


class _Variable(Shape):
    """A symbol that the document declares."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        if not isinstance(data, str) or data not in scope.own:
            raise InputError(where, f"expected a symbol that the document declares, got {data!r:.80}")
        return scope.symbols[data]

    def write(self, value: sp.Symbol, scope: Scope) -> Json:
        return scope.name_of(value)

    def schema(self) -> Schema:
        return {"type": "string"}


class _NameOrFormula(_Formula):
    """A name, in its own table, or an expression."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        if isinstance(data, dict):
            if data.keys() != {"name"} or not isinstance(data["name"], str):
                raise InputError(where, f"expected a table with a name, got {data!r:.80}")
            return data["name"]
        return read(data, scope, where)

    def write(self, value: Any, scope: Scope) -> Json:
        return {"name": value} if isinstance(value, str) else write_expression(value, scope)

    def schema(self) -> Schema:
        return {"oneOf": [_FORMULA, _object({"name": {"type": "string"}}, ["name"])]}


@dataclass(frozen=True)
class _Plain(Shape):
    """A text, a non-negative whole number, or true or false."""

    kind: type
    name: str

    def read(self, data: Json, _scope: Scope, where: str) -> Any:
        if type(data) is not self.kind or (isinstance(data, int) and data < 0):
            raise InputError(where, f"expected {self.name}, got {data!r:.80}")
        return data

    def schema(self) -> Schema:
        return {"type": {str: "string", bool: "boolean", int: "integer"}[self.kind]}


@dataclass(frozen=True)
class _Choice(Shape):
    """One of a few texts."""

    values: tuple[str, ...]

    def read(self, data: Json, _scope: Scope, where: str) -> Any:
        if not isinstance(data, str) or data not in self.values:
            raise InputError(where, f"expected one of {', '.join(self.values)}, got {data!r:.80}")
        return data

    def schema(self) -> Schema:
        return {"enum": list(self.values)}


@dataclass(frozen=True)
class _Many(Shape):
    """A list."""

    of: Shape

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        if not isinstance(data, list):
            raise InputError(where, f"expected a list, got {data!r:.80}")
        return tuple(self.of.read(one, scope, f"{where}[{n}]") for n, one in enumerate(data))

    def write(self, value: Any, scope: Scope) -> Json:
        return [self.of.write(one, scope) for one in value]

    def schema(self) -> Schema:
        return {"type": "array", "items": self.of.schema()}


@dataclass(frozen=True)
class _Optional(Shape):
    """A value, or null."""

    of: Shape

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        return None if data is None else self.of.read(data, scope, where)

    def write(self, value: Any, scope: Scope) -> Json:
        return None if value is None else self.of.write(value, scope)

    def schema(self) -> Schema:
        return {"oneOf": [{"type": "null"}, self.of.schema()]}


@dataclass(frozen=True)
class Record(Shape):
    """A table with an entry for each field of a class; fields with their default are omitted."""

    made: type
    rule: str | None = None
    """The name of the rule, if the class is a term."""

    @cached_property
    def _fields(self) -> Mapping[str, Shape]:
        """Return the shapes of the fields by name."""
        hints = get_type_hints(self.made, include_extras=True)
        return {one.name: shape_of(hints[one.name]) for one in fields(self.made)}

    @cached_property
    def _defaults(self) -> Mapping[str, Any]:
        """Return the default values of the fields by name."""
        return {one.name: one.default for one in fields(self.made) if one.default is not MISSING}

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        spend(NODE)
        known, needed = set(self._fields), set(self._fields) - self._defaults.keys()
        tag = set() if self.rule is None else {"rule"}
        if not isinstance(data, dict) or not needed | tag <= data.keys() <= known | tag:
            expected = ", ".join(sorted(needed | tag))
            raise InputError(where, f"expected a table with {expected}, got {data!r:.80}")
        given = [name for name in self._fields if name in data]
        return self.made(**{name: self._fields[name].read(data[name], scope, f"{where}.{name}") for name in given})

    def write(self, value: Any, scope: Scope) -> Json:
        entries = {} if self.rule is None else {"rule": self.rule}
        for name, shape in self._fields.items():
            own = getattr(value, name)
            if name not in self._defaults or own != self._defaults[name]:
                entries[name] = shape.write(own, scope)
        return entries

    def schema(self) -> Schema:
        tag: Schema = {} if self.rule is None else {"rule": {"const": self.rule}}
        needed = [name for name in self._fields if name not in self._defaults]
        return _object(tag | {name: shape.schema() for name, shape in self._fields.items()}, [*tag, *needed])


class _AnyTerm(Shape):
    """A term of any rule."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        rule = data.get("rule") if isinstance(data, dict) else None
        if not isinstance(rule, str) or rule not in RULES:
            raise InputError(f"{where}.rule", f"expected one of {', '.join(RULES)}, got {rule!r:.80}")
        return record_of(RULES[rule]).read(data, scope, where)

    def write(self, value: Any, scope: Scope) -> Json:
        if RULES.get(getattr(type(value), "rule", "")) is not type(value):
            raise InputError("term", f"expected a term of a known rule, got {type(value).__name__}")
        return record_of(type(value)).write(value, scope)

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/term"}


@cache
def record_of(made: type) -> Record:
    """Return the shape of a class of terms, or of the records in them."""
    return Record(made, getattr(made, "rule", None))


def shape_of(hint: Any) -> Shape:
    """Return the shape of the values of a type."""
    origin = get_origin(hint)
    if origin is None:
        return _shape_of_class(hint)
    if origin is tuple:
        return _Many(shape_of(get_args(hint)[0]))
    if origin in (Union, UnionType):
        others = [kind for kind in get_args(hint) if kind is not NoneType]
        return _Optional(shape_of(others[0])) if len(others) == 1 else _NameOrFormula()
    return _Choice(get_args(hint)) if origin is Literal else _ANNOTATED[get_args(hint)[1]]


_ANNOTATED: Mapping[str, Shape] = {"formula": _Formula(), "condition": _Condition(), "variable": _Variable()}
_PLAIN = {str: "a text", bool: "true or false", int: "a whole number from zero on"}


def _shape_of_class(made: type) -> Shape:
    """Return the shape of a class."""
    if made in _PLAIN:
        return _Plain(made, _PLAIN[made])
    return _AnyTerm() if made is ProofTerm else record_of(made)


def _object(properties: Schema, required: list[str]) -> Schema:
    """Return the JSON schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
