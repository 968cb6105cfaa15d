"""Writes certificates as documents, which are parsed again before they are checked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import singledispatch
from inspect import Parameter
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.inequalities import InequalityRef, subjects
from fedtheory.language.claim import Claim
from fedtheory.proofs.decoding import SIGNS, declared_symbols
from fedtheory.proofs.document.algorithms import digest_definition
from fedtheory.proofs.document.notation import HEADS, ORDERINGS, Scope
from fedtheory.proofs.document.reading import DEFINITION, FORMAT, VERSION, free, plain, symbols_of
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
    Expression,
    Inequality,
    Json,
    Many,
    Named,
    OneOf,
    Ordering,
    Record,
    Shape,
    Symbol,
    Table,
    Text,
)
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.proof_report import Document

_NAMES = {head: name for name, head in HEADS.items()}
_SIGNS_OF = {relation: sign for sign, relation in ORDERINGS.values()}


def document_of(claim: Claim, certificate: Any) -> Document:
    """Return a certificate of a claim as a document.

    Raises `InputError` if it contains a value without a document format.
    """
    symbols = symbols_of(claim)
    own = _declare(declared_symbols(certificate), symbols)
    scope = Scope(own | symbols, frozenset(own))
    digest_of_definition = digest_definition(claim)
    return {
        "format": FORMAT,
        "version": VERSION,
        "letters": {name: {"latex": symbol.name, "is": _sign(symbol)} for name, symbol in own.items()},
        "certificate": write(CERTIFICATE, certificate, scope),
    } | ({} if digest_of_definition is None else {DEFINITION: digest_of_definition})


def text_of(document: Document) -> str:
    """Return a document as the text of a file."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


@singledispatch
def write(_shape: Shape, value: Any, _scope: Scope) -> Json:
    """Return a value of a shape as JSON."""
    return value


@write.register
def _expression(_shape: Expression | Ordering, value: Any, scope: Scope) -> Json:
    return write_expression(value, scope)


@write.register
def _symbol(_shape: Symbol, value: Any, scope: Scope) -> Json:
    return scope.name_of(value)


@write.register
def _write_named(shape: Named, value: Any, _scope: Scope) -> Json:
    """Write the name of a value from a fixed list."""
    name = next((name for name, one in shape.known.items() if one is value), None)
    if name is None:
        raise InputError("certificate", f"expected one of {', '.join(shape.known)}, got {value!r:.80}")
    return name


@write.register
def _write_list(shape: Many, value: Any, scope: Scope) -> Json:
    """Write a list."""
    if not isinstance(value, list | tuple):
        raise InputError("certificate", f"expected a list, got {value!r:.80}")
    return [write(shape.of, one, scope) for one in value]


@write.register
def _table(shape: Table, value: Any, scope: Scope) -> Json:
    key = Symbol() if shape.keys_are_symbols else Text()
    return {write(key, name, scope): write(shape.of, one, scope) for name, one in value.items()}


@write.register
def _record(shape: Record, value: Any, scope: Scope) -> Json:
    if type(value) is not shape.made:
        raise InputError("certificate", f"expected {shape.made.__name__}, got {value!r:.80}")
    given = {name: getattr(value, name) for name in shape.fields}
    kept = {name: one for name, one in given.items() if not _is_default(shape.defaults[name], one)}
    return {"kind": shape.kind} | {name: write(shape.fields[name], one, scope) for name, one in kept.items()}


def _is_default(default: Any, value: Any) -> bool:
    return value is default or (isinstance(default, tuple) and not default and not value)


@write.register
def _one_of(shape: OneOf, value: Any, scope: Scope) -> Json:
    record = next((record for record in shape.records if type(value) is record.made), None)
    if record is None:
        raise InputError("certificate", f"{type(value).__name__} has no place in a document")
    return write(record, value, scope)


@write.register
def _write_reason(_shape: Inequality, value: Any, scope: Scope) -> Json:
    """Write a reference to an inequality of the kernel with its arguments by name."""
    if type(value) is not InequalityRef:
        raise InputError("certificate", f"expected a reason of the kernel, got {value!r:.80}")
    expected = subjects(value.kind)
    if any(subject.kind is Parameter.VAR_POSITIONAL for subject in expected):
        return {"reason": value.kind, expected[0].name: [write_expression(one, scope) for one in value.about]}
    if len(value.about) != len(expected):
        names = ", ".join(one.name for one in expected)
        raise InputError(
            "certificate", f"{value.kind}({names}) takes {len(expected)} arguments, got {len(value.about)}"
        )
    given = zip(expected, value.about, strict=True)
    about = {one.name: thing if one.name == NAME else write_expression(thing, scope) for one, thing in given}
    return {"reason": value.kind} | about


