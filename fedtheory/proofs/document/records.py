"""Kinds of certificates, as records of a document, and the shapes of values in them."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter
from typing import Any, get_args

import sympy as sp
from sympy.core.relational import Relational

from fedtheory.errors import InputError
from fedtheory.kernel import InequalityRef, Rejected, Term
from fedtheory.kernel.inequalities import INEQUALITIES, subjects
from fedtheory.proofs import certificate
from fedtheory.proofs.cases import CaseCertificate, Cases
from fedtheory.proofs.decoding import DERIVED, FACTS, KINDS, MEASURES
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.distances import Measure
from fedtheory.proofs.document.notation import Scope
from fedtheory.proofs.document.shapes import (
    PLAIN,
    TEXT,
    Expression,
    Json,
    Many,
    Named,
    Ordering,
    Schema,
    Shape,
    Symbol,
    Types,
    describe_object,
    require,
    require_keys,
)
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.parts import AnyPremise, Part


class Inequality(Shape):
    """A reference to an inequality of the kernel, with its arguments by the names of the parameters."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        kind = require(
            require(data, dict, "a reason", where).get("reason"), str, "the name of a reason", f"{where}.reason"
        )
        try:
            shapes = _find_shapes(kind)
        except Rejected as reason:
            raise InputError(f"{where}.reason", str(reason)) from None
        keys = {"reason", *shapes}
        require_keys(data, keys, keys, where)
        about = {name: shape.read(data[name], scope, f"{where}.{name}") for name, shape in shapes.items()}
        several = [one for one in about.values() if isinstance(one, list)]
        return InequalityRef(kind, tuple(several[0] if several else about.values()))

    def write(self, value: Any, scope: Scope) -> Json:
        if type(value) is not InequalityRef:
            raise InputError("certificate", f"expected a reason of the kernel, got {value!r:.80}")
        shapes = _find_shapes(value.kind)
        about = [value.about] if any(isinstance(shape, Many) for shape in shapes.values()) else value.about
        if len(about) != len(shapes):
            expected = f"{value.kind}({', '.join(shapes)}) takes {len(shapes)} arguments, got {len(about)}"
            raise InputError("certificate", expected)
        if "name" in shapes and not isinstance(about[0], str):
            advice = "`fedtheory inequalities --claim ID` lists the names of a claim's assumptions"
            expected = f"expected a name such as assumption('bounded variance'), got {about[0]!r:.80}; {advice}"
            raise InputError("certificate", expected)
        given = zip(shapes.items(), about, strict=True)
        return {"reason": value.kind} | {name: shape.write(one, scope) for (name, shape), one in given}

    def schema(self) -> Schema:
        return {"oneOf": [_describe_inequality(kind) for kind in INEQUALITIES]}


def _find_shapes(kind: str) -> dict[str, Shape]:
    """Return the shapes of the arguments of an inequality: a name, a list of expressions, or expressions."""
    return {one.name: _find_shape(one) for one in subjects(kind)}


def _find_shape(subject: Parameter) -> Shape:
    if subject.kind is Parameter.VAR_POSITIONAL:
        return Many(Expression())
    return TEXT if subject.name == "name" else Expression()


def _describe_inequality(kind: str) -> Schema:
    """Return the schema of a reference to an inequality."""
    shapes = {name: shape.schema() for name, shape in _find_shapes(kind).items()}
    return describe_object({"reason": {"const": kind}} | shapes, ["reason", *shapes])


class Premise(Shape):
    """Premise that a part multiplies: a fact, a condition, a proved claim, or a consequence of one."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        if isinstance(data, dict) and len(data) == 1 and data.keys() <= _ALONE.keys():
            ((name, one),) = data.items()
            return _ALONE[name].read(one, scope, f"{where}.{name}")
        return _CONSEQUENCES.read(data, scope, where)

    def write(self, value: Any, scope: Scope) -> Json:
        kinds = {Fact: "fact", Relational: "condition", str: "claim"}
        kind = next((name for made, name in kinds.items() if isinstance(value, made)), None)
        return _CONSEQUENCES.write(value, scope) if kind is None else {kind: _ALONE[kind].write(value, scope)}

    def schema(self) -> Schema:
        alone = [describe_object({name: shape.schema()}, [name]) for name, shape in _ALONE.items()]
        return {"oneOf": [*alone, *_CONSEQUENCES.schema()["oneOf"]]}


class Link(Shape):
    """Proof of a relation: a list of terms, or another kind of link."""

    def read(self, data: Json, scope: Scope, where: str) -> Any:
        return (_TERMS if isinstance(data, list) else _LINKS_WITH_KINDS).read(data, scope, where)

    def write(self, value: Any, scope: Scope) -> Json:
        if isinstance(value, Term):
            expected = "expected a list of terms for each relation, as in links=[[Term(...), ...]]"
            raise InputError("certificate", f"links: {expected}")
        return (_TERMS if isinstance(value, list | tuple) else _LINKS_WITH_KINDS).write(value, scope)

    def schema(self) -> Schema:
        return {"oneOf": [_TERMS.schema(), *_LINKS_WITH_KINDS.schema()["oneOf"]]}


_TYPES = Types(lambda made: {"kind": made.kind}, {"Part": Part})
_CONSEQUENCES, _LINKS_WITH_KINDS = _TYPES.one_of(DERIVED), _TYPES.one_of(get_args(certificate.Link)[1:])
_TYPES.known.update(PLAIN)
_TYPES.known.update(
    {
        Any: Expression(),
        sp.Symbol: Symbol(),
        sp.Rel: Ordering(),
        InequalityRef: Inequality(),
        Measure: Named(MEASURES),
        AnyPremise: Premise(),
        certificate.Link: Link(),
        Derived: _CONSEQUENCES,
        CaseCertificate | Cases: _TYPES.one_of((*get_args(CaseCertificate), Cases), "#/properties/certificate"),
    }
)
_ALONE: dict[str, Shape] = {"fact": Named(FACTS), "condition": Ordering(), "claim": TEXT}
"""Premises that are not derived from a claim, by their only key."""
_TERMS = _TYPES.shape_of(Sequence[Term])
CERTIFICATE = _TYPES.one_of(KINDS)
"""A certificate of any kind."""
