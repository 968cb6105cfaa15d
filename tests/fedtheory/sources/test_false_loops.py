"""False statements about the loop with restarts, or outside of its context, are not proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from test_restarted import ALL

from fedtheory.kernel import Rejected, Step, Term, assumption, lipschitz_gradient, smoothness, square, vector
from fedtheory.kernel.expressions import Average, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import Proof, Recursion, certificate_of, check_certificate
from fedtheory.proofs.distances import PAIR
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.outline import outline
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.sources.liu2022.context.restarts import LOOP_PAIR, VARIANCE, LoopMean, build_iteration_context
from fedtheory.sources.liu2022.quantities.published_loop import simulate_as_published
from fedtheory.sources.liu2022.statements.loop import ALONG_THE_LOOP
from fedtheory.sources.liu2022.statements.notation import (
    G,
    G_loop,
    G_run,
    K,
    L,
    N,
    T,
    client_gradients,
    error,
    f,
    f_i,
    gap,
    loop_drift,
    loop_error,
    mean_drift,
    s,
    sigma,
    sigma_loop,
    theorem_bound,
    x_i,
    x_i_next,
    xbar,
    xbar_next,
)
from verify.check import check

LEMMA, THEOREM = find("liu2022:lemma-1.loop"), find("liu2022:thm-1.loop")
OF_LEMMA, OF_THEOREM = certificate_of(LEMMA.id), certificate_of(THEOREM.id)
BOUND = LEMMA.relations[0].right
ITERATION = theorem_bound.subs(ALONG_THE_LOOP)


def verdict(claim: Claim, certificate: Any, **changed: Any) -> str:
    """Return the verdict on a certificate with some entries changed."""
    proof: Proof = check_certificate(claim, replace(certificate, **changed))
    return proof.verdict


def about(claim: Claim, left: Any, right: Any, operator: str = "<=") -> Claim:
    """Return a claim with other sides."""
    return replace(claim, lhs=left, relation=operator, rhs=right, chain=())  # type: ignore[arg-type]


def without(claim: Claim, assumption_: Any) -> Claim:
    """Return a claim without an assumption."""
    return replace(claim, assumptions=tuple(one for one in claim.assumptions if one is not assumption_))


@pytest.mark.parametrize("key", ALL, ids=str)
def test_clients_take_at_most_all_local_steps_from_one_point(key: tuple[str, int]) -> None:
    """In each run of the loop, the average of an iteration starts where the previous one ends."""
    run, steps = ALL[key], key[1]
    weights, sizes = run.problem.weights, run.algorithm.work.step_sizes
    start = run.problem.centred.start
    before, origin, taken = [start] * len(weights), None, 0
    for t, after in enumerate(simulate_as_published(run), start=1):
        average = sum(w * x for w, x in zip(weights, before, strict=True))
        restarts = t % steps == 0
        origin = average if restarts else start if origin is None else origin
        taken = 1 if restarts else taken + 1
        assert taken <= steps
        points = [average] * len(weights) if restarts else before
        moved = [(x - y) / size for x, y, size in zip(points, after, sizes, strict=True)]
        expected = average - sum(w * size * g for w, size, g in zip(weights, sizes, moved, strict=True))
        assert (sum(w * y for w, y in zip(weights, after, strict=True)) == expected).all()
        before = list(after)


def test_the_four_claims_are_proved() -> None:
    """Each proof has an outline that names the loop."""
    for name in ("lemma-1.loop", "thm-1.loop", "cor-2.loop.step", "cor-2.loop"):
        claim = find(f"liu2022:{name}")
        assert check_certificate(claim, certificate_of(claim.id)).verdict == "proved"  # type: ignore[arg-type]
        shown = outline(claim)
        assert shown is not None
        assert ("loop" in shown.introduction) is not name.startswith("cor")


@pytest.mark.parametrize("share", [0, "1/2", "99/100"])
def test_smaller_bounds_on_the_drift_are_not_proved(share: Any) -> None:
    """Smaller bounds on the drift of two clients are not proved, nor those of one client in the limit of many."""
    assert verdict(about(LEMMA, loop_drift, sp.Rational(share) * BOUND), OF_LEMMA) == "broken"


def test_the_drift_of_the_loop_is_no_other() -> None:
    """FedAvg's drift is another quantity, and averages over local steps do not follow from the loop."""
    assert verdict(about(LEMMA, q.max_drift, BOUND), OF_LEMMA) == "broken"
    assert verdict(about(LEMMA, mean_drift, BOUND), OF_LEMMA) == "broken"
    assert verdict(LEMMA, OF_LEMMA, measure=PAIR) == "broken"
    assert verdict(LEMMA, OF_LEMMA, first=None) == "broken"
    assert isinstance(OF_LEMMA, Recursion)
    assert verdict(LEMMA, OF_LEMMA, first=[Term(sp.S.One, square(sp.S.Zero))]) == "broken"
    fedavg = certificate_of("liu2022:lemma-1")
    assert verdict(find("liu2022:lemma-1"), fedavg, measure=LOOP_PAIR) == "broken"


