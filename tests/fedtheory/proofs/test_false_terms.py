"""Changed proof terms are rejected, or prove relations that no exact run refutes."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from proof_terms import prove_by_terms, report_of

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expectation, Expr, Inner, Value
from fedtheory.kernel.work import Exhausted, limit_work
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import certificate_of, certificates, check_certificate
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.terms.checking import check_document, report_terms
from fedtheory.proofs.terms.codec import decode
from fedtheory.proofs.terms.indexed import RangeSum
from fedtheory.proofs.terms.places import context_of_vectors
from fedtheory.proofs.terms.proof_of_claim import context_of
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.rules.use import Use
from verify.check import check
from verify.instances import FAMILIES, families_for

CHANGED = {
    "renard2022": (
        "property-2.2 property-2.5 eq-8 lemma-2.2.proof.heart lemma-2.2.proof.last.fixed lemma-2.3 lemma-2.3.mean "
        "lemma-2.2.fixed thm-2.1 thm-2.1.proof.split.fixed thm-2.1.any-point thm-2.1.quiet"
    ),
    "vlaski2023": (
        "problem-5.1 eq-5.7 eq-5.7.variances eq-5.14 eq-5.21.fixed eq-5.25.steps-a-b eq-5.26.other-cost eq-5.34-5.37 "
        "eq-5.38.lemma-step eq-5.41.fixed lemma-5.1 eq-5.58.fixed"
    ),
    "fraboni2022": (
        "table-2.sync eq-23 eq-38.fixed eq-38.ordering eq-39 eq-40 eq-44-45 lemma-1.schedules lemma-2.eq-59.fixed "
        "lemma-3.eq-69 lemma-3.eq-70-71.stale lemma-4.server-step lemma-7.steps thm-1.any-point.spread"
    ),
}
"""Claims whose terms are changed, by their papers."""
NAMES = [f"{source}:{name}" for source, names in CHANGED.items() for name in names.split()]
REFUSALS = (FedtheoryError, Rejected, Exhausted, ValueError, RecursionError)
TWO = {"kind": "quadratic", "hessians": [[["2"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["3"], "noise": "1"}
ALGORITHMS = ({"local_steps": 2, "rounds": 3}, {"local_steps": 1, "rounds": 2}, {"local_steps": 3, "rounds": 1})
RUNS = [parse_run({"problem": TWO, "algorithm": {"local_step_size": "1/8", **one}}, RATIONAL) for one in ALGORITHMS]
_MOST_RUNS = 3


@cache
def runs_of(name: str) -> list[Run]:
    """Exact runs that satisfy a claim's assumptions: of its own families, or of two clients with noise."""
    if name.startswith("renard2022:"):
        return RUNS
    exact = [one for one in families_for(find(name)) if "losses" not in one]
    return [instance.run() for one in exact for instance in FAMILIES[one].instances[:_MOST_RUNS]]


def document_of(name: str) -> dict[str, Any]:
    """Return the proof term of a claim as data that may be changed."""
    document = report_of(name).document
    assert document is not None
    copy: dict[str, Any] = json.loads(json.dumps(document))
    return copy


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every entry of a document: its table or list, and its key."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in list(items):
        yield data, key
        yield from places(value)


def change(document: dict[str, Any], chance: random.Random) -> None:
    """Change one entry of a document: a formula, a name, a choice, a list, or a term."""
    container, key = chance.choice([*places(document["proof"]["relations"])])
    value = container[key]
    terms = [one[at] for one, at in places(document["proof"]) if isinstance(one[at], dict) and "rule" in one[at]]
    if isinstance(value, str):
        others = [one[at] for one, at in places(document["proof"]) if isinstance(one[at], str)]
        changes: list[Callable[[], str]] = [
            lambda: f"2*({value})",
            lambda: f"-({value})",
            lambda: f"({value})/2",
            lambda: f"{value} + 1",
            lambda: chance.choice(others),
            lambda: chance.choice(["1", "0", "local_steps", "smoothness", "rounds", "client_smoothness"]),
        ]
        container[key] = chance.choice(changes)()
    elif isinstance(value, list) and value:
        value.pop(chance.randrange(len(value)))
    elif isinstance(value, dict) and "rule" in value:
        container[key] = json.loads(json.dumps(chance.choice(terms)))
    elif isinstance(value, int):
        container[key] = value + 1


def conclusions(claim: Claim, document: dict[str, Any]) -> Iterator[Proved]:
    """Infer what the terms of a document prove; refused ones prove nothing."""
    with limit_work(2 * 10**7):
        try:
            proof = decode(claim, document)
            for relation, term in zip(claim.relations, proof.relations, strict=False):
                context = context_of(claim, relation, prove_by_terms, [])
                proved = term.check(context)
                is_expected = claim.place in ("step", "round") and context.reading == "expectation"
                yield replace(proved, expression=in_expectation(proved.expression)) if is_expected else proved
        except REFUSALS:
            return


def in_expectation(expression: Expr) -> Expr:
    """Return an expression whose inner products and values outside of expectations stand in expectations."""
    if isinstance(expression, Inner | Value):
        return Expectation(expression)
    if isinstance(expression, Expectation) or not expression.args:
        return expression
    return expression.func(*map(in_expectation, expression.args))


