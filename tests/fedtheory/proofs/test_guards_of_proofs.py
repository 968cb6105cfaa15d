"""Guards of proofs that reject, count once, or omit: positive and negative cases, against values by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory.kernel import Numbers, Rejected
from fedtheory.kernel.expressions import norm_sq
from fedtheory.kernel.work import limit_work
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.proofs import Proof, checker, numbers, paper_contexts, run_conditions, step_sums
from fedtheory.proofs.links import Positive
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.outline import _outline_link
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.terms.proof_of_claim import TermProof, check_terms
from fedtheory.proofs.terms.rules.axiom import Axiom

eta, L, x, y = sp.symbols("eta L x y", positive=True)
w = sp.Symbol("w", real=True)


@pytest.mark.parametrize("operator", ["==", "<", ">", "<="])
def test_a_slack_that_is_not_negative_shows_no_equation(operator: Any) -> None:
    """A non-negative slack proves neither an equation nor a strict relation."""
    claim = Claim(id="t:none", lhs=0, relation=operator, rhs=norm_sq(w), where={w: q.point}, place="points")
    proof = TermProof(claim.id, (Axiom("square", (w,)),))
    if operator == "<=":
        assert all(step.holds for step in check_terms(claim, proof, checker.RECORDED))
        return
    with pytest.raises(Rejected, match=f">= 0, but the claim states {operator}"):
        list(check_terms(claim, proof, checker.RECORDED))


@pytest.mark.parametrize(
    ("condition", "is_limit"),
    [
        (L * eta <= 1, True),
        (eta <= 1 / (4 * L), True),
        (L >= 1, False),
        (eta >= 1, True),
        (eta - L >= 1, False),
        (sp.Eq(L, 1), False),
        (sp.Eq(eta, 1), True),
    ],
)
def test_flat_objectives_are_limits_of_curved_ones(condition: Any, is_limit: bool) -> None:
    """If L = 0 is a limit of L > 0, conditions on the curvature must hold near zero as well."""
    where = {eta: q.local_step_size, L: q.smoothness}
    claim = Claim(id="t:flat", lhs=q.final_suboptimality, rhs=eta * L, where=where, conditions=[condition])
    known = numbers._collect_numbers(claim, numbers._FLAT)
    assert numbers._is_a_limit(claim, known) is is_limit


def test_the_work_of_a_lemma_counts_once() -> None:
    """The work of a lemma, including its own lemmas, counts once, however often it is used."""
    works: dict[str, dict[str, int]] = {"a": {"a": 100, "b": 30}, "b": {"b": 30}, "c": {"c": 7, "b": 30}}
    known: dict[str, int] = {}
    counted = checker._count_once(lambda name: SimpleNamespace(work=works[name]), known)  # type: ignore[arg-type, return-value]
    for name, spent in (("a", 130), ("a", 0), ("b", 0), ("c", 7), ("c", 0)):
        with limit_work(10**6) as meter:
            counted(name)
            assert meter.spent == spent
    assert known == {"a": 100, "b": 30, "c": 7}


def test_the_work_of_a_check_by_itself() -> None:
    """The work of a check is None if it was not counted."""
    for work, own in (({"a": 5, "b": 7}, 5), ({"b": 7}, 0), ({}, 0)):
        proof: Any = SimpleNamespace(work=work, claim=SimpleNamespace(id="a"))
        assert Proof.own_work.fget(proof) == own  # type: ignore[attr-defined]


def test_papers_without_a_context_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Papers without a context, and modules in which the name means something else, are skipped."""
    real = paper_contexts.list_paper_contexts()
    assert real
    modules = [SimpleNamespace(CONTEXT=real[0]), SimpleNamespace(), SimpleNamespace(CONTEXT="text")]
    monkeypatch.setattr(paper_contexts, "import_modules", lambda _: modules)
    assert paper_contexts.list_paper_contexts.__wrapped__() == (real[0],)


def test_the_outline_of_a_relation_that_is_seen() -> None:
    """The outline of an evident relation has one entry: its slack, by the signs of its symbols."""
    claim: Any = None
    certificate: Any = SimpleNamespace(lemmas=(), roots=())
    group = _outline_link(claim, certificate, Relation(x, "<=", x + y), Positive())
    (entry,) = group.entries
    assert entry.coefficient == 1
    assert sp.expand(entry.factor - y) == 0


def test_conditions_without_minima() -> None:
    """A bound by c min(u, v) with c >= 0 is split into bounds by c u and by c v."""
    numbers_ = Numbers(symbols=frozenset({eta, L, x, y}))
    conditions = [
        eta <= 2 * sp.Min(x, y),
        sp.Le(-L, sp.Min(x, y), evaluate=False),
        eta <= (1 - L) * sp.Min(x, y),
        sp.Le(eta, sp.Min(x, y) * sp.Min(L, y), evaluate=False),
        eta >= sp.Min(x, y),
        eta <= x,
    ]
    found = list(run_conditions.split_minima(conditions, numbers_))
    first = [conditions[0], sp.Le(eta, 2 * x, evaluate=False), sp.Le(eta, 2 * y, evaluate=False)]
    second = [conditions[1], sp.Le(-L, x, evaluate=False), sp.Le(-L, y, evaluate=False)]
    assert [set(found[:3]), set(found[3:6])] == [set(first), set(second)]
    assert found[6:] == conditions[2:]


def test_a_claim_that_relies_on_itself_is_unproved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim that uses itself has one failing step that says so."""
    claim = Claim(id="t:self", lhs=eta, rhs=0, where={eta: q.local_step_size})
    claims = {claim.id: claim, "t:another": replace(claim, id="t:another")}
    monkeypatch.setattr(checker, "find", claims.__getitem__)
    monkeypatch.setattr(checker, "recorded_for", lambda _: None)
    answered = SimpleNamespace(name="answered")
    monkeypatch.setattr(checker, "_answer", lambda request: (answered, request.claim.id, request.relying))
    prove = checker._make_prover(("t:other", claim.id))
    (step,) = prove(claim.id).steps
    assert (step.holds, step.text) == (False, "t:self relies on itself")
    assert prove("t:another") == (answered, "t:another", ("t:other", claim.id))  # type: ignore[comparison-overlap]


def test_potentials_are_finite_after_the_last_step() -> None:
    """A potential that may divide by zero after the last step of a round is refused, although it is positive before."""
    tau, k = sp.Symbol("tau", positive=True), sp.Symbol("k", nonnegative=True, integer=True)
    where = {eta: q.local_step_size, tau: q.local_steps, k: q.local_step_index}
    step = use_plain_symbols(Claim(id="t:step", lhs=k, rhs=tau + eta, where=where, place="step"))
    steps, size, index = (symbols_of(step)(of) for of in (q.local_steps, q.local_step_size, q.local_step_index))
    context = step_sums.build_steps_sum_context(step)
    (shown,) = step_sums.check_end(1 / (steps - index + size), sp.S.Zero, context, ())
    assert shown.holds
    (shown,) = step_sums.check_end(1 / (steps - index + size), 1 / size + 1, context, ())
    assert not shown.holds
    with pytest.raises(Rejected, match="may be zero"):
        list(step_sums.check_end(1 / (steps - index + (size - 1) ** 2), sp.S.Zero, context, ()))
