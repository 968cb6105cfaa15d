"""Every certificate is accepted, and none survives a change of a coefficient, a sign, a reason or a condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Step, Term
from fedtheory.proofs import Certificate, MeanCertificate, certificates, examine, examine_mean, prove
from fedtheory.registry import find

IDS = sorted(certificates())
TERMS = {claim_id: found for claim_id, found in certificates().items() if isinstance(found, Certificate)}
MEANS = {claim_id: found for claim_id, found in certificates().items() if isinstance(found, MeanCertificate)}


@pytest.mark.parametrize("claim_id", IDS)
def test_the_kernel_accepts(claim_id: str) -> None:
    """The certificate proves the claim as it is encoded, and the claim is recorded as proved."""
    proof = prove(find(claim_id))
    assert proof.verdict == "proved", [step for step in proof.steps if not step.holds]
    assert find(claim_id).verdict == "proved"


def test_claims_recorded_as_proved_have_a_certificate() -> None:
    """No claim is recorded as proved without one."""
    from fedtheory.registry import all_claims

    assert {claim.id for claim in all_claims().values() if claim.verdict == "proved"} == set(IDS)


def mutants(certificate: Certificate) -> Iterator[Certificate]:
    """Each term dropped, doubled, halved, with the other sign, or with the other kind of mean."""
    for number, terms in enumerate(certificate.links):
        for place, term in enumerate(terms):
            changed: list[list[Term]] = [
                [*terms[:place], *terms[place + 1 :]],
                *(
                    [*terms[:place], replace(term, coefficient=factor * term.coefficient), *terms[place + 1 :]]
                    for factor in (2, sp.Rational(1, 2), -1)
                ),
            ]
            for mutated in changed:
                yield replace(
                    certificate, links=[*certificate.links[:number], mutated, *certificate.links[number + 1 :]]
                )


@pytest.mark.parametrize("claim_id", TERMS)
def test_no_mutant_survives(claim_id: str) -> None:
    """Any change of a coefficient breaks the identity."""
    certificate = TERMS[claim_id]
    for mutant in mutants(certificate):
        assert examine(find(claim_id), mutant).verdict == "broken"


@pytest.mark.parametrize("claim_id", TERMS)
def test_a_mutated_claim_is_not_proved(claim_id: str) -> None:
    """The right side scaled, or a square taken away from it, is something else."""
    claim, certificate = find(claim_id), TERMS[claim_id]
    for relation in claim.relations:
        wrong = [_scaled(r) if r is relation else r for r in claim.relations]
        if _scaled(relation).right == relation.right:
            continue
        mutant = replace(claim, lhs=None, rhs=None, chain=(), also=tuple(wrong))
        assert examine(mutant, certificate).verdict == "broken"


def _scaled(relation: Any) -> Any:
    return replace(relation, right=sp.Rational(9, 10) * relation.right)


def conditions_of(claim_id: str) -> list[Any]:
    """The conditions that a certificate uses: its own, or else the claim's."""
    relaxed = TERMS[claim_id].relaxed
    return list(find(claim_id).conditions if relaxed is None else relaxed)


@pytest.mark.parametrize("claim_id", [claim_id for claim_id in TERMS if conditions_of(claim_id)])
def test_conditions_are_needed(claim_id: str) -> None:
    """The certificate fails without its conditions, and under bounds that are three times as wide."""
    claim, certificate = find(claim_id), TERMS[claim_id]
    conditions = conditions_of(claim_id)
    wider = [condition.func(condition.lhs, 3 * condition.rhs) for condition in conditions]
    for weaker in ([], wider):
        assert examine(claim, replace(certificate, relaxed=weaker)).verdict == "broken"


@pytest.mark.parametrize("claim_id", MEANS)
def test_no_mutated_mean_is_proved(claim_id: str) -> None:
    """Another right side, no conditions, fewer assumptions, or a step that is not proved: each breaks the mean."""
    claim, certificate = find(claim_id), MEANS[claim_id]
    step = prove(find(certificate.step))
    scaled = replace(claim, lhs=None, rhs=None, chain=(), also=[_scaled(relation) for relation in claim.relations])
    for mutant in (scaled, replace(claim, conditions=()), replace(claim, assumptions=claim.assumptions[1:])):
        assert examine_mean(mutant, certificate, step).verdict == "broken"
    unproved = replace(step, steps=(*step.steps, Step("something else", False)))
    assert examine_mean(claim, certificate, unproved).verdict == "broken"
    assert examine_mean(claim, replace(certificate, span=_OTHER[certificate.span]), step).verdict == "broken"


_OTHER: dict[Any, Any] = {"round": "run", "run": "round"}
