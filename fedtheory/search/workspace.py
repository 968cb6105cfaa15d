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
    """A lemma that is to be proved."""

    name: str
    place: Place
    relation: Relation
    conditions: Sequence[Expr] | None = None
    """Conditions of the lemma; None for those of the claim."""


class Workspace:
    """The lemmas of one document, in the symbols of a claim with a symbol for every quantity they mention."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.proofs: dict[str, Proof] = {}
        self._entries: dict[str, Document] = {}

    def claim_of(self, statement: LemmaGoal) -> Claim:
        """Return a lemma as a claim."""
        conditions = self.claim.conditions if statement.conditions is None else statement.conditions
        return replace(
            self.claim,
            id=lemma_id(self.claim, statement.name),
            also=(statement.relation,),
            conditions=tuple(conditions),
            place=statement.place,
            lhs=None,
            rhs=None,
            chain=(),
        )

    def add(self, statement: LemmaGoal, certificate: Any) -> str | None:
        """Add a lemma and return its id.

        Returns None if the kernel rejects its certificate, given as a document or an object.
        """
        claim = self.claim_of(statement)
        if claim.id in self.proofs:
            return claim.id
        try:
            entry = self._make_entry(statement, claim, certificate)
            document = write_lemma_document(claim, entry["certificate"])
            proof = check_certificate(claim, document, self.prover)
        except (InputError, Rejected):
            return None
        spend(sum(proof.work.values()))
        if proof.verdict != "proved":
            return None
        self.proofs[claim.id] = proof
        self._entries[claim.id] = entry
        return claim.id

    def _make_entry(self, statement: LemmaGoal, claim: Claim, certificate: Any) -> Document:
        """Return a lemma as an entry of a document."""
        scope = Scope(symbols_of(claim))
        smaller, larger = statement.relation.ordered
        made = certificate if isinstance(certificate, dict) else document_of(claim, certificate)["certificate"]
        entry = {
            "name": statement.name,
            "place": statement.place,
            "statement": f"{write_expression(smaller, scope)} <= {write_expression(larger, scope)}",
            "certificate": made,
        }
        if statement.conditions is not None:
            entry["conditions"] = [write_expression(one, scope) for one in statement.conditions]
        return entry

    def prover(self, name: str) -> Proof:
        """Return the proof of a lemma or of a published claim."""
        return self.proofs[name] if name in self.proofs else prove(find(name))

    def entries(self, names: Iterable[str]) -> list[Document]:
        """Return the entries of lemmas and of all their dependencies, in the order in which they were proved."""
        wanted = set(names) & self._entries.keys()
        for name in reversed(self._entries):
            if name in wanted:
                text = repr(self._entries[name])
                wanted |= {other for other in self._entries if other != name and f"'{other}'" in text}
        return [entry for name, entry in self._entries.items() if name in wanted]


def write_lemma_document(claim: Claim, certificate: Document) -> Document:
    """Return a written certificate as the document of a claim."""
    return document_of(claim, Certificate(claim=claim.id, links=[])) | {"certificate": certificate}


def make_lemma_name(name: str) -> str:
    """Return a name for a lemma, from the id of a claim."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def list_used_names(documents: Sequence[Document], known: Iterable[str]) -> list[str]:
    """List the names, among the `known` ones, that documents use."""
    words = set(re.findall(r"\w+", repr(documents)))
    return [name for name in known if name in words]


def le(smaller: Expr, larger: Expr) -> Relation:
    """Return the relation of a lemma."""
    return Relation(sp.sympify(smaller), "<=", sp.sympify(larger))
