"""False statements about runs that resemble consequences of averages, equations and signs are not proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import FLOAT
from fedtheory.errors import InputError
from fedtheory.federation import Fixed, Multinomial, fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.kernel import Step, Term, assumption, one, square
from fedtheory.kernel.expressions import Average, ClientSum, Expectation, Expr, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, Combination, Part, Proof, certificates, check_certificate
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.links import Positive
from fedtheory.sources.fraboni2022.context import updates as v
from fedtheory.sources.fraboni2022.context.averages import OverSteps, OverUpdates
from fedtheory.sources.lecture27.context.intervals import AtNextStart

ONE = sp.S.One
SCHEME = (a.aggregation_scheme, a.unbiased_gradients)
squared, share, mixed, mean, own, past, delay, bar, gap, following, last = sp.symbols(
    "squared share mixed mean own past delay bar gap following last", nonnegative=True
)
WHERE: dict[sp.Symbol, Any] = {
    squared: q.stochastic_gradient_sq,
    share: q.weight_share,
    mixed: q.square_mean_gradient_at_step,
    mean: q.mean_divergence,
    own: q.client_dissimilarity,
    past: q.past_step_lengths_sq,
    delay: q.largest_staleness,
    bar: q.mean_step_length_sq,
    gap: q.interval_start_gap,
    following: q.next_interval_start_gap,
    last: q.final_suboptimality,
}
THREE_HALVES = sp.Rational(3, 2)
JENSEN = Term(ONE, square(v.at_local - Average(v.at_local)), averaged=True)


def claim(left: Any, operator: Any, right: Any, **stated: Any) -> Claim:
    """Return a small claim about a run."""
    return Claim(
        id="t:false", lhs=left, relation=operator, rhs=right, **{"where": WHERE, "assumptions": SCHEME, **stated}
    )


def failing(found: Claim, certificate: Any, prover: Any = None) -> str:
    """Return the failing steps of a check; empty if the claim is proved."""
    steps = (
        check_certificate(found, certificate).steps
        if prover is None
        else check_certificate(found, certificate, prover).steps
    )
    return "; ".join(step.text for step in steps if not step.holds)


@pytest.mark.parametrize(
    ("why", "stated"),
    [
        ([], claim(Average(squared), "==", ClientSum(share * squared))),
        ([JENSEN], claim(mixed, "<=", Average(squared))),
        (
            [Term(THREE_HALVES - Average(own), one())],
            claim(ClientSum(share * own), "<=", THREE_HALVES, conditions=[Average(own) <= THREE_HALVES]),
        ),
        ([], claim(mean, "==", ClientSum(share * own))),
    ],
    ids=["a mean", "Jensen", "a condition", "a number"],
)
def test_importances_are_no_shares(why: Any, stated: Claim) -> None:
    """An average over clients has the client weights, not the weights of an update."""
    assert failing(stated, Certificate(claim=stated.id, links=[why])) != ""


@pytest.mark.parametrize("left", [Average(squared), Average(squared * own), Average(share)])
def test_a_mean_over_clients_is_no_member(left: Expr) -> None:
    """Values of a client may differ between clients, and then stay inside the client average."""
    stated = claim(left, "==", left.args[0])
    assert "left over" in failing(stated, Combination(claim=stated.id, links=[[]]))


@pytest.mark.parametrize(
    ("derived", "given", "made"),
    [(OverUpdates, past, delay * bar), (AtNextStart, gap, following)],
    ids=["sums over the past", "the last round"],
)
def test_a_bound_makes_no_equation(derived: type[Derived], given: sp.Symbol, made: Expr) -> None:
    """If a side is replaced by a larger one, an equation becomes an inequality."""
    assumptions = (*SCHEME, *derived.needs)
    premise = replace(claim(0, "==", given, assumptions=assumptions), id="t:premise")
    proof = Proof(premise, certificate=object(), steps=(Step("granted", True),))
    stated = claim(0, "==", made, assumptions=assumptions)
    found = failing(stated, Combination(claim=stated.id, links=[[Part(ONE, derived("t:premise"))]]), lambda _id: proof)
    assert "expected equations only" in found


@pytest.mark.parametrize(
    "quantity",
    [
        q.weight_sum,
        q.smallest_weight_sum,
        q.past_step_lengths_sq,
        q.final_suboptimality,
        q.interval_start_gap,
        q.smoothness,
        q.sample_smoothness,
    ],
    ids=lambda quantity: quantity.name,
)
def test_possibly_zero_quantities_are_not_positive(quantity: Any) -> None:
    """A quantity that may be zero is not positive, whatever is declared for its symbol."""
    symbol = sp.Symbol("letter", positive=True)
    stated = claim(0, "<", symbol, where={symbol: quantity})
    assert "> 0" in failing(stated, Certificate(claim=stated.id, links=[Positive()]))


def test_a_mean_over_those_that_are_drawn_is_no_number() -> None:
    """An average over participants stays inside an expectation, also with their indicator."""
    count, drawn, clients, chosen = sp.symbols("count drawn clients chosen", nonnegative=True)
    where = {count: q.client_local_steps, drawn: q.participates, clients: q.clients, chosen: q.participants}
    both = (a.uniform_sampling, a.unit_server_step, a.uniform_shares)
    stated = claim(
        Expectation(Average(drawn * count)), "==", Average(drawn * count), where=where, place="round", assumptions=both
    )
    assert "random" in failing(stated, Certificate(claim=stated.id, links=[[]]))


@pytest.mark.parametrize("place", ["path", "points", "round"])
def test_the_nearest_start_is_near_in_expectation(place: Any) -> None:
    """On a single path, rounds may start farther away than the expected nearest start."""
    model, least, omega = sp.Symbol("w", real=True), sp.Symbol("o", real=True), sp.Symbol("omega", positive=True)
    where = {model: q.server_model, least: q.optimum, omega: q.nearest_start}
    stated = claim(norm_sq(model - least), "<=", 1 / omega, where=where, place=place, assumptions=())
    why = [Term(ONE, assumption("nearest start"))]
    assert failing(stated, Certificate(claim=stated.id, links=[why])) != ""


def test_rounds_of_sampled_clients_may_start_anywhere() -> None:
    """A statement about one round is no statement about the starts of the run's rounds."""
    model, least, omega = sp.Symbol("w", real=True), sp.Symbol("o", real=True), sp.Symbol("omega", positive=True)
    where = {model: q.server_model, least: q.optimum, omega: q.nearest_start}
    sampled = (a.uniform_sampling, a.unit_server_step, a.uniform_shares, a.full_gradients)
    stated = claim(norm_sq(model - least), "<=", 1 / omega, where=where, place="round", assumptions=sampled)
    why = [Term(ONE, assumption("nearest start"))]
    assert "nearest start" in failing(stated, Certificate(claim=stated.id, links=[why]))