@pytest.mark.parametrize("moment", [G, G_run, sigma_loop])
def test_other_second_moments_are_not_known(moment: sp.Symbol) -> None:
    """Second moments of FedAvg's run or region may be smaller than those of the loop, so they are unknown."""
    assert verdict(about(LEMMA, loop_drift, BOUND.subs(G_loop, moment)), OF_LEMMA) == "broken"


@pytest.mark.parametrize("needed", [a.same_local_work, a.full_participation, a.uniform_shares])
def test_both_need_the_setting(needed: Any) -> None:
    """All clients must take equal steps and have equal weights."""
    assert verdict(without(LEMMA, needed), OF_LEMMA) == "broken"
    assert verdict(without(THEOREM, needed), OF_THEOREM) == "broken"


WRONG = {
    "no gap": ITERATION - 2 * gap / (s * T),
    "half a gap": ITERATION - gap / (s * T),
    "a negative gap": ITERATION - 4 * gap / (s * T),
    "no drift": ITERATION.subs(K, 0),
    "no noise": ITERATION.subs(sigma_loop, 0),
    "a smaller share of noise": ITERATION - L * s * sigma_loop**2 / (2 * N),
    "noise of the region": ITERATION.subs(sigma_loop, sigma),
    "a negative drift": ITERATION - loop_drift,
    "itself": ITERATION - loop_error,
    "the error of FedAvg": ITERATION + error - error**2,
}


@pytest.mark.parametrize("name", WRONG)
def test_smaller_bounds_on_the_mean_are_not_proved(name: str) -> None:
    """Each term of the theorem is needed, with the constants of the loop."""
    assert verdict(about(THEOREM, loop_error, WRONG[name]), OF_THEOREM) == "broken"


def test_the_theorem_needs_its_conditions_and_its_lemma() -> None:
    """The theorem needs small steps and the lemma on the loop, but no convexity; it is an upper bound."""
    assert verdict(replace(THEOREM, conditions=()), OF_THEOREM) == "broken"
    assert verdict(without(THEOREM, a.smooth), OF_THEOREM) == "broken"
    assert verdict(THEOREM, OF_THEOREM, lemmas=[]) == "broken"
    assert verdict(THEOREM, OF_THEOREM, lemmas=["liu2022:lemma-1"]) == "broken"
    assert verdict(about(THEOREM, loop_error, ITERATION, ">="), OF_THEOREM) == "broken"
    assert verdict(about(THEOREM, error, ITERATION), OF_THEOREM) == "broken"


def test_an_iteration_knows_no_step_of_a_client() -> None:
    """In an iteration with a restart no client steps from its own iterate."""
    terms = [Term(sp.S.One, square(x_i_next - x_i))]
    assert verdict(THEOREM, OF_THEOREM, terms=terms) == "broken"
    plain = use_plain_symbols(THEOREM)
    context, symbol = build_iteration_context(plain, [use_plain_symbols(LEMMA)]), symbols_of(plain)
    assert vector(symbol(q.next_average_iterate), context)
    for moved in (q.next_local_iterate, q.next_centralised_model):
        with pytest.raises(Rejected, match="is not a vector of the context"):
            vector(symbol(moved), context)


def failing(claim: Claim, certificate: LoopMean) -> list[str]:
    """Return the texts of the steps that fail."""
    return [step.text for step in check_certificate(claim, certificate).steps if not step.holds]


