"""Translates combinations of proved claims and facts about a run into proof terms."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.language.claim import Claim
from fedtheory.proofs import facts
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.parts import AnyPremise, Part
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.roots import Root, name_roots
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.axiom import FACT, Axiom
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.consequence import Consequence
from fedtheory.proofs.terms.rules.hypothesis import Given
from fedtheory.proofs.terms.rules.know import Know
from fedtheory.proofs.terms.rules.name_roots import NamedRoot, NameRoots
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.rules.use import Use
from fedtheory.proofs.terms.term import ProofTerm, Weighted


def write_terms_of_combination(claim: Claim, certificate: Combination, _prove: Prover) -> TermProof:
    """Write a sum of claims and facts as terms."""
    if len(claim.relations) != len(certificate.links):
        wanted, given = len(claim.relations), len(certificate.links)
        raise Rejected(f"expected a link for each of the {wanted} relations of the claim, got {given}")
    roots, known = list_named_roots(certificate.roots), tuple(_derive(one) for one in certificate.known)
    terms = []
    for relation, parts in zip(claim.relations, certificate.links, strict=True):
        goal = name_roots(certificate.roots, relation).slack
        term: ProofTerm = Combine(goal, "==" if relation.operator == "==" else ">=", _weigh(parts))
        term = Know(known, term) if known else term
        terms.append(NameRoots(roots, term) if roots else term)
    return TermProof(claim.id, tuple(terms))


def list_named_roots(roots: Sequence[Root]) -> tuple[NamedRoot, ...]:
    """Write the roots of a certificate, each with the proof that its radicand is non-negative."""
    return tuple(
        NamedRoot(root.letter, root.of, root.least, Combine(root.of - root.least, ">=", _weigh(root.parts)))
        for root in roots
    )


def _weigh(parts: Sequence[Part]) -> tuple[Weighted, ...]:
    """Return the parts as terms with their coefficients."""
    return tuple(Weighted(part.coefficient, _sum_up(part)) for part in parts)


def _sum_up(part: Part) -> ProofTerm:
    premise = _prove_premise(part.premise)
    return premise if part.over is None else SumOver("numbers of clients", part.over, premise)


def _prove_premise(premise: AnyPremise) -> ProofTerm:
    """Return the proof term of a premise."""
    if isinstance(premise, Fact):
        return _prove_fact(premise)
    if isinstance(premise, str):
        return Use(premise)
    return _derive(premise) if isinstance(premise, Derived) else Given(sp.sympify(premise))


def _prove_fact(fact: Fact) -> ProofTerm:
    """Return the proof term of a fact."""
    if fact is facts.ONE:
        return Sign(sp.S.One)
    return Axiom(FACT, (next(name for name, one in FACTS.items() if one is fact),))


def _derive(derived: Derived) -> ProofTerm:
    """Return the proof term of a bound that another claim proves."""
    if type(derived) is not Derived:
        return Consequence(type(derived).kind, derived.claim, derived.link)
    return Use(derived.claim, derived.link)
