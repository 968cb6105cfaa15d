"""Reuses the recorded certificates of known claims, for claims in other symbols or under stronger conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from fedtheory.errors import InputError
from fedtheory.kernel.work import spend
from fedtheory.language.claim import Claim, Operator, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate
from fedtheory.proofs.cases import Cases
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.document import document_of, lemma_id
from fedtheory.proofs.document.notation import Scope, read, read_ordering, write_expression
from fedtheory.proofs.document.symbols import symbols_of
from fedtheory.search.premises import KnownClaim
from fedtheory.search.proof_outcome import Found
from fedtheory.search.workspace import LemmaGoal, Workspace, list_used_names, make_lemma_name


def reuse_certificate(claim: Claim, known: KnownClaim) -> Found | None:
    """Return the proof of a claim by the certificate of a known one; None if the kernel rejects it.

    A document names quantities instead of symbols, so that it fits claims in other symbols.  This proves claims that no
    sum of premises can prove, such as those with a maximum.
    """
    recorded = find(known.claim.id)
    certificate = certificate_of(recorded.id)
    if certificate is None:
        return None
    extended = replace(claim, assumptions=(*claim.assumptions, *known.missing)) if known.missing else claim
    document = rename_claim(document_of(recorded, certificate), recorded.id, claim.id)
    proof = check_certificate(extended, document)
    spend(sum(proof.work.values()))
    return Found(proof, [recorded.id], known.missing, 0) if proof.verdict == "proved" else None


def rename_claim(entry: Any, name: str, other: str) -> Any:
    """Return a document with the name of a claim replaced by another one."""
    if isinstance(entry, Mapping):
        return {
            key: other if key == "claim" and value == name else rename_claim(value, name, other)
            for key, value in entry.items()
        }
    return [rename_claim(one, name, other) for one in entry] if isinstance(entry, list) else entry


AT_OPTIMUM: Mapping[str, str] = {
    "comparator": "optimum",
    "comparator_noise": "noise_at_optimum",
    "comparator_dissimilarity": "dissimilarity_at_optimum",
    "comparator_distance": "initial_distance",
    "comparator_suboptimality": "0",
    "total_comparator_progress": "total_progress",
    "final_comparator_distance_sq": "final_distance_sq",
    "telescoped_from_comparator": "telescoped_progress",
    "final_comparator_distance": "final_distance",
}
"""Replacements of the quantities of any comparator by those of the optimum, by their names in documents."""
AT_OPTIMUM_SAMPLED = {**AT_OPTIMUM, "total_comparator_progress": "(initial_distance**2 - final_distance_sq)"}
"""Replacements for sampled participants: a round need not begin at the average at which the previous one ended."""


def restate(workspace: Workspace, name: str, replacements: Mapping[str, str]) -> str | None:
    """Add a published claim as a lemma, by its recorded certificate, and return the lemma's id.

    The names of quantities in `replacements` are replaced.  The lemma has the assumptions of the workspace's claim and
    the published conditions.  The claims that the certificate uses become lemmas, too.  Returns None if the kernel
    rejects one of them.
    """
    recorded, certificate = find(name), certificate_of(name)
    if certificate is None or len(recorded.relations) != 1 or recorded.for_all:
        return None
    document = document_of(recorded, certificate)
    if document["letters"] or "definition" in document:
        return None
    lemma = make_lemma_name(f"at optimum {name}" if "comparator" in replacements else name)
    renamed = {name: lemma_id(workspace.claim, lemma)}
    for other in list_dependencies(document["certificate"], name):
        found = restate(workspace, other, replacements)
        if found is None:
            return None
        renamed[other] = found
    scope = Scope(symbols_of(recorded))
    (relation,) = recorded.relations
    smaller, larger = relation.ordered
    conditions = tuple(certificate.relaxed) if certificate.relaxed is not None else tuple(recorded.conditions)
    try:
        texts = [write_expression(one, scope) for one in (smaller, larger, *conditions)]
        own = Scope(symbols_of(workspace.claim))
        sides = [read(_replace_names(text, replacements), own, "lemma") for text in texts[:2]]
        known = [read_ordering(_replace_names(text, replacements), own, "lemma") for text in texts[2:]]
    except InputError:
        return None
    entry = {key: value for key, value in document["certificate"].items() if key != "relaxed"}
    goal = LemmaGoal(lemma, recorded.place, Relation(sides[0], find_operator(relation), sides[1]), known)
    return workspace.add(goal, _rewrite(entry, renamed, replacements))


def restate_cases(workspace: Workspace, name: str) -> list[str]:
    """Add a published bound with a maximum as lemmas, each with one argument of the maximum in its place.

    The conditions are those of the workspace's claim.  Returns the ids of the lemmas that the kernel accepts.
    """
    recorded, certificate = find(name), certificate_of(name)
    if not isinstance(certificate, Cases) or len(recorded.relations) != 1:
        return []
    cases = document_of(recorded, certificate)["certificate"]["cases"]
    extreme, arguments = certificate.select_arguments(recorded)
    scope, own = Scope(symbols_of(recorded)), Scope(symbols_of(workspace.claim))
    found = []
    for place, (argument, entry) in enumerate(zip(arguments, cases, strict=True), start=1):
        lemma = make_lemma_name(f"{name} case {place}")
        sides = [side.xreplace({extreme: argument}) for side in recorded.relations[0].ordered]
        with suppress(InputError):
            smaller, larger = (read(write_expression(side, scope), own, "lemma") for side in sides)
            proof = rename_claim(entry["why"], name, lemma_id(workspace.claim, lemma))
            # A claim that is itself a case has further conditions than the claim of the document.
            conditions = workspace.claim.conditions
            goal = LemmaGoal(lemma, recorded.place, Relation(smaller, "<=", larger), conditions)
            found.append(workspace.add(goal, proof))
    return [one for one in found if one is not None]


@cache
def list_quantities_behind(name: str) -> frozenset[str]:
    """Return the quantities that a claim, its certificate, and their dependencies name."""
    claim, certificate = find(name), certificate_of(name)
    own = frozenset(quantity.name for quantity in claim.notation.values())
    if certificate is None:
        return own
    entry = document_of(claim, certificate)["certificate"]
    known = [quantity.name for quantity in {**claim.where, **claim.notation}.values()]
    return own.union(list_used_names([entry], known), *map(list_quantities_behind, list_dependencies(entry, name)))


def find_operator(relation: Relation) -> Operator:
    """Return the sign between the smaller and the larger side of a relation."""
    signs: Mapping[Operator, Operator] = {">=": "<=", ">": "<"}
    return signs.get(relation.operator, relation.operator)


def list_dependencies(entry: Any, name: str) -> list[str]:
    """Return the ids of the claims that an entry of a certificate uses, except the claim itself."""
    if isinstance(entry, Mapping):
        named = [entry[key] for key in ("claim", "step") if isinstance(entry.get(key), str)]
        named += [one for one in entry.get("lemmas", []) if isinstance(one, str)]
        inside = [one for value in entry.values() for one in list_dependencies(value, name)]
        return [one for one in dict.fromkeys([*named, *inside]) if one != name]
    return [one for value in entry for one in list_dependencies(value, name)] if isinstance(entry, list) else []


def _rewrite(entry: Any, names: Mapping[str, str], replacements: Mapping[str, str]) -> Any:
    """Return a certificate with the names of claims and quantities replaced."""
    if isinstance(entry, Mapping):
        # Under the key "name" stands the name of an assumption, not that of a quantity.
        return {key: value if key == "name" else _rewrite(value, names, replacements) for key, value in entry.items()}
    if isinstance(entry, list):
        return [_rewrite(value, names, replacements) for value in entry]
    if not isinstance(entry, str):
        return entry
    return names[entry] if entry in names else _replace_names(entry, replacements)


def _replace_names(text: str, replacements: Mapping[str, str]) -> str:
    """Return a text with the names in `replacements` replaced, except names of functions and parts of other names."""
    return re.sub(r"(?<![\w.])[a-z_]+(?![\w.(])", lambda found: replacements.get(found.group(), found.group()), text)