def refuted(claim: Claim, proved: Proved) -> bool:
    """Return whether an exact run refutes a conclusion in the claim's own symbols."""
    expression = sp.sympify(proved.expression)
    if not expression.free_symbols <= {*claim.where, *claim.for_all} or expression.atoms(RangeSum):
        return False
    relation = Relation(expression, proved.comparison, sp.S.Zero)
    changed = replace(claim, also=(relation,), lhs=None, rhs=None, chain=())
    try:
        return any(check(changed, run).holds is False for run in runs_of(claim.id))
    except (FedtheoryError, ValueError):
        return False


def _require_true_conclusions(name: str, seed: int, times: int) -> None:
    claim = report_of(name).claim
    document, chance = document_of(name), random.Random(seed)
    for _ in range(times):
        change(document, chance)
    for proved in conclusions(claim, document):
        assert not refuted(claim, proved), (name, proved)


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(NAMES), seed=st.integers(0, 2**32), times=st.integers(1, 3))
def test_a_changed_term_proves_nothing_false(name: str, seed: int, times: int) -> None:
    _require_true_conclusions(name, seed, times)


@pytest.mark.long
@settings(max_examples=800, deadline=None)
@given(name=st.sampled_from(NAMES), seed=st.integers(0, 2**32), times=st.integers(1, 3))
def test_many_changed_terms_prove_nothing_false(name: str, seed: int, times: int) -> None:
    _require_true_conclusions(name, seed, times)


def test_honest_conclusions_are_compared_with_runs() -> None:
    """A negated conclusion is refuted, so that the comparison is not vacuous."""
    found = Counter[str]()
    for name in NAMES:
        claim = report_of(name).claim
        for proved in conclusions(claim, document_of(name)):
            assert not refuted(claim, proved)
            found[claim.source] += refuted(claim, Proved(-proved.expression - 1, proved.comparison))
    assert all(found[source] >= len(names.split()) - 3 for source, names in CHANGED.items())


def test_no_claim_is_used_at_the_start_of_an_induction() -> None:
    """At the start of an induction no other claim may be used, since all clients have the server's model."""
    document = document_of("renard2022:lemma-2.3")
    claim = report_of("renard2022:lemma-2.3").claim
    (induct,) = [one[at] for one, at in places(document) if _is_rule(one[at], "induct on the drift")]
    induct["base"] = {"rule": "use", "claim": "renard2022:eq-8"}
    report = check_document(claim, document, prove_by_terms)
    assert report.refusal is not None
    assert "is used at 'start'" in report.refusal


@pytest.mark.parametrize("used", ["vlaski2023:eq-5.7", "vlaski2023:eq-5.12", "vlaski2023:eq-5.21.fixed"])
def test_sums_over_later_steps_are_unknown_at_the_start_of_an_induction(used: str) -> None:
    """At the start of an induction sums over later steps are unknown."""
    report = report_of("vlaski2023:eq-5.53.way")
    document = json.loads(json.dumps(report.document))
    (induct,) = [one[at] for one, at in places(document) if _is_rule(one[at], "induct on the steps")]
    induct["base"] = {"rule": "use", "claim": used}
    refusal = check_document(report.claim, document, prove_by_terms).refusal
    assert refusal == f"at the start: {used} sums over steps that are not taken at the start of a round"


def _is_rule(value: Any, rule: str) -> bool:
    return isinstance(value, dict) and value.get("rule") == rule


READINGS = [
    ("liu2022:two-sided.special-case", "vlaski2023:eq-5.8", "holds for the expectation"),
    ("vlaski2023:eq-5.7", "vlaski2023:eq-5.12", "holds for the outcome"),
]


@pytest.mark.parametrize(("name", "used", "why"), READINGS)
def test_a_claim_in_expectation_says_nothing_of_an_outcome(name: str, used: str, why: str) -> None:
    claim = use_plain_symbols(find(name))
    context = context_of_vectors(claim, claim.relations[0], prove_by_terms)
    with pytest.raises(Rejected, match=why):
        Use(used).check(context)


def _stronger(claim: Claim) -> Iterator[Claim]:
    """Yield the claim with swapped sides, and with a smaller larger side."""
    for number, relation in enumerate(claim.relations):
        small, large = relation.ordered
        for sides in ((large, small), (small, sp.Rational(9, 10) * large)):
            changed = [*claim.relations[:number], Relation(sides[0], "<=", sides[1]), *claim.relations[number + 1 :]]
            yield replace(claim, lhs=None, rhs=None, chain=(), also=tuple(changed))


def _inequalities(source: str) -> list[str]:
    names = [name for name in sorted(certificates()) if name.startswith(f"{source}:")]
    return [name for name in names if all(one.operator in ("<=", ">=") for one in find(name).relations)]


@pytest.mark.slow
@pytest.mark.parametrize("source", ["renard2022", "liu2022", "comparator", "fraboni2022", "lecture27", "vlaski2023"])
def test_a_stronger_claim_is_no_more_accepted_than_by_the_kernel(source: str) -> None:
    """The certificate of a claim, as terms for a stronger one, proves nothing that the kernel does not."""
    refused = 0
    for name in _inequalities(source):
        for claim in _stronger(find(name)):
            certificate = certificate_of(name)
            assert certificate is not None
            report = report_terms(claim, certificate)
            refused += not report.is_proved
            assert not report.is_proved or check_certificate(claim, certificate).verdict == "proved", claim.relations
    assert refused
