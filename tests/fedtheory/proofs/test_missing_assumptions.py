"""For a broken certificate of a claim with too few assumptions, the missing assumption is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from fedtheory import Claim, Expectation, Gradient, Value, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Term, assumption, smoothness
from fedtheory.language.registry import find
from fedtheory.language.vocabulary import list_assumptions
from fedtheory.proofs import Certificate, certificate_of, check_certificate, prove
from fedtheory.proofs.document import document_of
from fedtheory.proofs.missing_assumptions import find_missing_assumptions

NAMES = {entry.assumption: entry.name for entry in list_assumptions()}


@pytest.mark.long
@pytest.mark.parametrize("claim_id", ["liu2022:lemma-1", "renard2022:property-2.5"])
def test_removed_assumptions_are_named(claim_id: str) -> None:
    """Each removed assumption is named, unless the proof holds without it."""
    claim = find(claim_id)
    document = document_of(claim, certificate_of(claim_id))
    for left_out in claim.assumptions:
        weaker = replace(claim, assumptions=[one for one in claim.assumptions if one is not left_out])
        proof = check_certificate(weaker, document)
        expected = () if proof.verdict == "proved" else (NAMES[left_out],)
        assert find_missing_assumptions(proof) == expected


def test_two_are_found_one_after_the_other() -> None:
    """The second missing assumption is found only with the first."""
    claim = find("liu2022:lemma-1")
    weaker = replace(claim, assumptions=[one for one in claim.assumptions if "second moment" not in one.name][1:])
    names = find_missing_assumptions(check_certificate(weaker, document_of(claim, certificate_of(claim.id))))
    assert set(names) == {NAMES[one] for one in claim.assumptions if one not in weaker.assumptions}


def test_a_wrong_identity_is_not_mended_by_assumptions() -> None:
    """A statement that is too strong stays unproved under all assumptions; for a proved one nothing is missing."""
    claim = find("renard2022:property-2.5")
    assert find_missing_assumptions(prove(claim)) == ()
    stronger = replace(claim, rhs=claim.relations[0].right / 2, chain=(), also=())
    proof = check_certificate(stronger, document_of(claim, certificate_of(claim.id)))
    assert proof.verdict == "broken"
    assert find_missing_assumptions(proof) == ()


def test_two_are_found_where_neither_helps_alone() -> None:
    """A local step lacks equal local work and a noise bound: with the first, the second is found."""
    z, z_next, F_i = sp.symbols("z_i z_i^+ F_i", real=True)
    eta, L, sigma = sp.symbols("eta L sigma", positive=True)
    slope = Expectation(norm_sq(Gradient(F_i, z)))
    claim = Claim(
        id="mine:descent",
        lhs=Expectation(Value(F_i, z_next)),
        rhs=Expectation(Value(F_i, z)) - eta * (1 - L * eta / 2) * slope + L * eta**2 * sigma**2 / 2,
        where={
            z: q.local_iterate,
            z_next: q.next_local_iterate,
            F_i: q.client_objective,
            eta: q.local_step_size,
            L: q.smoothness,
            sigma: q.noise_deviation,
        },
        place="step",
        conditions=[eta <= 1 / L],
        assumptions=[a.convex_and_smooth],
    )
    terms = [Term(sp.S.One, smoothness(F_i, z_next, z)), Term(L * eta**2 / 2, assumption("bounded variance"))]
    proof = check_certificate(claim, document_of(claim, Certificate(claim=claim.id, links=[terms])))
    assert set(find_missing_assumptions(proof)) == {"same_local_work", "unbiased_bounded_variance"}
