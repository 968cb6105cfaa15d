"""Lemmas that a search adds to a document, each accepted by the kernel when it is added."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.work import spend
from fedtheory.language.claim import Claim, Place, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, check_certificate, prove
from fedtheory.proofs.document import Document, document_of, lemma_id
from fedtheory.proofs.document.notation import Scope, write_expression
from fedtheory.proofs.document.symbols import symbols_of
from fedtheory.proofs.proof import Proof


@dataclass(frozen=True)
class LemmaGoal:
    """A lemma to prove: one relation about the runs, rounds, steps or points of a claim."""

    name: str
    place: Place
    """Whether the lemma is about a run, a round, a step or points."""
    relation: Relation
    conditions: Sequence[Expr] | None = None
    """Conditions of the lemma; None for those of the claim."""


class Workspace:
    """The lemmas of one document, in the symbols of a claim that has a symbol for each of their quantities."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.proofs: dict[str, Proof] = {}
        self._entries: dict[str, Document] = {}

    def claim_of(self, goal: LemmaGoal) -> Claim:
        """Return a lemma as a claim."""
        conditions = self.claim.conditions if goal.conditions is None else goal.conditions
        return replace(
            self.claim,
            id=lemma_id(self.claim, goal.name),
            also=(goal.relation,),
            conditions=tuple(conditions),
            place=goal.place,
            lhs=None,
            rhs=None,
            chain=(),
        )

    def add(self, goal: LemmaGoal, certificate: Any) -> str | None:
        """Add a lemma and return its id; return None if the kernel rejects its certificate.

        The certificate is an object, or its entry in a document.
        """
        claim = self.claim_of(goal)
        if claim.id in self.proofs:
            return claim.id
        try:
            entry = self._make_entry(goal, claim, certificate)
            document = write_lemma_document(claim, entry["certificate"])
            proof = check_certificate(claim, document, self.find_proof)
        except (InputError, Rejected):
            return None
        spend(sum(proof.work.values()))
        if proof.verdict != "proved":
            return None
        self.proofs[claim.id] = proof
        self._entries[claim.id] = entry
        return claim.id

    def _make_entry(self, goal: LemmaGoal, claim: Claim, certificate: Any) -> Document:
        """Return a lemma as an entry of a document."""
        scope = Scope(symbols_of(claim))
        smaller, larger = goal.relation.ordered
        written = certificate if isinstance(certificate, dict) else document_of(claim, certificate)["certificate"]
        entry = {
            "name": goal.name,
            "place": goal.place,
            "statement": f"{write_expression(smaller, scope)} <= {write_expression(larger, scope)}",
            "certificate": written,
        }
        if goal.conditions is not None:
            entry["conditions"] = [write_expression(condition, scope) for condition in goal.conditions]
        return entry

    def find_proof(self, name: str) -> Proof:
        """Return the proof of a lemma or of a published claim, by its id."""
        return self.proofs[name] if name in self.proofs else prove(find(name))

    def entries(self, names: Iterable[str]) -> list[Document]:
        """Return the entries of lemmas and of all their dependencies, in the order in which they were proved."""
        required = set(names) & self._entries.keys()
        # A lemma depends on earlier lemmas only.
        for name in reversed(self._entries):
            if name in required:
                text = repr(self._entries[name])
                required |= {other for other in self._entries if other != name and f"'{other}'" in text}
        return [entry for name, entry in self._entries.items() if name in required]


def write_lemma_document(claim: Claim, certificate: Document) -> Document:
    """Return the document of a claim with this certificate, given as an entry."""
    return document_of(claim, Certificate(claim=claim.id, links=[])) | {"certificate": certificate}


def make_lemma_name(name: str) -> str:
    """Return a text, such as the id of a claim, with hyphens in place of spaces and punctuation."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def list_used_names(documents: Sequence[Document], names: Iterable[str]) -> list[str]:
    """Return those of some names that occur in documents."""
    words = set(re.findall(r"\w+", repr(documents)))
    return [name for name in names if name in words]


def le(smaller: Expr, larger: Expr) -> Relation:
    """Return the relation smaller <= larger."""
    return Relation(sp.sympify(smaller), "<=", sp.sympify(larger))