@write.register
def _premise(_shape: Premise, value: Any, scope: Scope) -> Json:
    kinds = {Fact: "fact", Relational: "condition", str: "claim"}
    kind = next((name for made, name in kinds.items() if isinstance(value, made)), None)
    return write(CONSEQUENCES, value, scope) if kind is None else {kind: write(ALONE[kind], value, scope)}


@write.register
def _link(_shape: Link, value: Any, scope: Scope) -> Json:
    return write(TERMS if isinstance(value, list | tuple) else LINKS_OF_THEIR_OWN, value, scope)


def _declare(symbols: Iterable[sp.Symbol], taken: dict[str, sp.Symbol]) -> dict[str, sp.Symbol]:
    """Return names for the symbols that a certificate declares."""
    found: dict[str, sp.Symbol] = {}
    for symbol in dict.fromkeys(symbols):
        if not isinstance(symbol, sp.Symbol):
            raise InputError("certificate", f"expected a symbol that the certificate introduces, got {symbol!r:.80}")
        found[free(plain(symbol), taken | found)] = symbol
    return found


def _sign(symbol: sp.Symbol) -> str:
    """Return the sign that a symbol is assumed to have."""
    return next((sign for sign in reversed(SIGNS) if getattr(symbol, f"is_{sign}")), "real")


def write_expression(expression: Expr, scope: Scope) -> str:
    """Return an expression, or an ordering of two, as text."""
    if not isinstance(expression, sp.Basic | int):
        raise InputError("certificate", f"expected a SymPy expression, got {expression!r:.80}")
    expression = sp.sympify(expression)
    if type(expression) in _SIGNS_OF:
        left, right = (write_expression(side, scope) for side in expression.args)
        return f"{left} {_SIGNS_OF[type(expression)]} {right}"
    if isinstance(expression, sp.Symbol):
        return scope.name_of(expression)
    if isinstance(expression, sp.Rational | sp.Mul) or _divides(expression):
        return _product(expression, scope)
    parts = [write_expression(part, scope) for part in expression.args]
    if isinstance(expression, sp.Add):
        return _sum(parts)
    if isinstance(expression, sp.Pow):
        return "**".join(_bracket(part) for part in parts)
    if type(expression) in _NAMES:
        return f"{_NAMES[type(expression)]}({', '.join(parts)})"
    raise InputError("certificate", f"{expression} has no notation in certificates")


def _sum(terms: list[str]) -> str:
    """Write positive terms before negative ones, in an order that does not depend on SymPy's."""
    ordered = sorted(terms, key=lambda term: (term.startswith("-"), term))
    return " ".join([ordered[0], *(f"- {term[1:]}" if term.startswith("-") else f"+ {term}" for term in ordered[1:])])


def _product(expression: Expr, scope: Scope) -> str:
    """Write a number, or a product with its numeric factor first, over its denominator."""
    number, rest = expression.as_coeff_Mul()
    if not number.is_Rational:
        raise InputError("certificate", f"{number} is not an exact number")
    factors = [factor for factor in sp.Mul.make_args(rest) if factor != 1]
    lower = [factor for factor in factors if _divides(factor)]
    above = sorted(_factor(factor, scope) for factor in factors if factor not in lower)
    below = sorted(_factor(1 / factor, scope) for factor in lower)
    above = [str(abs(number.p)), *above] if abs(number.p) != 1 or not above else above
    below = [str(number.q), *below] if number.q != 1 else below
    sign = "-" if number.p < 0 else ""
    divided = f"/({'*'.join(below)})" if len(below) > 1 else "".join(f"/{factor}" for factor in below)
    return f"{sign}{'*'.join(above)}{divided}"


def _divides(factor: Expr) -> bool:
    """Return whether the factor is a power with a negative exponent."""
    return bool(factor.is_Pow and factor.exp.is_Rational and factor.exp.is_negative)


def _factor(factor: Expr, scope: Scope) -> str:
    """Write a factor of a product; a sum in parentheses."""
    text = write_expression(factor, scope)
    return f"({text})" if isinstance(factor, sp.Add) else text


def _bracket(text: str) -> str:
    return text if text.isdigit() or text.replace(".", "_").isidentifier() else f"({text})"
