"""Certificates of papers as proof terms: written, read again and accepted, with claims proved by terms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from proof_terms import report_of

from fedtheory.errors import InputError
from fedtheory.kernel.inequalities import INEQUALITIES
from fedtheory.proofs import certificates
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.terms.checking import check_document
from fedtheory.proofs.terms.codec import MOST_NESTED, decode, encode, schema
from fedtheory.proofs.terms.explanation import _PLAIN, _state, explain, state_steps
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules import RULES
from fedtheory.proofs.terms.term import iterate_parts

RENARD = sorted(name for name in certificates() if name.startswith("renard2022:"))
VALIDATOR = Draft202012Validator(schema())
SCHEMA = Path(__file__).parents[3] / "docs" / "proof-term.schema.json"


@pytest.mark.parametrize("name", RENARD)
def test_every_certificate_of_a_paper_is_a_term(name: str) -> None:
    report = report_of(name)
    assert report.is_proved, report.refusal
    assert report.document is not None
    assert report.proof is not None
    plain = report.claim
    again = encode(plain, decode(plain, report.document))
    assert again == report.document
    assert not list(VALIDATOR.iter_errors(report.document))


def test_a_step_of_an_explanation_is_one_rule() -> None:
    report = report_of("renard2022:thm-2.1")
    proof = report.proof
    assert proof is not None
    steps = explain(report.claim, proof)
    assert len(steps) == sum(1 for relation in proof.relations for _ in iterate_parts(relation))
    assert {step.rule for step in steps} <= RULES.keys()
    assert [step.number for step in steps][:3] == ["1", "1.1", "1.2"]
    assert all(step.text and "\\" not in step.text for step in steps)


def test_explanations_have_norms_and_names_of_facts() -> None:
    texts = [
        step.text
        for name in ("renard2022:lemma-2.3", "comparator:sampled.average-error")
        for step in explain(report_of(name).claim, _proof(name))
    ]
    assert any("|x_i - x_j|^2" in text for text in texts)
    assert any("a squared distance from the comparator is not negative" in text for text in texts)


def test_explanations_state_each_inequality_once() -> None:
    texts = [step.text for step in explain(report_of("comparator:one-step").claim, _proof("comparator:one-step"))]
    stated = [text for text in texts if "; it says " in text]
    assert all(
        sum(text.startswith(name) for text in stated) == 1 for name in ("smoothness", "convexity", "cocoercivity")
    )
    assert "convexity of F_i at y around local_iterate" in texts
    formula = "f(at) - f(around) - <grad f(around), at - around> >= 0, of a convex f"
    assert f"convexity of F_i at y around local_iterate; it says {formula}" in texts
    assert not any("Inner(" in text or "Gradient(" in text for text in texts)
    assert all(" >= 0" in _state(kind) for kind in INEQUALITIES.keys() - _PLAIN)


def test_checked_steps_have_the_notation_of_explanations() -> None:
    report = report_of("comparator:one-step")
    stated = state_steps(report.claim, report.steps)
    assert [step.holds for step in stated] == [step.holds for step in report.steps]
    texts = " ".join(step.text for step in stated)
    assert "square of -2*m_i + n_i" in texts
    assert "mean[grad F_i(local_iterate)]" in texts
    assert not any(word in texts for word in ("\\", "Gradient(", "_m_i"))


def test_parts_of_an_induction_are_named() -> None:
    texts = [step.text for step in explain(report_of("renard2022:lemma-2.3").claim, _proof("renard2022:lemma-2.3"))]
    assert [sum(text.startswith(f"{part}: ") for text in texts) for part in ("at the start", "one step later")] == [
        1,
        1,
    ]


def test_the_schema_is_that_of_the_rules() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def test_every_rule_has_its_name() -> None:
    assert all(made.rule == name for name, made in RULES.items())
    used = {type(rule) for name in RENARD for term in _relations(name) for rule in iterate_parts(term)}
    assert used <= set(RULES.values())


def _proof(name: str) -> TermProof:
    proof = report_of(name).proof
    assert proof is not None
    return proof


def _relations(name: str) -> tuple[Any, ...]:
    return _proof(name).relations


def _change(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield invalid documents."""
    document = report_of(name).document
    assert document is not None
    yield "format", {**document, "format": "another"}
    yield "proof.claim", {**document, "proof": {**document["proof"], "claim": "renard2022:eq-8"}}
    (term,) = document["proof"]["relations"]
    for key, value in (
        ("rule", "guess"),
        ("goal", "__import__('os')"),
        ("goal", 7),
        ("comparison", "<="),
        ("parts", {}),
    ):
        changed = {**term, key: value}
        yield f"proof.relations[0].{key}", {**document, "proof": {**document["proof"], "relations": [changed]}}
    deep: Any = term
    for _ in range(MOST_NESTED):
        deep = {"rule": "antisymmetry", "at_most": deep, "at_least": term}
    yield "proof", {**document, "proof": {**document["proof"], "relations": [deep]}}


def test_documents_that_are_none_are_refused() -> None:
    plain = use_plain_symbols(report_of("renard2022:thm-2.1").claim)
    for where, document in _change("renard2022:thm-2.1"):
        with pytest.raises(InputError) as refusal:
            decode(plain, json.loads(json.dumps(document)))
        assert where in str(refusal.value)
        assert not check_document(plain, document).is_proved