@pytest.mark.parametrize(
    ("weights", "law", "expected"),
    [([-1, 3], None, "not negative"), ([1, 2], Multinomial(2), "importance"), ([1, 2], Fixed((0,)), "importance")],
)
def test_weights_that_the_theory_excludes_are_refused(weights: list[int], law: Any, expected: str) -> None:
    """Negative weights, and others than the client weights as probabilities, are rejected."""
    problem = quadratic(FLOAT.array([[[1]], [[2]]]), FLOAT.array([[0], [1]]), FLOAT.array([1]))
    chosen = {} if law is None else {"participation": law}
    with pytest.raises(InputError, match=expected):
        fedavg(problem, rounds=1, local_step_size=0.1, local_steps=1, aggregation=FLOAT.array(weights), **chosen)


@pytest.mark.parametrize(
    ("number", "signless"),
    [(q.weight_sum, q.progress), (q.mean_weight_sum, q.mean_progress), (q.weight_sum, q.alignment)],
    ids=lambda quantity: quantity.name,
)
def test_a_quantity_in_a_condition_has_no_sign(number: Any, signless: Any) -> None:
    """1 <= q does not follow from 1 + Delta <= q, if Delta may be negative."""
    size, change = sp.symbols("size change", nonnegative=True)
    where = {size: number, change: signless}
    stated = claim(1, "<=", size, where=where, conditions=[sp.Ge(size, 1 + change)])
    assert ">= 0" in failing(stated, Certificate(claim=stated.id, links=[[Term(size - 1, one())]]))
    assert "condition" in failing(stated, Combination(claim=stated.id, links=[[Part(ONE, sp.Ge(size, ONE))]]))
    same = replace(stated, where={size: number, change: q.initial_gap})
    assert failing(same, Combination(claim=stated.id, links=[[Part(ONE, sp.Ge(size, ONE))]])) == ""


