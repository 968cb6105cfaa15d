"""Searches for proofs of bounds with a maximum, by cases: in each, one argument of the maximum is the largest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.work import spend
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.proofs import check_certificate
from fedtheory.proofs.cases import list_maxima, restrict_to_largest
from fedtheory.proofs.document import Document
from fedtheory.proofs.document.notation import Scope, write_expression
from fedtheory.proofs.document.symbols import symbols_of
from fedtheory.search.outcome import Found, NotFound

Search = Callable[[Claim], Found | NotFound]
"""A search of one family of proofs."""


def find_maximum(claim: Claim) -> Expr | None:
    """Return the only maximum in a claim; None if it has none, or several."""
    maxima = list_maxima(claim)
    return maxima.pop() if len(maxima) == 1 else None


def search_cases(claim: Claim, maximum: Expr, search: Search) -> Found | NotFound:
    """Search for a proof of each case of a claim, and join these to one proof."""
    proofs: list[tuple[Expr, Found]] = []
    for largest in maximum.args:
        found = search(restrict_to_largest(claim, maximum, largest))
        if not isinstance(found, Found):
            return replace(found, reason=f"where {largest} is the largest: {found.reason}")
        proofs.append((largest, found))
    supposed: list[Assumption] = list(dict.fromkeys(one for _, found in proofs for one in found.supposed))
    original = replace(claim, assumptions=(*claim.assumptions, *supposed)) if supposed else claim
    proof = check_certificate(original, _join(original, proofs))
    spend(sum(proof.work.values()))
    if proof.verdict != "proved":
        return NotFound("the proofs of its cases do not fit together")
    return Found(proof, list(dict.fromkeys(name for _, found in proofs for name in found.uses)), supposed, 0)


def _join(claim: Claim, proofs: Sequence[tuple[Expr, Found]]) -> Document:
    """Return the document of a proof by cases, with the quantities and the renamed lemmas of every case."""
    documents = [found.proof.document or {} for _, found in proofs]
    quantities = list(dict.fromkeys(name for document in documents for name in document.get("quantities", ())))
    scope = Scope(symbols_of(claim))
    lemmas: list[Document] = []
    cases: list[Any] = []
    for place, ((largest, _), document) in enumerate(zip(proofs, documents, strict=True), start=1):
        own = document.get("lemmas", [])
        names = {f"{claim.id}#{lemma['name']}": f"{claim.id}#case-{place}-{lemma['name']}" for lemma in own}
        lemmas += [_rename({**lemma, "name": f"case-{place}-{lemma['name']}"}, names) for lemma in own]
        cases.append(
            {
                "kind": "case",
                "largest": write_expression(largest, scope),
                "why": _rename(document["certificate"], names),
            }
        )
    joined: Document = {**documents[0], "certificate": {"kind": "cases", "claim": claim.id, "cases": cases}}
    return {
        **{key: value for key, value in joined.items() if key not in ("quantities", "lemmas")},
        **({"quantities": quantities} if quantities else {}),
        **({"lemmas": lemmas} if lemmas else {}),
    }


def _rename(value: Any, names: dict[str, str]) -> Any:
    """Return a part of a document with the ids of lemmas replaced."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, dict):
        return {key: _rename(one, names) for key, one in value.items()}
    return [_rename(one, names) for one in value] if isinstance(value, list) else value
