"""Lemmas of a document: intermediate statements, each with its own certificate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim, Operator, Place, Relation
from fedtheory.proofs.document.notation import Scope, read_ordering
from fedtheory.proofs.document.reading import DEFINITION, LEMMAS, certificate_in
from fedtheory.proofs.document.symbols import symbols_of
from fedtheory.proofs.proof_report import Document
from fedtheory.proofs.run_terms import with_relations

_KEYS = {"name", "place", "statement", "certificate"}
CONDITIONS = "conditions"
"""The entry for a lemma's own conditions; they must follow from others where the lemma is used."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,99}")
_MOST = 20
_OPERATORS: Mapping[type, Operator] = {sp.Le: "<=", sp.Lt: "<", sp.Ge: ">=", sp.Gt: ">", sp.Eq: "=="}
_PLACES: Mapping[str, Place] = {place: place for place in get_args(Place)}


@dataclass(frozen=True)
class Lemma:
    """A statement under the assumptions and conditions of a claim, and its certificate."""

    claim: Claim
    certificate: Any


def lemma_id(claim: Claim, name: str) -> str:
    """Return the id of a lemma in a document's certificates; no published claim has such an id."""
    return f"{claim.id}#{name}"


def lemmas_in(claim: Claim, document: Document) -> Iterator[Lemma]:
    """Yield the lemmas of a document about a claim, which has symbols for all quantities that the document names.

    Each has the assumptions of the claim, and its conditions unless it states others.  Raises `InputError` for an
    invalid entry.
    """
    entries = document.get(LEMMAS, [])
    if not isinstance(entries, list) or len(entries) > _MOST:
        raise InputError(LEMMAS, f"expected a list of at most {_MOST} lemmas, got {entries!r:.80}")
    if entries and (claim.for_all or claim.rate is not None or DEFINITION in document):
        raise InputError(LEMMAS, "expected none for a claim with a quantifier, a rate, or a definition of its own")
    names: set[str] = set()
    for number, entry in enumerate(entries):
        where = f"{LEMMAS}[{number}]"
        lemma = _read_lemma(claim, entry, where)
        if lemma.id in names:
            raise InputError(f"{where}.name", f"expected a name that no other lemma has, got {entry['name']!r}")
        names.add(lemma.id)
        yield Lemma(lemma, certificate_in(lemma, {**document, "certificate": entry["certificate"]}))


def _read_lemma(claim: Claim, entry: object, where: str) -> Claim:
    """Read a lemma; raise InputError if the table is not one."""
    if not isinstance(entry, dict) or entry.keys() - {CONDITIONS} != _KEYS:
        raise InputError(where, f"expected a table with {', '.join(sorted(_KEYS))}, got {entry!r:.80}")
    if not isinstance(entry["name"], str) or not _NAME.fullmatch(entry["name"]):
        raise InputError(f"{where}.name", f"expected small letters, digits and hyphens, got {entry['name']!r:.80}")
    if not isinstance(entry["place"], str) or entry["place"] not in _PLACES:
        raise InputError(f"{where}.place", f"expected one of {', '.join(_PLACES)}, got {entry['place']!r:.80}")
    scope = Scope(symbols_of(claim))
    ordering = read_ordering(entry["statement"], scope, f"{where}.statement")
    own = entry.get(CONDITIONS, [])
    if not isinstance(own, list):
        raise InputError(f"{where}.conditions", f"expected a list of orderings, got {own!r:.80}")
    conditions = tuple(read_ordering(one, scope, f"{where}.conditions") for one in own)
    return with_relations(
        claim,
        (Relation(ordering.args[0], _OPERATORS[type(ordering)], ordering.args[1]),),
        id=lemma_id(claim, entry["name"]),
        kind="inequality",
        conditions=conditions if CONDITIONS in entry else claim.conditions,
        place=_PLACES[entry["place"]],
        is_published=False,
    )