def test_a_factor_of_a_smallest_number_is_a_number() -> None:
    """x <= Delta u does not follow from x <= Delta min(u, v), if Delta may be negative."""
    x, u, v_, change = sp.symbols("x u v_ change", nonnegative=True)
    where = {x: q.noise_deviation, u: q.initial_distance, v_: q.gradient_dissimilarity, change: q.mean_progress}
    least, own = sp.Le(x, change * sp.Min(u, v_), evaluate=False), sp.Le(x, change * u, evaluate=False)
    stated = claim(x, "<=", change * u, where=where, conditions=[least])
    assert "not a number" in failing(stated, Combination(claim=stated.id, links=[[Part(ONE, own)]]))


def test_piecewise_constant_functions_are_refused() -> None:
    """Piecewise constant functions have derivative zero without being constant, and are rejected."""
    at_a_step, mean_of_it = sp.symbols("at_a_step mean_of_it", nonnegative=True)
    where = {at_a_step: q.objective_gradient_sq, mean_of_it: q.virtual_gradient_sq}
    jump = sp.Piecewise((ONE, at_a_step > 1), (sp.S.Zero, True))
    shared: dict[str, Any] = {"where": where, "conditions": [sp.Ge(jump, 1)]}
    premise = replace(claim(1, "<=", jump, **shared), id="t:premise")
    proof = Proof(premise, certificate=object(), steps=(Step("granted", True),))
    stated = claim(mean_of_it + 1, "<=", mean_of_it, **shared)
    parts = Combination(claim=stated.id, links=[[Part(ONE, OverSteps("t:premise"))]])
    assert "is not a symbol" in failing(stated, parts, lambda _id: proof)


def test_vanishing_conditions_are_dropped() -> None:
    """q_i > 0 for a symbol declared positive is no condition, although q_i may be zero."""
    stated = find("fraboni2022:thm-3.gradient.step")
    own = next(symbol for symbol, quantity in stated.where.items() if quantity is q.mean_weight)
    positive = sp.Symbol("q_i", positive=True)
    where = {(positive if symbol == own else symbol): quantity for symbol, quantity in stated.where.items()}
    vanished = replace(stated, where=where, conditions=[positive > 0])
    assert "may be missing in all updates" in failing(vanished, certificates()[stated.id])


@pytest.mark.parametrize("quantity", [q.mean_weight_sum, q.server_step_size], ids=lambda quantity: quantity.name)
def test_exponents_need_not_be_integers(quantity: Any) -> None:
    """1 + y L <= (1 + L)^y fails for y between zero and one."""
    exponent, curvature = sp.Symbol("y", nonnegative=True, integer=True), sp.Symbol("L", nonnegative=True)
    stated = claim(1, "<=", (1 + curvature) ** exponent, where={exponent: quantity, curvature: q.smoothness})
    whole = failing(stated, Certificate(claim=stated.id, links=[[Term((1 + curvature) ** exponent - 1, one())]]))
    assert "nonnegative integer" in whole


def test_a_measured_error_divides_only_where_the_claim_does() -> None:
    """The error of Corollary 2 may be zero, so a premise that divides by it does not serve a claim that does not."""
    stated = find("liu2022:cor-2.speedup.fixed")
    (relation,) = stated.relations
    error = next(symbol for symbol, quantity in stated.notation.items() if quantity is q.average_local_gradient_sq)
    for bound, way in ((relation.right, ONE), (relation.right * error**2, error**2)):
        left = relation.left * way
        claim = replace(stated, lhs=left, rhs=bound, chain=(), id="t:error")
        found = check_certificate(claim, Combination(claim=claim.id, links=[[Part(way, Derived(stated.id))]]))
        assert found.verdict == ("proved" if way == ONE else "broken")
    assert any("may be zero" in step.text for step in found.steps if not step.holds)
