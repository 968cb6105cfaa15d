"""Searches for proofs of bounds with maxima and minima, with one of their arguments in the place of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.work import spend
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.proofs import check_certificate
from fedtheory.proofs.cases import replace_extreme, require_sufficient, restrict_to_case
from fedtheory.proofs.document import Document
from fedtheory.proofs.document.notation import Scope, write_expression
from fedtheory.proofs.document.symbols import symbols_of
from fedtheory.search.proof_outcome import Found, NotFound

Search = Callable[[Claim], Found | NotFound]
"""A search of one family of proofs."""


@dataclass(frozen=True)
class _ProvedCase:
    """A claim with one argument of a maximum or minimum in its place, and the proof."""

    argument: Expr
    claim: Claim
    found: Found


def search_cases(claim: Claim, extreme: Expr, search: Search, quick: Search) -> Found | NotFound:
    """Search for proofs with arguments in place of a maximum or minimum, and join them to one proof.

    The quick search looks for an argument that suffices, before the other search looks for all of them.
    """
    # A long argument is more often a known bound than a short one.
    arguments = sorted(extreme.args, key=lambda one: (-sp.count_ops(one), sp.default_sort_key(one)))
    suffices = _is_sufficient(claim, extreme)
    alone = _find_sufficient(claim, extreme, arguments, quick) if suffices else None
    if alone is not None:
        return alone
    proofs: list[_ProvedCase] = []
    failed: NotFound | None = None
    for argument in arguments:
        case = restrict_to_case(claim, extreme, argument)
        found = search(case)
        if isinstance(found, Found):
            proofs.append(_ProvedCase(argument, case, found))
            continue
        failed = failed or replace(found, reason=f"where {argument} is the {_describe(extreme)}: {found.reason}")
        if not suffices:
            return failed
    if failed is None:
        return _check_joined(claim, extreme, proofs) or NotFound("the proofs of its cases do not fit together")
    return next(filter(None, (_prove_alone(claim, extreme, each, search) for each in proofs)), failed)


def _describe(extreme: Expr) -> str:
    return "largest" if isinstance(extreme, sp.Max) else "smallest"


def _is_sufficient(claim: Claim, extreme: Expr) -> bool:
    """Return whether a claim follows from that with any argument in place of a maximum or minimum."""
    try:
        require_sufficient(claim, extreme)
    except Rejected:
        return False
    return True


def _find_sufficient(claim: Claim, extreme: Expr, arguments: Sequence[Expr], search: Search) -> Found | None:
    """Search for a proof with one of some arguments, each of which suffices."""
    for argument in arguments:
        stated = replace_extreme(claim, extreme, argument)
        found = search(stated)
        proofs = [_ProvedCase(argument, stated, found)] if isinstance(found, Found) else []
        joined = _check_joined(claim, extreme, proofs) if proofs else None
        if joined is not None:
            return joined
    return None


def _prove_alone(claim: Claim, extreme: Expr, case: _ProvedCase, search: Search) -> Found | None:
    """Return a proof by one case, whose proof need not use its condition, or search for one without the condition."""
    stated = replace(case, claim=replace_extreme(claim, extreme, case.argument))
    return _check_joined(claim, extreme, [stated]) or _find_sufficient(claim, extreme, [case.argument], search)


def _check_joined(claim: Claim, extreme: Expr, proofs: Sequence[_ProvedCase]) -> Found | None:
    """Return the proof by some cases; None if the kernel rejects it."""
    supposed: list[Assumption] = list(dict.fromkeys(one for each in proofs for one in each.found.supposed))
    original = replace(claim, assumptions=(*claim.assumptions, *supposed)) if supposed else claim
    try:
        proof = check_certificate(original, _join(original, extreme, proofs))
    except InputError:
        # An argument has no notation in certificates.
        return None
    spend(sum(proof.work.values()))
    if proof.verdict != "proved":
        return None
    return Found(proof, list(dict.fromkeys(name for each in proofs for name in each.found.uses)), supposed, 0)


def _join(claim: Claim, extreme: Expr, proofs: Sequence[_ProvedCase]) -> Document:
    """Return the document of a proof by cases, with the quantities and the renamed lemmas of every case."""
    documents = [each.found.proof.document or {} for each in proofs]
    quantities = list(dict.fromkeys(name for document in documents for name in document.get("quantities", ())))
    scope = Scope(symbols_of(claim))
    role = _describe(extreme)
    lemmas: list[Document] = []
    cases: list[Any] = []
    for place, (case, document) in enumerate(zip(proofs, documents, strict=True), start=1):
        given = [write_expression(one, scope) for one in case.claim.conditions]
        # A lemma without conditions has those of its claim, and a case has more than the claim of the document.
        known = {} if case.claim.conditions == claim.conditions else {"conditions": given}
        own = [{**known, **lemma} for lemma in document.get("lemmas", [])]
        names = {f"{claim.id}#{lemma['name']}": f"{claim.id}#case-{place}-{lemma['name']}" for lemma in own}
        lemmas += [_rename({**lemma, "name": f"case-{place}-{lemma['name']}"}, names) for lemma in own]
        cases.append(
            {
                "kind": "case" if role == "largest" else "case of a minimum",
                role: write_expression(case.argument, scope),
                "why": _rename(document["certificate"], names),
            }
        )
    joined: Document = {
        **documents[0],
        "letters": {name: sign for document in documents for name, sign in document.get("letters", {}).items()},
        "certificate": {"kind": "cases", "claim": claim.id, "cases": cases},
    }
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