KEPT = 2 * gap / (s * T) + L**2 * loop_drift + L * s * sigma_loop**2 / N
"""The bound with the largest drift, before Lemma 1."""
OF_KEPT = [
    Term(2 / s, smoothness(f, xbar_next, xbar)),
    Term(L * s / N, assumption(VARIANCE), averaged=True),
    Term(
        sp.S.One,
        square(Gradient(f_i, xbar) - Gradient(f_i, x_i) - Average(Gradient(f_i, xbar) - Gradient(f_i, x_i))),
        averaged=True,
    ),
    Term(sp.S.One, lipschitz_gradient(f_i, xbar, x_i), averaged=True),
    Term(1 - s * L, square(client_gradients)),
]


def test_the_largest_drift_is_no_lower_bound() -> None:
    """A bound that subtracts the drift holds in each iteration with its own drift, and not with the largest one."""
    right = KEPT - (L**2 + 1) * loop_drift + (L**2 + 1) * BOUND
    claim = replace(about(THEOREM, loop_error, right), id="t:loop")
    terms = [*OF_KEPT, Term(L**2 + 1, assumption(LEMMA.id), averaged=True)]
    assert failing(claim, LoopMean(claim=claim.id, terms=terms, lemmas=[LEMMA.id])) == ["the drift: (-1) >= 0"]


def test_an_iteration_moves_the_average_of_all_clients() -> None:
    """Without full participation the average of an iteration is no average of all clients' steps."""
    claim = replace(without(about(THEOREM, loop_error, KEPT), a.full_participation), id="t:loop")
    assert failing(claim, LoopMean(claim=claim.id, terms=OF_KEPT)) == [
        "all clients take the same steps and are averaged; missing: full participation"
    ]


def test_the_mean_may_keep_the_largest_drift() -> None:
    """The bound with the largest drift, before Lemma 1, is proved, and holds on a run."""
    claim = replace(about(THEOREM, loop_error, KEPT), id="t:loop")
    assert verdict(claim, LoopMean(claim=claim.id, terms=OF_KEPT)) == "proved"
    assert verdict(about(claim, loop_error, KEPT - norm_sq(x_i)), LoopMean(claim=claim.id, terms=OF_KEPT)) == "broken"
    found = [check(claim, run) for run in ALL.values()]
    assert {one.holds for one in found if one.applicable} == {True}


SQUARES: dict[str, Claim] = {
    "of the other sign": about(LEMMA, -loop_drift, 0),
    "a lower bound": about(LEMMA, loop_drift, 0, ">="),
    "an equation": about(LEMMA, loop_drift, loop_drift, "=="),
    "of FedAvg": about(LEMMA, q.max_drift, 0),
    "two relations": replace(about(LEMMA, -loop_drift, 0), also=(Relation(loop_drift, ">=", sp.S.Zero),)),
    "of each step": replace(about(LEMMA, loop_drift, 0), place="step"),
}
"""True statements on the drift of the loop, as squares, or for one client, that bound it at no step."""


@pytest.mark.parametrize("name", SQUARES)
def test_a_lemma_that_bounds_no_drift_of_the_loop(name: str) -> None:
    """A true lemma whose right side is no bound on the drift of a run does not prove the theorem without drift."""
    lemma = replace(SQUARES[name], id="t:square")
    assert isinstance(OF_THEOREM, LoopMean)
    terms = [
        replace(term, reason=assumption(lemma.id)) if term.reason == assumption(LEMMA.id) else term
        for term in OF_THEOREM.terms
    ]
    claim = about(THEOREM, loop_error, ITERATION.subs(K, 0))
    changed = replace(OF_THEOREM, lemmas=[lemma.id], terms=terms)
    found = check_certificate(claim, changed, lambda _: Proof(lemma, OF_LEMMA, (Step("squares", True),)))
    assert [step.text for step in found.steps if not step.holds] == ["t:square does not bound the drift of the loop"]


def test_a_lemma_without_relations_proves_nothing() -> None:
    """A definition or a rate as a lemma is refused."""
    assert isinstance(OF_THEOREM, LoopMean)
    proof = check_certificate(THEOREM, replace(OF_THEOREM, lemmas=["liu2022:thm-1.rate"]))
    assert "liu2022:thm-1.rate does not bound the drift of the loop" in [s.text for s in proof.steps if not s.holds]
