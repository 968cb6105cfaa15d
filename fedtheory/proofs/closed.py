"""Certificates as closed data: what is judged is made anew, piece by piece, of what is on a list.

The pieces are records, by the types of their fields: expressions that the kernel
admits, orderings, texts, flags, whole numbers, reasons by their names, and
facts and measures that are one of the known ones.  The letters that a
certificate declares become new letters, which stand for nothing else.  So
nothing rests on how a certificate was written, read or found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from inspect import Parameter
from typing import Any, Literal, get_args, get_origin, get_type_hints

import sympy as sp

from fedtheory.kernel import Because, Rejected, Term
from fedtheory.kernel.admitted import require_admitted, require_admitted_condition
from fedtheory.kernel.reasons import subjects
from fedtheory.proofs import definition_facts, facts, schedule_facts, update_facts
from fedtheory.proofs.at_optimum import AtOptimum
from fedtheory.proofs.averages import OverClients, OverSteps, OverUpdates
from fedtheory.proofs.cases import Case, Cases
from fedtheory.proofs.certificate import BothWays, Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.contraction import Contraction, Discounted
from fedtheory.proofs.distances import DISPLACEMENT, PAIR, SPREAD, Measure
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.induction import Induction
from fedtheory.proofs.intervals import AtEnd, AtFirstStart, AtNextStart, Derived, Summed, Telescoped
from fedtheory.proofs.last_rounds import LastModel, LastRound
from fedtheory.proofs.lyapunov import Lyapunov
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import Part
from fedtheory.proofs.prefix_sum import PrefixSum
from fedtheory.proofs.products import CauchySchwarz, Nonnegative, Positive, Product, Products
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.restarts import LOOP_PAIR, LoopMean
from fedtheory.proofs.roots import Root
from fedtheory.proofs.squares import Squared
from fedtheory.proofs.windows import OverWindow, OverWindows

AnyCertificate = (
    Certificate
    | Combination
    | MeanCertificate
    | Contraction
    | Discounted
    | LastRound
    | LastModel
    | Recursion
    | LoopMean
    | FixedPoint
    | Lyapunov
    | Cases
)
DERIVED = (
    *(Derived, Telescoped, AtEnd, Summed, AtNextStart, AtFirstStart),
    *(OverClients, OverSteps, OverUpdates, OverWindow, OverWindows, AtOptimum),
)
"""What may follow from a proved claim."""
_RECORDS = {
    *(*get_args(AnyCertificate), *DERIVED, BothWays, Induction, Squared, Products, Positive, PrefixSum),
    *(Term, Part, Root, Nonnegative, CauchySchwarz, Product, Case),
}
FACTS = {
    name.lower(): fact
    for module in (facts, update_facts, schedule_facts, definition_facts)
    for name, fact in vars(module).items()
    if type(fact) is Fact
}
"""Every fact by its name."""
MEASURES = {"pair": PAIR, "spread": SPREAD, "displacement": DISPLACEMENT, "loop pair": LOOP_PAIR}
"""Every measure by its name."""
SIGNS = ("real", "nonnegative", "positive")
"""What may be declared of a letter, from the least to the most."""
Letters = Mapping[Any, sp.Symbol]


def closed(certificate: object) -> AnyCertificate:
    """A certificate made anew; `Rejected` where something in it is not on the list."""
    made: AnyCertificate = _made(AnyCertificate, certificate, {one: _new(one) for one in own_letters(certificate)})
    return made


def own_letters(certificate: Any) -> Iterator[Any]:
    """The letters that a certificate declares: of roots, and of products."""
    yield from (root.letter for root in getattr(certificate, "roots", ()))
    for link in getattr(certificate, "links", ()):
        if type(link) is Products:
            yield from link.scalars


def _new(letter: Any) -> sp.Symbol:
    sign = next((sign for sign in reversed(SIGNS) if getattr(letter, f"is_{sign}", False)), None)
    if type(letter) not in (sp.Symbol, sp.Dummy) or sign is None:
        raise Rejected(f"{letter!r} is no letter for a number")
    return sp.Dummy(letter.name, **{sign: True})


def _made(of: Any, value: Any, letters: Letters) -> Any:
    """A value of a type, made anew."""
    kind = next((kind for kind in _alternatives(of) if _is_one(kind, value)), None)
    if kind is None:
        raise Rejected(f"{value!r:.80} has no place in a certificate")
    if kind in _RECORDS:
        return kind(**{name: _made(of, getattr(value, name), letters) for name, of in _fields(kind).items()})
    maker = _MAKERS.get(get_origin(kind) or kind)
    return value if maker is None else maker(kind, value, letters)


def _expression(_kind: Any, value: Any, letters: Letters) -> Any:
    require_admitted(value)
    return value.xreplace(letters)


def _letter(_kind: Any, value: sp.Symbol, letters: Letters) -> sp.Symbol:
    require_admitted(value)
    return letters.get(value, value)


def _ordering(_kind: Any, value: Any, letters: Letters) -> Any:
    require_admitted_condition(value)
    return value.func(*(side.xreplace(letters) for side in value.args), evaluate=False)


def _list(kind: Any, value: Any, letters: Letters) -> Any:
    (of,) = get_args(kind)
    return [_made(of, one, letters) for one in value]


def _table(kind: Any, value: Any, letters: Letters) -> Any:
    name, of = get_args(kind)
    return {_made(name, key, letters): _made(of, one, letters) for key, one in value.items()}


def _reason(_kind: Any, value: Because, letters: Letters) -> Because:
    expected = subjects(_made(str, value.kind, letters))
    if any(one.kind is Parameter.VAR_POSITIONAL for one in expected):
        expected *= len(value.about)
    if len(expected) != len(value.about):
        raise Rejected(f"{value.kind} is about {len(expected)} things, got {len(value.about)}")
    types = (str if one.annotation == "str" else Any for one in expected)
    return Because(value.kind, tuple(_made(of, one, letters) for of, one in zip(types, value.about, strict=True)))


_MAKERS: Mapping[Any, Callable[[Any, Any, Letters], Any]] = {
    Any: _expression,
    sp.Rel: _ordering,
    sp.Symbol: _letter,
    Sequence: _list,
    Mapping: _table,
    Because: _reason,
}


def _alternatives(of: Any) -> Sequence[Any]:
    """The types of which a value is of one."""
    if of is Derived:
        return DERIVED
    is_union = get_origin(of) not in (None, Sequence, Mapping, Literal)
    return [kind for one in get_args(of) for kind in _alternatives(one)] if is_union else [of]


def _is_one(kind: Any, value: Any) -> bool:
    """Whether a value is of a type itself, not of one that pretends to be it."""
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
def _fields(record: type) -> dict[str, Any]:
    types = get_type_hints(record, localns={"Part": Part})
    return {one.name: types[one.name] for one in fields(record)}
