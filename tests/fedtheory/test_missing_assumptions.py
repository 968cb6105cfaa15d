"""A broken certificate is told apart from a claim that assumes too little: the missing assumption is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedtheory.language.registry import find
from fedtheory.language.vocabulary import assumed
from fedtheory.proofs import certificate_of, check_certificate, prove
from fedtheory.proofs.document import document_of
from fedtheory.proofs.missing_assumptions import missing_assumptions

NAMES = {entry.assumption: entry.name for entry in assumed()}


@pytest.mark.parametrize("claim_id", ["liu2022:lemma-1", "renard2022:property-2.5"])
def test_what_is_left_out_is_named(claim_id: str) -> None:
    """One assumption at a time; where the proof holds without it nothing is named."""
    claim = find(claim_id)
    document = document_of(claim, certificate_of(claim_id))
    for left_out in claim.assumptions:
        weaker = replace(claim, assumptions=[one for one in claim.assumptions if one is not left_out])
        proof = check_certificate(weaker, document)
        expected = () if proof.verdict == "proved" else (NAMES[left_out],)
        assert missing_assumptions(proof) == expected


def test_two_are_found_one_after_the_other() -> None:
    """The second shows itself only when the first is there."""
    claim = find("liu2022:lemma-1")
    weaker = replace(claim, assumptions=[one for one in claim.assumptions if "second moment" not in one.name][1:])
    names = missing_assumptions(check_certificate(weaker, document_of(claim, certificate_of(claim.id))))
    assert set(names) == {NAMES[one] for one in claim.assumptions if one not in weaker.assumptions}


def test_a_wrong_identity_is_not_mended_by_assumptions() -> None:
    """A statement that is too strong stays unproved, whatever is assumed; a proved one lacks nothing."""
    claim = find("renard2022:property-2.5")
    assert missing_assumptions(prove(claim)) == ()
    stronger = replace(claim, rhs=claim.relations[0].right / 2, chain=(), also=())
    proof = check_certificate(stronger, document_of(claim, certificate_of(claim.id)))
    assert proof.verdict == "broken"
    assert missing_assumptions(proof) == ()
