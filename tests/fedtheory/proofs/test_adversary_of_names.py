"""False claims that exploit quantities under other names, undefined quantities, and values outside of a range."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from attempts import Attempt, attempt, sums, terms

import fedtheory as ft
from fedtheory.kernel import Rejected, Term, assumption, one, square, strong_convexity
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import Over
from fedtheory.proofs import Certificate, Combination, Part, check_certificate
from fedtheory.proofs.cases import Case, Cases
from fedtheory.proofs.claim_context import build_context
from fedtheory.proofs.document import document_of
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.terms.places import context_of_run, enter_models, enter_step
from fedtheory.proofs.terms.rules.maximum import BelowMaximum

ROUNDS = (a.full_participation, a.unit_server_step, a.same_local_work, a.uniform_shares)
DRAWN = (a.uniform_sampling, a.unit_server_step, a.uniform_shares)
L, delta, tau, steps, window = sp.symbols("L delta tau E_i W", positive=True)
curvature, spread, sigma, drift, mu, chi = sp.symbols("Q D sigma V mu chi", nonnegative=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
F, x, y, local, average = sp.symbols("F x y x_i xbar", real=True)
later, late, last, below, above = sp.symbols("A B C m X", nonnegative=True)
ONE, ROOT = sp.S.One, sp.sqrt(drift)
AT_STEPS = {local: q.local_iterate, average: q.average_iterate}
DRIFT = Expectation(norm_sq(local - average))
SAME_CURVATURE = ft.quantity("own_curvature", L, {L: q.smoothness}, over="run")
OWN_DRIFT = ft.quantity("own_drift", Average(DRIFT), AT_STEPS, over="round", by="largest")
BEFORE_STEPS = ft.quantity("own_largest", DRIFT, AT_STEPS, over="run", by="largest", clients="largest")
TIED = [curvature * spread <= curvature * sigma]
SHARED = [delta * drift / L <= delta * sigma / L]
GAP = Value(F, x) - Value(F, y) - inner(Gradient(F, y), x - y)
UNEQUAL: dict[str, Any] = {
    "algorithm": {"local_steps": [1, 3]},
    "lhs": k + 1,
    "rhs": Average(steps),
    "where": {k: q.local_step_index, steps: q.client_local_steps, tau: q.local_steps},
    "place": "round",
    "assumptions": DRAWN,
}
EVERY_STEP = [[Term(steps - k - 1, one(), averaged=True)]]


def _distance(name: str, of: q.VectorQuantity, entry: Any, over: Over) -> q.RunQuantity:
    """Return a user-defined quantity of squared distances from the comparator, at one entry of each round."""
    point, comparator = sp.symbols("point comparator", real=True)
    at_step = {point: of, comparator: q.comparator}
    made = ft.quantity(name, Expectation(norm_sq(point - comparator)), at_step).term
    assert made is not None
    return define(name, name, name, replace(made, over=(Over("steps", entry), over)))


CASES: dict[str, Attempt] = {
    "a constant under another name": sums(
        {"links": [[Part(1 / L, TIED[0])]]},
        "may be zero",
        {"hessians": [[["0"]], [["0"]]], "linear": [["1"], ["-1"]]},
        {"local_steps": 1},
        # The root keeps the sides from being numbers, so that quantities are replaced by their terms.
        lhs=spread + ROOT * (1 + L),
        rhs=sigma + ROOT + L * ROOT,
        where={
            L: q.smoothness,
            curvature: SAME_CURVATURE,
            drift: OWN_DRIFT,
            spread: q.gradient_dissimilarity,
            sigma: q.noise_deviation,
        },
        conditions=TIED,
        assumptions=(a.smooth, *ROUNDS),
    ),
    "an affine objective of clients that are not": sums(
        {"links": [[Part(L / delta, SHARED[0])]]},
        "(delta) may be zero",
        {"hessians": [[["1"]], [["-1"]]]},
        lhs=drift,
        rhs=sigma,
        where={L: q.smoothness, delta: q.objective_smoothness, drift: q.max_drift, sigma: q.noise_deviation},
        conditions=SHARED,
        assumptions=(a.smooth,),
    ),
    "a curvature that need not exist, in a weaker condition": terms(
        {
            "links": [[Term(ONE, strong_convexity(F, x, y)), Term(mu / 2, square(x - y))]],
            "relaxed": [sp.Le(mu, mu + 1, evaluate=False)],
        },
        "not named: mu",
        {"hessians": [[["-1"]], [["-1"]]]},
        lhs=0,
        rhs=GAP,
        where={F: q.objective, x: q.point, y: q.second_point, mu: q.strong_convexity},
        place="points",
    ),
    "equal numbers of steps, in a weaker condition": terms(
        {"links": EVERY_STEP, "relaxed": [sp.Le(tau, tau, evaluate=False)]}, "not named: tau", **UNEQUAL
    ),
    "a sum that begins after the last round": sums(
        {"links": [[]]},
        "what is left over",
        algorithm={"rounds": 1, "local_steps": 1},
        lhs=later + ROOT * (1 + L),
        relation="==",
        rhs=late + last + ROOT + L * ROOT,
        where={
            L: q.smoothness,
            drift: OWN_DRIFT,
            later: _distance("own_later", q.next_average_iterate, "last", Over("rounds", "sum", 1)),
            late: _distance("own_late", q.server_model, "first", Over("rounds", "sum", 2)),
            last: _distance("own_last", q.next_average_iterate, "last", Over("rounds", "last")),
        },
        assumptions=ROUNDS,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_false_claim_is_not_proved(case: Attempt) -> None:
    proof = check_certificate(case.claim, case.certificate)
    assert proof.verdict == "broken"
    assert case.because in (proof.failing or "")
    assert case.fails


@pytest.mark.parametrize(
    "lemma",
    [
        {"statement": "local_step_index + 1 <= mean(client_local_steps)", "conditions": ["local_steps <= local_steps"]},
        {"statement": "local_step_index + local_steps <= mean(client_local_steps) + local_steps - 1"},
    ],
    ids=["condition", "statement"],
)
def test_a_lemma_about_equal_numbers_of_steps_is_not_used_for_others(lemma: dict[str, Any]) -> None:
    """The lemma is true where all clients take the same number of steps, which the claim does not assume."""
    case = terms({"links": EVERY_STEP}, "", **UNEQUAL)
    certificate = json.loads(json.dumps(document_of(case.claim, case.certificate)["certificate"]))
    certificate["claim"] = "t:false#same"
    use = [[Term(ONE, assumption("t:false#same, relation 1"))]]
    document = document_of(case.claim, Certificate(claim="t:false", lemmas=("t:false#same",), links=use))
    document["lemmas"] = [{"name": "same", "place": "round", "certificate": certificate, **lemma}]
    proof = check_certificate(case.claim, document)
    assert "a number of local steps that all clients share" in (proof.failing or "")
    assert case.fails


def test_the_largest_value_before_steps_bounds_none_after_the_last_one() -> None:
    where = {below: BEFORE_STEPS, above: q.max_drift}
    claim = use_plain_symbols(Claim(id="t:largest", lhs=above, rhs=below, where=where, assumptions=ROUNDS))
    context = context_of_run(claim, _prove_nothing)
    named = {quantity: symbol for symbol, quantity in claim.notation.items()}
    assert BelowMaximum(named[BEFORE_STEPS]).check(enter_step(context))
    assert BelowMaximum(named[q.max_drift]).check(enter_models(context))
    with pytest.raises(Rejected, match="after the last step"):
        BelowMaximum(named[BEFORE_STEPS]).check(enter_models(context))


def _prove_nothing(name: str) -> Proof:
    raise Rejected(name)


def test_cases_are_those_of_a_whole_run() -> None:
    """The largest argument may change from update to update, and a sum over updates is in none of the cases."""
    claim = {"lhs": sp.Max(chi, window), "rhs": chi + window, "where": {chi: q.chi_sq, window: q.window}}
    cases = [Case(one, Combination(claim="t:false", links=[[]])) for one in (chi, window)]
    tried = attempt(Cases, {"cases": cases}, "", assumptions=(a.aggregation_scheme, a.somebody_reports), **claim)
    proof = check_certificate(tried.claim, tried.certificate)
    assert "differs between steps or updates" in (proof.failing or "")


@pytest.mark.parametrize("named", [False, True])
def test_clients_have_minimisers_where_the_statement_names_their_distance(named: bool) -> None:
    """A document adds names of quantities to a claim, which say nothing about the runs that it is about."""
    own, f = sp.Symbol("d_i", nonnegative=True), sp.Symbol("F_i", real=True)
    where = {own: q.client_optimum_distance, f: q.client_objective, x: q.point}
    claim = Claim(id="t:named", lhs=0, rhs=norm_sq(Gradient(f, x)) + (own if named else 0), where=where, place="points")
    assert (f in build_context(claim).minimisers) is named
