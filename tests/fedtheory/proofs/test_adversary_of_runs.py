"""False claims that exploit changes from step to step, poles, and undeclared signs of symbols."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from attempts import Attempt, attempt, sums, terms

from fedtheory.kernel import Rejected, Term, lipschitz_gradient, one, square
from fedtheory.kernel.expressions import Average, Gradient, LocalSum, PastSum, Value, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate, Combination, Part, check_certificate, facts
from fedtheory.proofs.links import Induction, PrefixSum, Products
from fedtheory.proofs.numbers import symbols_of
from fedtheory.sources.fraboni2022.context import updates as u
from fedtheory.sources.lecture27.context.intervals import SumOverSteps

eta, L, tau, omega = sp.symbols("eta L tau omega", positive=True)
gap, spread, sigma, delta = sp.symbols("g D sigma delta", nonnegative=True)
start, end = sp.symbols("S E", nonnegative=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
steps = sp.Symbol("E_i", positive=True, integer=True)
x, y, z, g, F, later = sp.symbols("x y z g F later", real=True)
ONE = sp.S.One
ROUND = (a.same_local_work, a.unit_server_step, a.full_participation, a.uniform_sampling, a.uniform_shares)
PAST: dict[str, Any] = {
    "where": {k: q.local_step_index, g: q.stochastic_gradient, eta: q.local_step_size, later: q.next_local_iterate},
    "place": "round",
    "assumptions": ROUND,
    "relation": "==",
    "algorithm": {"local_steps": 3},
    "because": "",
}
MODELS = {k: q.local_step_index, steps: q.client_local_steps, y: q.server_model, F: q.objective}
HIDDEN: dict[str, Any] = {**PAST, "where": MODELS}
AT_REST = {"hessians": [[["1"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["0"]}
LINEAR = {"hessians": [[["0"]], [["0"]]], "linear": [["1"], ["-1"]], "start": ["1"]}
WHERE_FLAT = {gap: q.initial_gap, spread: q.gradient_dissimilarity, sigma: q.noise_deviation}
TIED = [gap * spread <= gap * sigma]
FOUR = [tau <= 4, tau >= 4]
POLE = sp.Le(1 / (tau - 4), 1 + 1 / (tau - 4), evaluate=False)
HALF_POLE = sp.Le(1 / gap, 1 + 1 / gap, evaluate=False)
QUARTER = [eta <= sp.Rational(1, 4), eta >= sp.Rational(1, 4)]
NOT_DIVIDED = (4 * eta - 1) ** (tau - 1)


def identity(left: Any, right: Any, **parts: Any) -> Attempt:
    """Return an attempt with an equation without proof."""
    return terms({"links": [[]]}, lhs=left, rhs=right, **parts)


CASES: dict[str, Attempt] = {
    "a pole in a weaker condition": terms(
        {"links": [[Term((4 - tau) * (tau - 4), square(x / (tau - 4)))]], "relaxed": [*FOUR, POLE]},
        "may be zero",
        algorithm={"local_steps": 4},
        lhs=norm_sq(x),
        rhs=0,
        where={x: q.point, tau: q.local_steps},
        conditions=FOUR,
        place="points",
    ),
    "a gap that a weaker condition divides by": sums(
        {"links": [[Part(1 / gap, TIED[0])]], "relaxed": [*TIED, HALF_POLE]},
        "may be zero",
        AT_REST,
        lhs=spread,
        rhs=sigma,
        where=WHERE_FLAT,
        conditions=TIED,
    ),
    "a power that does not divide": terms(
        {"links": [[Term((1 - 4 * eta) * (4 * eta - 1), square(x / (4 * eta - 1)))]]},
        "may be zero",
        lhs=norm_sq(x) + NOT_DIVIDED,
        rhs=NOT_DIVIDED,
        where={x: q.point, tau: q.local_steps, eta: q.local_step_size},
        conditions=QUARTER,
        place="points",
    ),
    "a sign that a quantity does not have": sums(
        {"links": [[]]},
        "a root of what may be negative",
        {"hessians": [[["1"]], [["9"]]]},
        {"local_step_size": "1", "local_steps": 3},
        lhs=sp.sqrt(omega**2 * tau + omega**2),
        rhs=omega * sp.sqrt(tau + 1),
        where={omega: q.total_progress, tau: q.local_steps},
    ),
    "a sign that an inner product does not have": terms(
        {"links": [Products(scalars={sigma: inner(x, -y)}, facts={}, parts=[])]},
        "has a sign",
        lhs=sp.sqrt(inner(x, -y) ** 2),
        rhs=inner(x, -y),
        where={x: q.point, y: q.second_point},
        place="points",
    ),
    "a number of steps, in sums over the past": identity(PastSum(sp.sympify(k)), k * (k + 1), **PAST),
    "a gradient's factor, in sums over the past": identity(
        Average(norm_sq(PastSum(k * g))), k**2 * Average(norm_sq(PastSum(g))), **PAST
    ),
    "a sum over the past for one over the round": identity(
        Average(norm_sq(PastSum(g))), Average(norm_sq(LocalSum(g))), **PAST
    ),
    "sums over the past of sums over the past": identity(
        Average(norm_sq(PastSum(PastSum(g)))), (k + 1) ** 2 * Average(norm_sq(PastSum(g))), **PAST
    ),
    "later iterates in sums over the past": identity(
        Average(norm_sq(PastSum(later))), (k + 1) ** 2 * Average(norm_sq(later)), **PAST
    ),
    "powers that begin with a zero": terms(
        {"links": [PrefixSum()]},
        lhs=PastSum((k + 1) ** sigma - k**sigma),
        rhs=(k + 1) ** sigma,
        **{**PAST, "where": {k: q.local_step_index, sigma: q.noise_deviation}, "because": "exponent"},
    ),
    "the number of the step in a length": identity(
        LocalSum(sp.sqrt(norm_sq(k * y))), steps * sp.sqrt(norm_sq(k * y)), **HIDDEN
    ),
    "the number of the step in a value": identity(LocalSum(Value(F, k * y)), steps * Value(F, k * y), **HIDDEN),
    "a bound of an induction that changes": terms(
        {
            "links": [
                Induction(
                    measured=norm_sq(x - y),
                    factor=sp.S.Zero,
                    offset=norm_sq(later - y),
                    bound=norm_sq(later - y),
                    terms=(),
                    start=[Term(ONE, square(later - y))],
                )
            ]
        },
        "not the same at all steps",
        {"hessians": [[["1"]], [["3"]]], "linear": [["1"], ["-1"]], "start": ["3"]},
        {"local_step_size": "1/2", "local_steps": 3},
        lhs=norm_sq(x - y),
        rhs=norm_sq(later - y),
        where={x: q.local_iterate, later: q.next_local_iterate, y: q.server_model, k: q.local_step_index},
        place="path",
        assumptions=(a.full_participation, a.same_local_work, a.full_gradients),
    ),
    "the minimiser of a line": terms(
        {
            "links": [
                [
                    Term(ONE, lipschitz_gradient(F, x, z)),
                    Term(-delta * (delta + 1), square(x - z)),
                    Term(delta, square(x - z)),
                ]
            ]
        },
        "need not exist",
        LINEAR,
        lhs=norm_sq(Gradient(F, x)),
        rhs=0,
        where={x: q.point, z: q.client_optimum, F: q.client_objective, delta: q.client_smoothness},
        conditions=[sp.Le(delta, 0, evaluate=False)],
        place="points",
    ),
    "the minimiser of an update's line": terms(
        {
            "links": [
                [
                    Term(ONE, lipschitz_gradient(u.objective, u.virtual, u.round_optimum)),
                    Term(-L * (L + 1), square(u.virtual - u.round_optimum)),
                    Term(L, square(u.virtual - u.round_optimum)),
                ]
            ]
        },
        "left over",
        LINEAR,
        {"participation": {"kind": "fixed", "clients": [0]}},
        lhs=gap,
        rhs=0,
        where={gap: q.mean_gradient_at_virtual_sq, L: q.smoothness, omega: q.weight_sum},
        conditions=[sp.Le(L, 0, evaluate=False)],
        assumptions=(a.aggregation_scheme, a.convex_and_smooth, a.somebody_reports),
    ),
    "a letter that the claim does not use": terms(
        {"links": [[Term(steps - k - 1, one(), averaged=True)]]},
        ">= 0",
        algorithm={"local_steps": [1, 3]},
        lhs=k + 1,
        rhs=Average(steps),
        where={k: q.local_step_index, steps: q.client_local_steps, tau: q.local_steps},
        place="round",
        assumptions=(a.uniform_sampling, a.uniform_shares, a.unit_server_step),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_false_claims_are_refused(name: str) -> None:
    """The claim fails on an exact run, and its certificate is rejected for the expected reason."""
    tried = CASES[name]
    assert tried.fails
    failing = [step.text for step in check_certificate(tried.claim, tried.certificate).steps if not step.holds]
    assert failing
    assert any(tried.because in text for text in failing), failing


def test_a_premise_says_nothing_where_it_divides_by_zero() -> None:
    """A proof that uses a claim must show that the denominators of that claim are not zero."""
    on_both_sides = Claim(id="t:premise", lhs=1 / gap + spread, rhs=1 / gap + sigma, where=WHERE_FLAT, conditions=TIED)
    in_a_condition = Claim(id="t:premise", lhs=spread, rhs=sigma, where=WHERE_FLAT, conditions=[*TIED, HALF_POLE])
    for premise in (on_both_sides, in_a_condition):
        proof = check_certificate(premise, Combination(claim=premise.id, links=[[Part(1 / gap, TIED[0])]]))
        assert proof.verdict == "proved"
        false = attempt(
            Combination,
            {"links": [[Part(ONE, premise.id)]]},
            "may be zero",
            AT_REST,
            lhs=spread,
            rhs=sigma,
            where=WHERE_FLAT,
            conditions=TIED,
        )
        assert false.fails
        steps_of = check_certificate(false.claim, false.certificate, lambda _id, proof=proof: proof).steps
        assert any("may be zero" in step.text for step in steps_of if not step.holds)


def test_gaps_with_the_number_of_the_step_do_not_telescope() -> None:
    """A sum of k (A_k - A_{k+1}) is not k times the total decrease."""
    v, after = sp.symbols("v after", real=True)
    where = {v: q.centralised_model, after: q.next_centralised_model, F: q.objective, k: q.local_step_index}
    premise = Claim(id="t:step", lhs=k * (Value(F, v) - Value(F, after)), rhs=eta, where={**where, eta: q.rounds})
    derived = SumOverSteps(premise.id)
    with pytest.raises(Rejected, match="differs from step to step"):
        derived.slack(symbols_of(premise), premise.relations[0].slack)


def test_a_mean_keeps_what_changes_inside() -> None:
    """The step index inside a client average is not moved out of a sum over the steps."""
    stated = Claim(
        id="t:mean",
        lhs=LocalSum(Average(norm_sq(Gradient(F, y)) / (k + 1 + delta))),
        relation="==",
        rhs=steps * Average(norm_sq(Gradient(F, y)) / (k + 1 + delta)),
        where={**MODELS, F: q.client_objective, delta: q.client_smoothness},
        place="round",
        assumptions=ROUND,
    )
    assert check_certificate(stated, Certificate(claim=stated.id, links=[[]])).verdict == "broken"
    certificate = Combination(claim="t:quiet", links=[[Part(-(sigma ** sp.Symbol("n", real=True)), facts.QUIET)]])
    power = Claim(
        id="t:quiet",
        lhs=sigma ** (sp.Symbol("n", real=True) + 1),
        rhs=0,
        where={sigma: q.noise_deviation},
        for_all={sp.Symbol("n", real=True): [-1]},
        assumptions=(a.full_gradients,),
    )
    assert check_certificate(power, certificate).verdict == "broken"
