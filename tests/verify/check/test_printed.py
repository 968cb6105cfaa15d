"""Printed proofs: their steps exist, each step is examined, and the first one that fails is named."""

from __future__ import annotations

import pytest

from fedtheory.language.registry import all_sources, find
from fedtheory.proofs.published_proofs import list_printed_steps
from verify.published_proofs import check_published_proof, find_first_failure

WITH_PROOFS = [f"{source.key}:{name}" for source in all_sources().values() for name in source.printed_proofs]


@pytest.mark.parametrize("claim_id", WITH_PROOFS)
def test_steps_are_claims_of_the_source_as_printed(claim_id: str) -> None:
    """Every step is a claim, none of them a repair, and none comes twice."""
    steps = list_printed_steps(claim_id)
    assert len(set(steps)) == len(steps) > 0
    assert all(find(step).corrects is None for step in (claim_id, *steps))


def test_a_claim_without_a_printed_proof_has_no_steps() -> None:
    """Definitions and remarks have no steps."""
    assert check_published_proof(find("renard2022:assumption-1")) == []


def test_the_first_failing_step_is_named_with_its_reason() -> None:
    """The proof of Lemma 2.2 fails at a reversed sign, and the steps before that are proved."""
    steps = check_published_proof(find("renard2022:lemma-2.2"))
    failing = find_first_failure(steps)
    assert failing is not None
    assert failing.claim.id == "renard2022:observation-2.1"
    assert "The sign is reversed" in failing.why
    before = steps[: steps.index(failing)]
    assert [step.verdict for step in before] == ["proved"] * 3


def test_a_proof_without_a_failing_step() -> None:
    """No step of the proof of Lemma 5.1 fails, and all are proved."""
    steps = check_published_proof(find("vlaski2023:lemma-5.1"))
    assert find_first_failure(steps) is None
    assert {step.verdict for step in steps} == {"proved"}


def test_a_step_without_a_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step without a certificate is not called proved: an O(.) is shown on ladders of runs only."""
    monkeypatch.setattr("verify.published_proofs.list_printed_steps", lambda _claim_id: ("vlaski2023:eq-5.62",))
    (step,) = check_published_proof(find("vlaski2023:thm-5.1.recursion"))
    assert step.verdict == "not certified"
    assert "asymptotic" in step.why


@pytest.mark.parametrize("claim_id", ["renard2022:lemma-2.2", "liu2022:thm-1", "lecture27:lemma-3"])
def test_verdicts_of_steps_are_those_on_record(claim_id: str) -> None:
    """A step fails where it is recorded as refuted, and is proved where it is recorded as proved."""
    recorded = {"proved": "proved", "refuted": "fails"}
    for step in check_published_proof(find(claim_id)):
        assert step.verdict == recorded.get(str(step.claim.verdict), "not certified")
