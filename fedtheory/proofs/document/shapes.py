"""Readers for the kinds of values in a document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter
from typing import Any

from fedtheory.errors import InputError
from fedtheory.kernel import Rejected
from fedtheory.kernel.inequalities import InequalityRef, subjects
from fedtheory.proofs.document.notation import Scope, read, read_ordering

Json = Any


class Shape(ABC):
    """One kind of value."""

    @abstractmethod
    def read(self, document: Json, scope: Scope, where: str) -> Any:
        """Return the value of JSON data; an `InputError` names the place and what was expected."""


class Text(Shape):
    """A name."""

    def read(self, document: Json, _scope: Scope, where: str) -> Any:
        return _require(document, str, "a text", where)


class Flag(Shape):
    """True or false."""

    def read(self, document: Json, _scope: Scope, where: str) -> Any:
        return _require(document, bool, "true or false", where)


class Count(Shape):
    """A non-negative whole number."""

    def read(self, document: Json, _scope: Scope, where: str) -> Any:
        if type(document) is not int or document < 0:
            raise InputError(where, f"expected a whole number from zero on, got {document!r:.80}")
        return document


class Expression(Shape):
    """An expression in the notation."""

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        return read(document, scope, where)


class Symbol(Shape):
    """A symbol that the certificate declares."""

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        if not isinstance(document, str) or document not in scope.own:
            raise InputError(where, f"expected a symbol that the certificate declares, got {document!r:.80}")
        return scope.symbols[document]


class Ordering(Shape):
    """An ordering of two expressions."""

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        return read_ordering(document, scope, where)


@dataclass(frozen=True)
class Named(Shape):
    """One of several named values."""

    known: Mapping[str, Any]

    def read(self, document: Json, _scope: Scope, where: str) -> Any:
        if not isinstance(document, str) or document not in self.known:
            raise InputError(where, f"expected one of {', '.join(self.known)}, got {document!r:.80}")
        return self.known[document]


@dataclass(frozen=True)
class Many(Shape):
    """A list."""

    of: Shape

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        items = _require(document, list, "a list", where)
        return [self.of.read(one, scope, f"{where}[{n}]") for n, one in enumerate(items)]


_SYMBOL = Symbol()


@dataclass(frozen=True)
class Table(Shape):
    """Values by their names, or by symbols of the certificate."""

    of: Shape
    keys_are_symbols: bool = False

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        entries = _require(document, dict, "a table", where)
        key = _SYMBOL if self.keys_are_symbols else Text()
        return {
            key.read(name, scope, where): self.of.read(one, scope, f"{where}.{name}") for name, one in entries.items()
        }


@dataclass(frozen=True)
class Record(Shape):
    """An object of a class, field by field; fields with their default are omitted."""

    kind: str
    made: type
    fields: Mapping[str, Shape]

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        entries = _require(document, dict, "a table", where)
        _require_keys(entries, {"kind", *self.fields}, {"kind", *self.required}, where)
        if entries["kind"] != self.kind:
            raise InputError(f"{where}.kind", f"expected {self.kind}, got {entries['kind']!r:.80}")
        given = {name: entries[name] for name in self.fields if name in entries}
        return self.made(**{name: self.fields[name].read(one, scope, f"{where}.{name}") for name, one in given.items()})

    @property
    def defaults(self) -> dict[str, Any]:
        """Return the default of a field; `MISSING` if documents must contain it."""
        return {one.name: one.default for one in fields(self.made)}

    @property
    def required(self) -> set[str]:
        """The fields that a document must contain."""
        return {name for name in self.fields if self.defaults[name] is MISSING}


@dataclass(frozen=True)
class OneOf(Shape):
    """A record of one of several kinds."""

    records: tuple[Record, ...]

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        entries = _require(document, dict, "a table", where)
        kinds = {record.kind: record for record in self.records}
        kind = entries.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            raise InputError(f"{where}.kind", f"expected one of {', '.join(kinds)}, got {kind!r:.80}")
        return kinds[kind].read(entries, scope, where)


class Inequality(Shape):
    """A reference to an inequality of the kernel, with its arguments by the names of the parameters."""

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
        return InequalityRef(entries["reason"], tuple(about))

    def _subject(self, subject: Parameter, document: Json, scope: Scope, where: str) -> list[Any]:
        """Read one argument of a reason: a name, a list of expressions, or an expression."""
        if subject.name == NAME:
            return [_require(document, str, "a text", where)]
        if subject.kind is Parameter.VAR_POSITIONAL:
            return list(Many(Expression()).read(document, scope, where))
        return [read(document, scope, where)]


NAME = "name"
"""The parameter of an inequality that is a text."""


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
