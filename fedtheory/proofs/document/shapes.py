"""Shapes of data: each reads, writes and describes one kind of value; shapes of records follow from their types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from fedtheory.errors import InputError
from fedtheory.kernel.work import NODE, spend
from fedtheory.proofs.document.notation import Scope, read, read_ordering, write_expression

Json = Any
Schema = dict[str, Any]


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


@dataclass(frozen=True)
class Plain(Shape):
    """A text, a non-negative whole number, or true or false."""

    kind: type
    name: str
    described: Schema

    def read(self, data: Json, _scope: Scope, where: str) -> Any:
        if type(data) is not self.kind or (isinstance(data, int) and data < 0):
            raise InputError(where, f"expected {self.name}, got {data!r:.80}")
        return data

    def schema(self) -> Schema:
        return self.described


TEXT = Plain(str, "a text", {"type": "string"})
FLAG = Plain(bool, "true or false", {"type": "boolean"})
COUNT = Plain(int, "a whole number from zero on", {"type": "integer", "minimum": 0})


class Expression(Shape):
    """An expression in the notation."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        return read(data, scope, where)

    def write(self, value: Any, scope: Scope) -> Json:
        return write_expression(value, scope)

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/expression"}


class Ordering(Expression):
    """An ordering of two expressions, or an equation."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        return read_ordering(data, scope, where)


class Symbol(Shape):
    """A symbol that the document declares."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        if not isinstance(data, str) or data not in scope.own:
            raise InputError(where, f"expected a symbol that the document declares, got {data!r:.80}")
        return scope.symbols[data]

    def write(self, value: Any, scope: Scope) -> Json:
        return scope.name_of(value)

    def schema(self) -> Schema:
        return TEXT.schema()


@dataclass(frozen=True)
class Named(Shape):
    """One of several named values."""

    known: Mapping[str, Any]

    def read(self, data: Json, _scope: Scope, where: str) -> Any:
        if not isinstance(data, str) or data not in self.known:
            raise InputError(where, f"expected one of {', '.join(self.known)}, got {data!r:.80}")
        return self.known[data]

    def write(self, value: Any, _scope: Scope) -> Json:
        name = next((name for name, one in self.known.items() if one is value or one == value == name), None)
        if name is None:
            raise InputError("certificate", f"expected one of {', '.join(self.known)}, got {value!r:.80}")
        return name

    def schema(self) -> Schema:
        return {"enum": list(self.known)}


@dataclass(frozen=True)
class Many(Shape):
    """A list."""

    of: Shape
    made: type = list

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        items = require(data, list, "a list", where)
        return self.made(self.of.read(one, scope, f"{where}[{n}]") for n, one in enumerate(items))

    def write(self, value: Any, scope: Scope) -> Json:
        if not isinstance(value, list | tuple):
            raise InputError("certificate", f"expected a list, got {value!r:.80}")
        return [self.of.write(one, scope) for one in value]

    def schema(self) -> Schema:
        return {"type": "array", "items": self.of.schema()}


@dataclass(frozen=True)
class Table(Shape):
    """Values by their names, or by symbols of the document."""

    key: Shape
    of: Shape

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        entries = require(data, dict, "a table", where).items()
        return {self.key.read(key, scope, where): self.of.read(one, scope, f"{where}.{key}") for key, one in entries}

    def write(self, value: Any, scope: Scope) -> Json:
        return {self.key.write(key, scope): self.of.write(one, scope) for key, one in value.items()}

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.of.schema()}


@dataclass(frozen=True)
class Record(Shape):
    """A table with an entry for each field of a class; fields with their default are omitted."""

    made: type
    types: Types
    tag: Mapping[str, str]
    """The entry that names the kind of the record, if there is one."""

    @cached_property
    def fields(self) -> Mapping[str, Shape]:
        """Return the shapes of the fields by name."""
        hints = get_type_hints(self.made, localns=dict(self.types.local), include_extras=True)
        return {one.name: self.types.shape_of(hints[one.name]) for one in fields(self.made)}

    @cached_property
    def _defaults(self) -> Mapping[str, Any]:
        """Return the default values of the fields by name."""
        return {one.name: one.default for one in fields(self.made) if one.default is not MISSING}

    @cached_property
    def _required(self) -> set[str]:
        """The keys that a document must contain."""
        return {*self.tag, *self.fields} - self._defaults.keys()

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        spend(NODE)
        require_keys(data, {*self.tag, *self.fields}, self._required, where)
        given = {name: shape for name, shape in self.fields.items() if name in data}
        return self.made(**{name: shape.read(data[name], scope, f"{where}.{name}") for name, shape in given.items()})

    def write(self, value: Any, scope: Scope) -> Json:
        if type(value) is not self.made:
            raise InputError("certificate", f"expected {self.made.__name__}, got {value!r:.80}")
        given = {name: getattr(value, name) for name in self.fields}
        kept = {name: one for name, one in given.items() if not self._is_default(name, one)}
        return {**self.tag, **{name: self.fields[name].write(one, scope) for name, one in kept.items()}}

    def _is_default(self, name: str, value: Any) -> bool:
        """Return whether a field has its default; an empty list is an empty tuple."""
        default = self._defaults.get(name, MISSING)
        return (type(value) is type(default) and value == default) or (default == () and not value)

    def schema(self) -> Schema:
        tag = {name: {"const": value} for name, value in self.tag.items()}
        entries = {name: shape.schema() for name, shape in self.fields.items()}
        return describe_object(tag | entries, [name for name in (*tag, *entries) if name in self._required])


