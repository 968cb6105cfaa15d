"""Statements and certificates for which the exporter has no theorem: each is refused with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language.claim import Claim, Operator, Relation
from fedtheory.language.registry import find
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.derived_relation import Derived
from verify.rocq.accepted import load_accepted
from verify.rocq.export import export_claim, export_id
from verify.rocq.refusals import NotExported

Change = Callable[[Claim, Any], tuple[Claim, Any]]


def _with_relations(claim: Claim, relations: Sequence[Relation]) -> Claim:
    return replace(claim, lhs=None, rhs=None, chain=(), also=tuple(relations))


def _with_operator(operator: Operator) -> Change:
    def change(claim: Claim, certificate: Any) -> tuple[Claim, Any]:
        return _with_relations(claim, [Relation(r.left, operator, r.right) for r in claim.relations]), certificate

    return change


def _with_right(of: Callable[[Any], Any]) -> Change:
    def change(claim: Claim, certificate: Any) -> tuple[Claim, Any]:
        return _with_relations(claim, [replace(r, right=of(r.right)) for r in claim.relations]), certificate

    return change


def _with_assumptions(of: Callable[[Sequence[Any]], Sequence[Any]]) -> Change:
    return lambda claim, certificate: (replace(claim, assumptions=tuple(of(claim.assumptions))), certificate)


def _without(assumption: a.Assumption) -> Change:
    return _with_assumptions(lambda known: [one for one in known if one is not assumption])


CHANGES: dict[str, Change] = {
    "strict": _with_operator("<"),
    "lower": _with_operator(">="),
    "twice": lambda claim, why: (_with_relations(claim, [*claim.relations, *claim.relations]), why),
    "root": _with_right(lambda right: right ** sp.Rational(1, 3)),
    "exponential": _with_right(sp.exp),
    "no assumptions": _with_assumptions(lambda _: ()),
    "more assumed": _with_assumptions(lambda known: (*known, a.bounded_second_moment, a.one_dimension)),
    "last assumption": _with_assumptions(lambda known: known[:-1]),
    "noisy": _without(a.full_gradients),
    "no shares": _without(a.uniform_shares),
    "relaxed": lambda claim, why: (claim, replace(why, relaxed=[])),
    "at run": lambda claim, why: (replace(claim, place="run"), why),
    "at step": lambda claim, why: (replace(claim, place="step"), why),
    "known": lambda claim, why: (claim, replace(why, known=[Derived(claim.id)])),
    "some lemma": lambda claim, why: (claim, replace(why, lemmas=["renard2022:thm-2.1"])),
}
"""Changes of a claim or its certificate, after which one is not about the other."""
REFUSED = [
    (
        "comparator:sampled.all-steps",
        "last assumption",
        "client sampling is exported for runs with noise",
    ),
    ("fraboni2022:dl-case", "no assumptions", "of updates is not in"),
    ("fraboni2022:eq-23", "no assumptions", "given_A is defined by the assumption 'given weights', which the claim"),
    ("fraboni2022:eq-23", "strict", "no tactic is generated for strict inequalities"),
    ("fraboni2022:eq-35", "known", "its certificate uses inequalities between numbers"),
    ("fraboni2022:eq-35", "more assumed", "the assumption 'bounded second moment' has no definition in the library"),
    ("fraboni2022:eq-91", "more assumed", "the assumption 'bounded second moment' has no definition in the library"),
    ("fraboni2022:lemma-7", "no assumptions", "L is defined by the assumption 'convex and smooth', which the claim"),
    ("fraboni2022:thm-2.update", "no assumptions", "fraboni2022:eq-105.gradient is about other schedules"),
    ("landmarks:dsgd.consensus", "lower", "Lyapunov functions prove upper bounds"),
    ("landmarks:dsgd.consensus", "root", "Lyapunov functions bound the distance of the last model, or that"),
    (
        "landmarks:fedavg.at-rest",
        "root",
        "expected a bound on optimum_displacement_sq, got another statement",
    ),
    ("lecture27:lemma-4", "noisy", "its certificate uses other claims about runs with noise"),
    ("lecture27:lemma-4", "relaxed", "its certificate uses other claims about runs, under other conditions"),
    ("lecture27:lemma-4", "root", "is a root of what may be negative"),
    ("lecture27:lemma-4", "strict", "equations between products are not exported"),
    ("lecture27:thm-1", "last assumption", "the hypothesis own_dissimilarity_A encodes no assumption and no"),
    ("lecture27:thm-1", "lower", "an induction shows an upper bound"),
    ("lecture27:thm-1", "noisy", "expected one induction without noise"),
    ("lecture27:thm-1.g-step", "lower", "squares are exported if they are bounded from above"),
    ("lecture27:thm-1.sum", "twice", "expected one equation with one sum of numbers"),
    ("lecture27:thm-2", "relaxed", "a symbol has no name in the library: delta"),
    ("lecture27:thm-2.gaps", "noisy", "sums over an interval are exported under the assumptions and conditions"),
    ("liu2022:eq-1", "root", "is not linear in the vectors and values of the library"),
    ("liu2022:eq-3.fixed", "at run", "the library has no vectors for claims about a run"),
    ("liu2022:eq-3.fixed", "some lemma", "its certificate uses other claims about runs than a bound on the drift"),
    ("liu2022:eq-4", "more assumed", "the assumption 'one dimension' has no definition in the library"),
    ("liu2022:eq-4", "root", "is not known to be a natural number"),
    ("liu2022:eq-4", "strict", "no tactic is generated for strict inequalities"),
    ("liu2022:eq-4", "twice", "expected one link of the certificate for each relation"),
    ("liu2022:eq-5", "more assumed", "the assumption 'one dimension' has no definition in the library"),
    ("liu2022:eq-5", "no assumptions", "the library has rounds with full or uniformly sampled participation"),
    ("liu2022:eq-5", "relaxed", "claims about rounds with client sampling are exported under their own conditions"),
    ("liu2022:eq-7.a", "no assumptions", "the claim assumes nothing of smoothness"),
    ("liu2022:thm-1", "exponential", "is not made of sums, products and powers"),
    ("liu2022:thm-1", "last assumption", "has hypotheses that this claim lacks: G"),
    ("liu2022:thm-1", "more assumed", "the assumption 'one dimension' has no definition in the library"),
    ("liu2022:thm-1", "strict", "no tactic is generated for strict inequalities"),
    ("liu2022:thm-1", "twice", "expected one link of the certificate for each relation"),
    (
        "vlaski2023:claim.steady-state-noise",
        "lower",
        "the stationary error is exported if the noise at the optimum bounds",
    ),
    ("vlaski2023:eq-5.18", "lower", "changes by local steps are exported for normalised step sizes"),
    (
        "vlaski2023:eq-5.26.other-cost",
        "lower",
        "weighted averages of gradients are exported if terms bound them",
    ),
    (
        "vlaski2023:eq-5.26.other-cost",
        "relaxed",
        "weighted averages of gradients are exported without conditions, lemmas and roots",
    ),
    ("vlaski2023:eq-5.28", "last assumption", "the library has no bound"),
    ("vlaski2023:eq-5.47", "some lemma", "renard2022:thm-2.1 is used under conditions that are not this claim's"),
    ("vlaski2023:eq-5.48", "at step", "the library has no vector for next_local_iterate"),
    ("vlaski2023:eq-5.48", "no shares", "claims about a client's step are exported without sums over steps"),
    ("vlaski2023:eq-5.48", "some lemma", "its certificate uses other claims about runs"),
    ("vlaski2023:eq-5.53.way", "lower", "claims about the steps of a round are exported if they are upper bounds"),
    (
        "vlaski2023:eq-5.65",
        "relaxed",
        "claims about numbers of a round are exported as sums of facts with at most one root",
    ),
]


@pytest.mark.parametrize(("claim_id", "change", "why"), REFUSED)
def test_claims_without_a_theorem_are_refused(claim_id: str, change: str, why: str) -> None:
    """The reason names what is missing: an assumption, a number, a kind of statement or of certificate."""
    claim, certificate = CHANGES[change](find(claim_id), certificate_of(claim_id))
    with pytest.raises(NotExported) as refusal:
        export_claim(claim, certificate)
    assert why in str(refusal.value)


@pytest.mark.parametrize("operator", ["<=", ">=", "=="])
def test_another_relation_is_another_theorem(operator: Operator) -> None:
    """A theorem states what its claim states now, not what the certificate was written for."""
    written = 0
    one_of_each_kind = {type(certificate_of(claim_id)): claim_id for claim_id in load_accepted()}
    for claim_id in (*one_of_each_kind.values(), "lecture27:thm-1.sum", *[*load_accepted()][::16]):
        claim = find(claim_id)
        if all(relation.operator == operator for relation in claim.relations):
            continue
        try:
            found = export_claim(*_with_operator(operator)(claim, certificate_of(claim_id)))
        except NotExported:
            continue
        written += 1
        assert found.theorem.statement != export_id(claim_id).theorem.statement
    assert written >= 5
