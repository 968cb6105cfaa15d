"""Kinds of certificates, as records of a document.

The entries of a record are the fields of its class, and each is read according to the type of its field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import sympy as sp

from fedtheory.kernel import InequalityRef, Term
from fedtheory.proofs import certificate
from fedtheory.proofs.cases import Case, Cases
from fedtheory.proofs.certificate import BothWays, Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.contraction import Contraction, ExponentialAverage
from fedtheory.proofs.coupling import LastIterate, LastRound
from fedtheory.proofs.decoding import DERIVED, FACTS, MEASURES, AnyCertificate
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.distances import Measure
from fedtheory.proofs.document import shapes
from fedtheory.proofs.document.notation import Scope
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.links import (
    CauchySchwarz,
    Induction,
    Nonnegative,
    Positive,
    PrefixSum,
    Product,
    Products,
    Squared,
)
from fedtheory.proofs.lyapunov import Lyapunov
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import AnyPremise, Part
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.restarts import LoopMean
from fedtheory.proofs.roots import Root

_DERIVED = {one: one.kind for one in DERIVED}
_LINKS = {
    BothWays: "both ways",
    Induction: "induction",
    Squared: "squared",
    Products: "products",
    Positive: "positive",
    PrefixSum: "total of the past",
}
_KINDS = {
    **_DERIVED,
    **_LINKS,
    Term: "term",
    Part: "part",
    Root: "root",
    Nonnegative: "shown",
    CauchySchwarz: "Cauchy-Schwarz",
    Product: "product",
    Certificate: "identities",
    Combination: "combination",
    MeanCertificate: "mean",
    Contraction: "contraction",
    ExponentialAverage: "discounted",
    LastRound: "last round",
    LastIterate: "last model",
    Recursion: "recursion",
    LoopMean: "mean over the loop",
    FixedPoint: "at rest",
    Lyapunov: "Lyapunov",
    Case: "case",
    Cases: "cases",
}
"""Records that a document may contain, by the name of their kind."""


class Premise(shapes.Shape):
    """Premise that a part multiplies: a fact, a condition, a proved claim, or a consequence of one."""

    def read(self, document: shapes.Json, scope: Scope, where: str) -> Any:
        if isinstance(document, dict) and len(document) == 1 and document.keys() <= ALONE.keys():
            ((name, one),) = document.items()
            return ALONE[name].read(one, scope, f"{where}.{name}")
        return CONSEQUENCES.read(document, scope, where)


class Link(shapes.Shape):
    """Proof of a relation: a list of terms, or another kind of link."""

    def read(self, document: shapes.Json, scope: Scope, where: str) -> Any:
        shape = TERMS if isinstance(document, list) else LINKS_OF_THEIR_OWN
        return shape.read(document, scope, where)


_OF_TYPES: dict[Any, shapes.Shape] = {
    str: shapes.Text(),
    bool: shapes.Flag(),
    int: shapes.Count(),
    Any: shapes.Expression(),
    sp.Symbol: shapes.Symbol(),
    sp.Rel: shapes.Ordering(),
    InequalityRef: shapes.Inequality(),
    Measure: shapes.Named(MEASURES),
    AnyPremise: Premise(),
    certificate.Link: Link(),
}


def _shape(of: Any) -> shapes.Shape:
    """Return the reader for values of a type."""
    if of in _OF_TYPES:
        return _OF_TYPES[of]
    inside = [one for one in get_args(of) if one is not NoneType]
    if get_origin(of) is Sequence:
        return shapes.Many(_shape(inside[0]))
    if get_origin(of) is Mapping:
        return shapes.Table(_shape(inside[1]), keys_are_symbols=inside[0] is sp.Symbol)
    if get_origin(of) is Literal:
        return shapes.Named({name: name for name in inside})
    if inside:
        return _shape(inside[0]) if len(inside) == 1 else _one_of(inside)
    return _record(of)


def _record(made: Any) -> shapes.Record:
    """Return the shape of a dataclass."""
    types = get_type_hints(made, localns={"Part": Part})
    return shapes.Record(_KINDS[made], made, {one.name: _shape(types[one.name]) for one in fields(made)})


def _one_of(kinds: Sequence[Any]) -> shapes.OneOf:
    """Return the shape of a choice between dataclasses."""
    return shapes.OneOf(tuple(map(_record, kinds)))


CONSEQUENCES = _OF_TYPES[Derived] = _one_of([*_DERIVED])
ALONE: dict[str, shapes.Shape] = {"fact": shapes.Named(FACTS), "condition": shapes.Ordering(), "claim": shapes.Text()}
"""Premises that are not derived from a claim, by their only key."""
TERMS, LINKS_OF_THEIR_OWN = _shape(Sequence[Term]), _one_of([*_LINKS])
CERTIFICATE = _one_of(get_args(AnyCertificate))
"""A certificate of any kind."""