@dataclass(frozen=True)
class OneOf(Shape):
    """A record of one of several kinds."""

    records: Sequence[Record]
    reference: str | None = None
    """The definition in the schema, if records may contain records of these kinds."""

    @cached_property
    def _by_kind(self) -> Mapping[str, Record]:
        """Return the records by the names of their kinds."""
        return {kind: record for record in self.records for kind in record.tag.values()}

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        (key,) = self.records[0].tag
        kind = require(data, dict, "a table", where).get(key)
        if not isinstance(kind, str) or kind not in self._by_kind:
            raise InputError(f"{where}.{key}", f"expected one of {', '.join(self._by_kind)}, got {kind!r:.80}")
        return self._by_kind[kind].read(data, scope, where)

    def write(self, value: Any, scope: Scope) -> Json:
        record = next((record for record in self.records if type(value) is record.made), None)
        if record is None:
            raise InputError("certificate", f"{type(value).__name__} has no place in a document")
        return record.write(value, scope)

    def schema(self) -> Schema:
        return {"$ref": self.reference} if self.reference else self.choices()

    def choices(self) -> Schema:
        """Return the schema of all records."""
        return {"oneOf": [record.schema() for record in self.records]}


@dataclass(frozen=True, eq=False)
class Types:
    """Shapes of the values of types: listed ones, lists and tables of them, and records of dataclasses."""

    tag: Callable[[Any], Mapping[str, str]]
    """A function that returns the entry that names the kind of a record."""
    local: Mapping[str, Any] = field(default_factory=dict)
    """Names in annotations that their modules do not import."""
    known: dict[Any, Shape] = field(default_factory=dict)
    """Shapes of special types."""

    def shape_of(self, hint: Any) -> Shape:
        """Return the shape of the values of a type."""
        if hint in self.known:
            return self.known[hint]
        inside = [one for one in get_args(hint) if one is not NoneType]
        origin = get_origin(hint)
        if origin in (Sequence, tuple):
            return Many(self.shape_of(inside[0]), tuple if origin is tuple else list)
        if origin is Mapping:
            return Table(*map(self.shape_of, inside))
        if origin is Literal:
            return Named({name: name for name in inside})
        if len(inside) == 1:
            return self.shape_of(inside[0])
        return self.one_of(inside) if inside else self.record(hint)

    def record(self, made: type) -> Record:
        """Return the shape of a dataclass."""
        return Record(made, self, self.tag(made))

    def one_of(self, kinds: Sequence[type], reference: str | None = None) -> OneOf:
        """Return the shape of a choice between dataclasses."""
        return OneOf(tuple(map(self.record, kinds)), reference)


PLAIN: Mapping[Any, Shape] = {str: TEXT, bool: FLAG, int: COUNT}
"""Shapes of the types of Python."""


def require(data: Json, kind: type, words: str, where: str) -> Any:
    """Return JSON data of a type; raise `InputError` for others."""
    if not isinstance(data, kind):
        raise InputError(where, f"expected {words}, got {data!r:.80}")
    return data


def require_keys(data: Json, known: set[str], required: set[str], where: str) -> None:
    """Raise `InputError` unless the data are a table with the required keys and none but known ones."""
    for name in require(data, dict, "a table", where):
        if name not in known:
            raise InputError(f"{where}.{name}", f"unknown key; expected {', '.join(sorted(known))}")
    missing = sorted(required - data.keys())
    if missing:
        raise InputError(where, f"expected {', '.join(missing)} as well")


def describe_object(properties: Schema, required: list[str]) -> Schema:
    """Return the JSON schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
