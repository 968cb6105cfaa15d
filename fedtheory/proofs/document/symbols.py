"""Names of symbols in documents: of a claim, of techniques, of an algorithm, and those that a document declares."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.plain_names import require_plain
from fedtheory.proofs import comparators, definitions, distances
from fedtheory.proofs.decoding import SIGNS
from fedtheory.proofs.definitions import definition_of, names_of, state
from fedtheory.proofs.document.notation import HEADS, Scope
from fedtheory.proofs.document.shapes import Json, Schema, describe_object
from fedtheory.proofs.examined import list_kinds_of_papers
from fedtheory.proofs.induction import POWER, k
from fedtheory.proofs.paper_contexts import list_paper_contexts


def _find_symbols(group: str, module: Any) -> dict[str, sp.Symbol]:
    """Return the symbols of a module by their names in a document."""
    return {f"{group}.{name}": symbol for name, symbol in vars(module).items() if isinstance(symbol, sp.Symbol)}


_OF_TECHNIQUES = {
    **_find_symbols("pair", distances),
    **{
        name: symbol
        for modules in (
            *(one.symbols for one in list_paper_contexts()),
            *(one.symbols for one in list_kinds_of_papers()),
        )
        for group, module in modules.items()
        for name, symbol in _find_symbols(group, module).items()
    },
    **_find_symbols("comparator", comparators),
    "recursion.k": k,
    "induction.power": POWER,
}
"""Symbols that no claim has."""
_SHARED = {
    "optimum": definitions.OPTIMUM,
    "objective": definitions.OBJECTIVE,
    "client_objective": definitions.CLIENT_OBJECTIVE,
    "noise": definitions.NOISE,
    "start": definitions.START,
    "heard": definitions.HEARD,
}
"""Names of the symbols that all algorithms share."""
DECLARED: Schema = {
    "type": "object",
    "additionalProperties": describe_object(
        {"latex": {"type": "string"}, "is": {"enum": list(SIGNS)}}, ["latex", "is"]
    ),
}
"""The JSON schema of declared symbols."""


def symbols_of(claim: Claim) -> dict[str, sp.Symbol]:
    """Return the symbols of a claim and of the techniques, by their names in certificates."""
    found = {quantity.name: symbol for symbol, quantity in {**claim.where, **claim.notation}.items()}
    for symbol in claim.for_all:
        found[free(f"each_{plain(symbol)}", found)] = symbol
    return _OF_TECHNIQUES | _name_vectors(claim) | found


def plain(symbol: sp.Symbol) -> str:
    """Return a name for a symbol that is valid in an expression."""
    name = re.sub(r"\W+", "_", symbol.name.replace("'", "_next"), flags=re.ASCII).strip("_")
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"letter_{name}"


def free(name: str, taken: dict[str, sp.Symbol]) -> str:
    """Return a name that is not yet used."""
    return name if name not in taken and name not in HEADS else free(f"{name}_", taken)


def _name_vectors(claim: Claim) -> dict[str, sp.Symbol]:
    """Return the symbols of certificates about the claim's algorithm, by their names in documents."""
    if len(names_of(claim)) != 1:
        return {}
    algorithm = definition_of(claim)
    own = {f"vector.{of.name}": state(of) for of in (*algorithm.server, *algorithm.client)}
    return own | {f"algorithm.{name}": one for name, one in _SHARED.items()}


def declare(symbols: Iterable[Any], known: Mapping[str, sp.Symbol]) -> tuple[Scope, Json]:
    """Return the names of known symbols and of those that a document declares, and the declarations as JSON."""
    own: dict[str, sp.Symbol] = {}
    for symbol in dict.fromkeys(symbols):
        if not isinstance(symbol, sp.Symbol):
            raise InputError("certificate", f"expected a symbol that the certificate introduces, got {symbol!r:.80}")
        own[free(plain(symbol), {**known, **own})] = symbol
    declared = {name: {"latex": symbol.name, "is": _find_sign(symbol)} for name, symbol in own.items()}
    return Scope({**own, **known}, frozenset(own)), declared


def _find_sign(symbol: sp.Symbol) -> str:
    """Return the sign that a symbol is assumed to have."""
    return next((sign for sign in reversed(SIGNS) if getattr(symbol, f"is_{sign}")), "real")


def read_declared(declared: Json, known: Mapping[str, sp.Symbol], where: str) -> Scope:
    """Return the names of known symbols, and of symbols that a document declares; those are new."""
    own = {name: _read_symbol(name, one, known, where) for name, one in declared.items()}
    return Scope({**own, **known}, frozenset(own))


def _read_symbol(name: str, declared: Json, taken: Mapping[str, sp.Symbol], key: str) -> sp.Symbol:
    """Return a symbol that a document declares, different from all other symbols."""
    where = f"{key}.{name}"
    require_plain(key, name)
    if not name.isidentifier() or name in taken or name in HEADS:
        raise InputError(where, "expected a name that nothing else has")
    if not isinstance(declared, dict) or declared.keys() != {"latex", "is"} or declared["is"] not in SIGNS:
        raise InputError(where, f"expected latex, and is as one of {', '.join(SIGNS)}, got {declared!r:.80}")
    if not isinstance(declared["latex"], str):
        raise InputError(f"{where}.latex", f"expected a text, got {declared['latex']!r:.80}")
    return sp.Dummy(declared["latex"], **{declared["is"]: True})
