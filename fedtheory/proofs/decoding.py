"""Certificates as closed data: every certificate is rebuilt, part by part, from a closed list of types.

The parts are records, by the types of their fields: expressions that the kernel admits, orderings, texts, flags, whole
numbers, references to inequalities, and known facts and measures.  The symbols that a certificate declares become new
symbols without further assumptions.  Hence the verdict does not depend on how a certificate was written, read or found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from inspect import Parameter
from typing import Any, Literal, get_args, get_origin, get_type_hints

import sympy as sp

from fedtheory.kernel import InequalityRef, Rejected
from fedtheory.kernel.admitted import require_admitted, require_admitted_condition
from fedtheory.kernel.inequalities import subjects
from fedtheory.language.paper_parts import import_modules
from fedtheory.proofs import facts
from fedtheory.proofs.cases import Cases
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.distances import DISPLACEMENT, PAIR, SPREAD, Measure
from fedtheory.proofs.examined import Examined, list_kinds_of_papers
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.last_errors import LastOfContracting, LastOfFalling
from fedtheory.proofs.links import Products
from fedtheory.proofs.lyapunov import Lyapunov
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.paper_contexts import list_paper_rules
from fedtheory.proofs.parts import Part
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.restatements import Powers, Squares

AnyCertificate = Certificate | Combination | MeanCertificate | Recursion | Cases | Powers | Squares | Examined
EXAMINED: tuple[type[Examined], ...] = (
    *(Contraction, FixedPoint, Lyapunov),
    *(one for paper in list_kinds_of_papers() for one in paper.kinds),
)
"""Kinds of certificates with checks of their own."""
DERIVED: tuple[type[Derived], ...] = (
    Derived,
    *(one for rules in list_paper_rules() for one in rules.derived),
    *(LastOfFalling, LastOfContracting),
)
"""Derived relations of a proved claim."""
FACTS = {
    name.lower(): fact
    for module in (facts, *import_modules("context"))
    for name, fact in vars(module).items()
    if type(fact) is Fact
}
"""Every fact by its name."""
MEASURES: Mapping[str, Measure] = {
    **{"pair": PAIR, "spread": SPREAD, "displacement": DISPLACEMENT},
    **{name: measure for paper in list_kinds_of_papers() for name, measure in paper.measures.items()},
}
"""Every measure by its name."""
KINDS: tuple[type, ...] = (*get_args(AnyCertificate)[:-1], *EXAMINED)
"""Every kind of certificate."""
SIGNS = ("real", "nonnegative", "positive")
"""Signs that may be declared for a symbol, from the weakest to the strongest."""
SymbolTable = Mapping[Any, sp.Symbol]


def decode(certificate: object) -> AnyCertificate:
    """Return a rebuilt certificate; raise `Rejected` if it contains a type that is not on the list."""
    made: AnyCertificate = _make(
        AnyCertificate, certificate, {one: _renew(one) for one in declared_symbols(certificate)}
    )
    return made


def declared_symbols(certificate: Any) -> Iterator[Any]:
    """Yield the symbols that a certificate or one of its cases declares: for roots, and for products."""
    for other in (*getattr(certificate, "cases", ()), certificate):
        if hasattr(other, "why"):
            yield from declared_symbols(other.why)
    yield from (root.letter for root in getattr(certificate, "roots", ()))
    for link in getattr(certificate, "links", ()):
        if type(link) is Products:
            yield from link.scalars


def _renew(symbol: Any) -> sp.Symbol:
    """Return a new symbol with the name and sign of the given one."""
    sign = next((sign for sign in reversed(SIGNS) if getattr(symbol, f"is_{sign}", False)), None)
    if type(symbol) not in (sp.Symbol, sp.Dummy) or sign is None:
        raise Rejected(f"{symbol!r} is not a symbol for a number")
    return sp.Dummy(symbol.name, **{sign: True})


def _make(of: Any, value: Any, symbols: SymbolTable) -> Any:
    """Return a rebuilt value of a type."""
    kind = next((kind for kind in _list_alternatives(of) if _is_one(kind, value)), None)
    if kind is None:
        raise Rejected(f"{value!r:.80} has no place in a certificate")
    if _is_record(kind):
        return kind(**{name: _make(of, getattr(value, name), symbols) for name, of in _list_fields(kind).items()})
    maker = _MAKERS.get(get_origin(kind) or kind)
    return value if maker is None else maker(kind, value, symbols)


def _is_record(kind: Any) -> bool:
    """Return whether a type is a record of certificates: its class has a name in documents."""
    return isinstance(getattr(kind, "kind", None), str)


def _decode_expression(_kind: Any, value: Any, symbols: SymbolTable) -> Any:
    """Return the expression in the symbols of the claim."""
    require_admitted(value)
    return value.xreplace(symbols)


def _decode_ordering(_kind: Any, value: Any, symbols: SymbolTable) -> Any:
    """Return the condition in the symbols of the claim."""
    require_admitted_condition(value)
    return value.func(*(side.xreplace(symbols) for side in value.args), evaluate=False)


def _decode_list(kind: Any, value: Any, symbols: SymbolTable) -> Any:
    (of,) = get_args(kind)
    return [_make(of, one, symbols) for one in value]


def _decode_table(kind: Any, value: Any, symbols: SymbolTable) -> Any:
    """Return the table with keys and values in the symbols of the claim."""
    name, of = get_args(kind)
    return {_make(name, key, symbols): _make(of, one, symbols) for key, one in value.items()}


def _decode_inequality(_kind: Any, value: InequalityRef, symbols: SymbolTable) -> InequalityRef:
    """Decode a reference to an inequality; raise `Rejected` for a wrong number of arguments."""
    expected = subjects(_make(str, value.kind, symbols))
    if any(one.kind is Parameter.VAR_POSITIONAL for one in expected):
        expected *= len(value.about)
    if len(expected) != len(value.about):
        names = ", ".join(one.name for one in expected)
        raise Rejected(f"{value.kind}({names}) takes {len(expected)} arguments, got {len(value.about)}")
    types = (str if one.annotation == "str" else Any for one in expected)
    return InequalityRef(value.kind, tuple(_make(of, one, symbols) for of, one in zip(types, value.about, strict=True)))


_MAKERS: Mapping[Any, Callable[[Any, Any, SymbolTable], Any]] = {
    Any: _decode_expression,
    sp.Rel: _decode_ordering,
    sp.Symbol: _decode_expression,
    Sequence: _decode_list,
    Mapping: _decode_table,
    InequalityRef: _decode_inequality,
}


_OPEN: Mapping[Any, Sequence[Any]] = {Derived: DERIVED, Examined: EXAMINED}
"""Closed lists of the subclasses of a type."""


def _list_alternatives(of: Any) -> Sequence[Any]:
    """Return the alternatives of a union type."""
    if of in _OPEN:
        return _OPEN[of]
    is_union = get_origin(of) not in (None, Sequence, Mapping, Literal)
    return [kind for one in get_args(of) for kind in _list_alternatives(one)] if is_union else [of]


def _is_one(kind: Any, value: Any) -> bool:
    """Return whether the type of a value is the given one; instances of subclasses are refused."""
    if kind in (Fact, Measure):
        return any(value is one for one in (*FACTS.values(), *MEASURES.values()) if type(one) is kind)
    if kind is int:
        return type(value) is int and value >= 0
    if get_origin(kind) is Literal:
        return type(value) is str and value in get_args(kind)
    expected = {Any: sp.Expr, sp.Rel: sp.Rel, sp.Symbol: sp.Symbol, Sequence: list | tuple, Mapping: dict}
    known = expected.get(get_origin(kind) or kind)
    return type(value) is kind if known is None else isinstance(value, known)


@cache
def _list_fields(record: type) -> dict[str, Any]:
    """Return the types of a record's fields by name."""
    types = get_type_hints(record, localns={"Part": Part})
    return {one.name: types[one.name] for one in fields(record)}
