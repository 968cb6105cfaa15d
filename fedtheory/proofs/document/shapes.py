"""The shapes of a document: for each kind of value how it is written, how it is read, and its JSON schema."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter
from typing import Any, ClassVar

from fedtheory.errors import InputError
from fedtheory.kernel import Rejected
from fedtheory.kernel.reasons import REASONS, Because, subjects
from fedtheory.proofs.document.notation import Scope, read, read_ordering, written

Json = Any


class Shape(ABC):
    """One kind of value."""

    @abstractmethod
    def write(self, value: Any, scope: Scope) -> Json:
        """The value as JSON."""

    @abstractmethod
    def read(self, document: Json, scope: Scope, where: str) -> Any:
        """The value of a piece of JSON; `InputError` names the place and what was expected."""

    @property
    @abstractmethod
    def schema(self) -> dict[str, Json]:
        """What JSON it is, as a JSON schema."""


class Text(Shape):
    """A name."""

    def write(self, value: Any, _scope: Scope) -> Json:
        return value

    def read(self, document: Json, _scope: Scope, where: str) -> Any:
        return _require(document, str, "a text", where)

    schema: ClassVar[dict[str, Json]] = {"type": "string"}


class Flag(Shape):
    """Yes or no."""

    def write(self, value: Any, _scope: Scope) -> Json:
        return value

    def read(self, document: Json, _scope: Scope, where: str) -> Any:
        return _require(document, bool, "true or false", where)

    schema: ClassVar[dict[str, Json]] = {"type": "boolean"}


class Count(Shape):
    """A whole number, not negative."""

    def write(self, value: Any, _scope: Scope) -> Json:
        return value

    def read(self, document: Json, _scope: Scope, where: str) -> Any:
        if type(document) is not int or document < 0:
            raise InputError(where, f"expected a whole number from zero on, got {document!r:.80}")
        return document

    schema: ClassVar[dict[str, Json]] = {"type": "integer", "minimum": 0}


class Expression(Shape):
    """An expression in the notation."""

    def write(self, value: Any, scope: Scope) -> Json:
        return written(value, scope)

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        return read(document, scope, where)

    schema: ClassVar[dict[str, Json]] = {"$ref": "#/$defs/expression"}


class Letter(Shape):
    """A letter that the certificate declares."""

    def write(self, value: Any, scope: Scope) -> Json:
        return scope.name_of(value)

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        if not isinstance(document, str) or document not in scope.own:
            raise InputError(where, f"expected a letter that the certificate declares, got {document!r:.80}")
        return scope.letters[document]

    schema: ClassVar[dict[str, Json]] = {"type": "string"}


class Ordering(Shape):
    """An ordering of two expressions."""

    def write(self, value: Any, scope: Scope) -> Json:
        return written(value, scope)

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        return read_ordering(document, scope, where)

    schema: ClassVar[dict[str, Json]] = {"$ref": "#/$defs/expression"}


@dataclass(frozen=True)
class Named(Shape):
    """One of a few things that have a name."""

    known: Mapping[str, Any]

    def write(self, value: Any, _scope: Scope) -> Json:
        name = next((name for name, one in self.known.items() if one is value), None)
        if name is None:
            raise InputError("certificate", f"expected one of {', '.join(self.known)}, got {value!r:.80}")
        return name

    def read(self, document: Json, _scope: Scope, where: str) -> Any:
        if not isinstance(document, str) or document not in self.known:
            raise InputError(where, f"expected one of {', '.join(self.known)}, got {document!r:.80}")
        return self.known[document]

    @property
    def schema(self) -> dict[str, Json]:
        return {"enum": list(self.known)}


@dataclass(frozen=True)
class Many(Shape):
    """A list."""

    of: Shape

    def write(self, value: Any, scope: Scope) -> Json:
        if not isinstance(value, list | tuple):
            raise InputError("certificate", f"expected a list, got {value!r:.80}")
        return [self.of.write(one, scope) for one in value]

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        items = _require(document, list, "a list", where)
        return [self.of.read(one, scope, f"{where}[{n}]") for n, one in enumerate(items)]

    @property
    def schema(self) -> dict[str, Json]:
        return {"type": "array", "items": self.of.schema}


_LETTER = Letter()


@dataclass(frozen=True)
class Table(Shape):
    """Values by their names, or by letters of the certificate."""

    of: Shape
    lettered: bool = False

    def write(self, value: Any, scope: Scope) -> Json:
        key = _LETTER if self.lettered else Text()
        return {key.write(name, scope): self.of.write(one, scope) for name, one in value.items()}

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        entries = _require(document, dict, "a table", where)
        key = _LETTER if self.lettered else Text()
        return {
            key.read(name, scope, where): self.of.read(one, scope, f"{where}.{name}") for name, one in entries.items()
        }

    @property
    def schema(self) -> dict[str, Json]:
        return {"type": "object", "additionalProperties": self.of.schema}


@dataclass(frozen=True)
class Record(Shape):
    """An object of a class, field by field; a field that has its default is left out."""

    kind: str
    made: type
    fields: Mapping[str, Shape]

    def write(self, value: Any, scope: Scope) -> Json:
        if type(value) is not self.made:
            raise InputError("certificate", f"expected {self.made.__name__}, got {value!r:.80}")
        given = {name: getattr(value, name) for name in self.fields}
        kept = {name: one for name, one in given.items() if not self._is_default(name, one)}
        return {"kind": self.kind} | {name: self.fields[name].write(one, scope) for name, one in kept.items()}

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        entries = _require(document, dict, "a table", where)
        _require_keys(entries, {"kind", *self.fields}, {"kind", *self._required}, where)
        if entries["kind"] != self.kind:
            raise InputError(f"{where}.kind", f"expected {self.kind}, got {entries['kind']!r:.80}")
        given = {name: entries[name] for name in self.fields if name in entries}
        return self.made(**{name: self.fields[name].read(one, scope, f"{where}.{name}") for name, one in given.items()})

    def _is_default(self, name: str, value: Any) -> bool:
        default = self._defaults[name]
        return value is default or (isinstance(default, tuple) and not default and not value)

    @property
    def _defaults(self) -> dict[str, Any]:
        return {one.name: one.default for one in fields(self.made)}

    @property
    def _required(self) -> set[str]:
        return {name for name in self.fields if self._defaults[name] is MISSING}

    @property
    def schema(self) -> dict[str, Json]:
        properties = {"kind": {"const": self.kind}} | {name: shape.schema for name, shape in self.fields.items()}
        return {
            "type": "object",
            "properties": properties,
            "required": ["kind", *(name for name in self.fields if name in self._required)],
            "additionalProperties": False,
        }


@dataclass(frozen=True)
class OneOf(Shape):
    """A record of one of several kinds."""

    records: tuple[Record, ...]

    def write(self, value: Any, scope: Scope) -> Json:
        record = next((record for record in self.records if type(value) is record.made), None)
        if record is None:
            raise InputError("certificate", f"{type(value).__name__} has no place in a document")
        return record.write(value, scope)

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        entries = _require(document, dict, "a table", where)
        kinds = {record.kind: record for record in self.records}
        kind = entries.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            raise InputError(f"{where}.kind", f"expected one of {', '.join(kinds)}, got {kind!r:.80}")
        return kinds[kind].read(entries, scope, where)

    @property
    def schema(self) -> dict[str, Json]:
        return {"oneOf": [record.schema for record in self.records]}


class Reason(Shape):
    """A reason of the kernel, with what it is about by the names of its parameters."""

    def write(self, value: Any, scope: Scope) -> Json:
        if type(value) is not Because:
            raise InputError("certificate", f"expected a reason of the kernel, got {value!r:.80}")
        expected = subjects(value.kind)
        if any(subject.kind is Parameter.VAR_POSITIONAL for subject in expected):
            return {"reason": value.kind, expected[0].name: [written(one, scope) for one in value.about]}
        if len(value.about) != len(expected):
            raise InputError("certificate", f"{value.kind} is about {len(expected)} things, got {len(value.about)}")
        given = zip(expected, value.about, strict=True)
        about = {one.name: thing if one.name == _NAME else written(thing, scope) for one, thing in given}
        return {"reason": value.kind} | about

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        entries = _require(document, dict, "a reason", where)
        try:
            expected = subjects(_require(entries.get("reason"), str, "the name of a reason", f"{where}.reason"))
        except Rejected as reason:
            raise InputError(f"{where}.reason", str(reason)) from None
        names = {subject.name for subject in expected}
        _require_keys(entries, {"reason", *names}, {"reason", *names}, where)
        about: list[Any] = []
        for subject in expected:
            about += self._subject(subject, entries[subject.name], scope, f"{where}.{subject.name}")
        return Because(entries["reason"], tuple(about))

    def _subject(self, subject: Parameter, document: Json, scope: Scope, where: str) -> list[Any]:
        if subject.name == _NAME:
            return [_require(document, str, "a text", where)]
        if subject.kind is Parameter.VAR_POSITIONAL:
            return list(Many(Expression()).read(document, scope, where))
        return [read(document, scope, where)]

    @property
    def schema(self) -> dict[str, Json]:
        return {"oneOf": [_schema_of_reason(kind) for kind in REASONS]}


_NAME = "name"
"""The parameter of a reason that is a text."""


def _schema_of_reason(kind: str) -> dict[str, Json]:
    expected = subjects(kind)
    shapes = {
        subject.name: Text.schema
        if subject.name == _NAME
        else Many(Expression()).schema
        if subject.kind is Parameter.VAR_POSITIONAL
        else Expression.schema
        for subject in expected
    }
    return {
        "type": "object",
        "properties": {"reason": {"const": kind}} | shapes,
        "required": ["reason", *shapes],
        "additionalProperties": False,
    }


def _require(document: Json, kind: type, words: str, where: str) -> Any:
    if not isinstance(document, kind):
        raise InputError(where, f"expected {words}, got {document!r:.80}")
    return document


def _require_keys(entries: dict[str, Json], known: set[str], required: set[str], where: str) -> None:
    for name in entries:
        if name not in known:
            raise InputError(f"{where}.{name}", f"unknown key; expected {', '.join(sorted(known))}")
    missing = sorted(required - entries.keys())
    if missing:
        raise InputError(where, f"expected {', '.join(missing)} as well")
