"""False statements about whole runs that resemble consequences of true local steps are not proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.kernel import Step, Term, assumption, one, square
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, MeanCertificate, Proof, Recursion, certificates, check_certificate
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.links import Induction
from fedtheory.sources.comparator.context.discounted import ExponentialAverage
from verify.check import check

ONE, ZERO = sp.S.One, sp.S.Zero
HALF, QUARTER, TWO_THIRDS, SHRUNK = (sp.Rational(*one) for one in ((1, 2), (1, 4), (2, 3), (2, 7)))
eta, M, tau, T, K, omega = sp.symbols("eta M tau T K omega", positive=True)
D = sp.Symbol("D", nonnegative=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
x_i, x_next, xbar, xbar_next, x_star, w, F, F_i = sp.symbols("x_i x_next xbar xbar_next x_star w F F_i", real=True)
WHERE: dict[sp.Symbol, Any] = {
    eta: q.local_step_size,
    M: q.clients,
    tau: q.local_steps,
    T: q.rounds,
    K: q.iterations,
    k: q.local_step_index,
    D: q.initial_distance,
    omega: q.nearest_start,
    x_i: q.local_iterate,
    x_next: q.next_local_iterate,
    xbar: q.average_iterate,
    xbar_next: q.next_average_iterate,
    x_star: q.optimum,
    w: q.server_model,
    F: q.objective,
    F_i: q.client_objective,
}
ASSUMED = (a.same_local_work, a.full_participation, a.unit_server_step, a.uniform_shares)
NEAR, NEXT = norm_sq(xbar - x_star), norm_sq(xbar_next - x_star)
APART, NEXT_APART = Average(norm_sq(x_i - xbar)), Average(norm_sq(x_next - xbar_next))


def stated(**parts: Any) -> Claim:
    """Return a small claim."""
    return Claim(id="t:run", **{"where": WHERE, "assumptions": ASSUMED, **parts})


def known(**parts: Any) -> Proof:
    """Return a claim about every local step that counts as proved."""
    step = Claim(id="t:step", **{"where": WHERE, "assumptions": ASSUMED, "place": "step", **parts})
    return Proof(step, certificate=object(), steps=(Step("granted", True),))


def failing(claim: Claim, certificate: Any, step: Proof | None = None) -> list[str]:
    """Return the failing steps of a certificate."""
    proof = (
        check_certificate(claim, certificate)
        if step is None
        else check_certificate(claim, certificate, lambda _id: step)
    )
    return [found.text for found in proof.steps if not found.holds]


def exact(*hessians: str, start: str = "1", noise: str = "0", **algorithm: Any) -> Run:
    """Return an exact run in one dimension, of one round; every client has its minimum at zero."""
    problem = {"hessians": [[[one]] for one in hessians], "linear": [["0"] for _ in hessians], "start": [start]}
    table = {"local_step_size": "1/2", "local_steps": 2, "rounds": 1, **algorithm}
    return parse_run({"problem": {"kind": "quadratic", **problem, "noise": noise}, "algorithm": table}, RATIONAL)


def contraction(factor: Any, offset: Any = ZERO, weight: Any = ONE, potential: Any = ZERO) -> tuple[Proof, Contraction]:
    """Return a contracting step, and the certificate for its consequence."""
    later = potential.xreplace({k: k + 1})
    step = known(
        lhs=Expectation(weight * NEXT) + Expectation(later * NEXT_APART),
        rhs=Expectation(factor * weight * NEAR) + Expectation(factor * potential * APART) + offset,
    )
    return step, Contraction(
        claim="t:run", step="t:step", factor=factor, weight=weight, potential=potential, offset=offset
    )


NOISY, QUIET = exact("1", start="0", noise="1"), exact("1", start="4")
CONTRACTIONS: dict[str, tuple[Any, Any, Run, str]] = {
    "a negative factor": (
        contraction(-ONE, sp.Rational(9, 16)),
        (-ONE) ** K * D**2 + sp.Rational(9, 32),
        NOISY,
        "(-1) >= 0",
    ),
    "a negative offset": (
        contraction(sp.Rational(7, 8), -sp.Rational(5, 2)),
        sp.Rational(7, 8) ** K * D**2 - 20,
        QUIET,
        "(-5/2) >= 0",
    ),
    "a factor above one": (contraction(2 * ONE, QUARTER), 2**K * D**2 - QUARTER, NOISY, "(-1) > 0"),
    "a negative weight": (
        contraction(sp.Rational(2, 17), weight=-ONE),
        sp.Rational(2, 17) ** K * D**2,
        QUIET,
        "(-1) > 0",
    ),
    "a weight of each step": (
        contraction(TWO_THIRDS, weight=4 / (4 + 5 * k), potential=TWO_THIRDS * k * (tau - k)),
        TWO_THIRDS**K * D**2,
        exact("0", "2", local_step_size="1"),
        "numbers that are the same at all local steps",
    ),
}
"""A step and its certificate, the right side of the claim, a run, and the error of the certificate."""


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contractions_with_one_error_are_refused(name: str) -> None:
    """The step holds on a run on which the claim fails, and the certificate has one error."""
    (step, certificate), right, run, because = CONTRACTIONS[name]
    claim = stated(lhs=q.final_distance_sq, rhs=right)
    (found,) = failing(claim, certificate, step)
    assert because in found
    assert check(step.claim, run).holds
    assert check(claim, run).holds is False


STEP, TO_THE_RUN = contraction(SHRUNK)
NEARER = stated(lhs=q.final_distance_sq, rhs=SHRUNK**K * D**2)


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"relation": "=="}, "expected one inequality"),
        ({"also": [Relation(ONE, "<=", ZERO)]}, "expected one inequality"),
        ({"lhs": D}, "an upper bound on final_distance_sq"),
        ({"rhs": SHRUNK**K * D**2 - 1}, "(-1) >= 0"),
        ({"rhs": SHRUNK ** (K + 1) * D**2}, ">= 0"),
    ],
)
def test_a_contraction_bounds_the_last_distance(changes: Any, because: str) -> None:
    """A contraction bounds the last distance by one inequality, with the whole term of the start."""
    assert failing(NEARER, TO_THE_RUN, STEP) == []
    (found,) = failing(replace(NEARER, **changes), TO_THE_RUN, STEP)
    assert because in found
    assert check(replace(NEARER, **changes), exact("1", noise="1")).holds is False


def test_a_claim_about_the_run_has_no_index_of_a_step() -> None:
    """The bound on the last distance is one number, and no number of each step."""
    indexed = replace(NEARER, rhs=NEARER.rhs + k, where={**NEARER.where, k: q.local_step_index})
    (found,) = failing(indexed, TO_THE_RUN, STEP)
    assert found.endswith("without the index of a local step")


@pytest.mark.parametrize("place", ["path", "points", "round"])
def test_only_what_is_said_of_local_steps_holds_at_each_of_them(place: Any) -> None:
    """Relations at other points, or about one path or round, do not hold at each local step."""
    elsewhere = known(lhs=NEXT, rhs=SHRUNK * NEAR, place=place)
    assert failing(NEARER, TO_THE_RUN, elsewhere) == ["the step is about local steps, and the claim about the run"]


def test_a_potential_that_is_left_over() -> None:
    """A potential that is positive after the last step of a round is rejected."""
    step = known(
        lhs=Expectation(Value(F, xbar_next) - Value(F, x_star)),
        rhs=Expectation(100 * (k + 1) * NEXT_APART) - Expectation(100 * k * APART),
    )
    claim = stated(lhs=q.average_suboptimality, rhs=ZERO)
    certificate = MeanCertificate(claim=claim.id, step="t:step", span="run", potential=-100 * k)
    run = exact("1", "2", local_steps=1)
    assert failing(claim, certificate, step) == ["(-100/T) >= 0 is not shown under the conditions"]
    assert check(step.claim, run).holds
    assert check(claim, run).holds is False


mu = sp.Symbol("mu", nonnegative=True)
FORGETS = 1 - eta * mu / 2
DISCOUNTED: dict[str, tuple[Any, Any, str]] = {
    "the weights of another factor": (1 - eta * mu, 2 * eta, "the weights of the mean are the powers of the factor"),
    "a gain that is a loss": (FORGETS, -2 * eta, "(-2*eta) > 0"),
}
"""The factor and the gain of a step, and the error of a certificate that uses it."""


@pytest.mark.parametrize("name", DISCOUNTED)
def test_discounted_averages_with_one_error_are_refused(name: str) -> None:
    factor, gain, because = DISCOUNTED[name]
    shared: dict[str, Any] = {
        "where": {**WHERE, mu: q.strong_convexity},
        "assumptions": (*ASSUMED, a.convex_and_smooth, a.strongly_convex_clients),
    }
    error = Value(F, xbar_next) - Value(F, x_star)
    step = known(lhs=Expectation(gain * error) + Expectation(NEXT), rhs=Expectation(factor * NEAR), **shared)
    bound = D**2 * (1 - factor) * factor**K / (gain * (1 - factor**K))
    claim = stated(lhs=q.discounted_suboptimality, rhs=bound, conditions=[eta * mu <= HALF], **shared)
    certificate = ExponentialAverage(
        claim=claim.id, step="t:step", gain=gain, factor=factor, potential=ZERO, offset=ZERO
    )
    run = exact("1", local_steps=1, rounds=10)
    assert failing(claim, certificate, step) == [because]
    assert check(step.claim, run).holds
    assert check(claim, run).holds is False


def test_a_step_that_divides_by_zero_says_nothing() -> None:
    """A step that divides by M - 1 proves nothing for one client, also after averaging."""
    alone: dict[str, Any] = {"where": WHERE, "assumptions": ASSUMED, "conditions": [M <= 1]}
    nothing = sp.Mul(M**2 - 1, 1 / (M - 1)) - (M + 1)
    slope = Gradient(F, xbar)
    step = Claim(id="t:step", lhs=Expectation(norm_sq(slope)), rhs=nothing, place="step", **alone)
    proof = check_certificate(
        step, Certificate(claim=step.id, links=[[Term((1 - M) * (M - 1), square(slope / (M - 1)))]])
    )
    assert proof.verdict == "proved"
    claim = stated(lhs=q.average_local_gradient_sq, rhs=ZERO, **alone)
    (found,) = failing(claim, MeanCertificate(claim=claim.id, step=step.id, span="run"), proof)
    assert "(M - 1) may be zero" in found
    assert check(claim, exact("1")).holds is False


MOMENT = sp.Symbol("G", nonnegative=True)
g_i = sp.Symbol("g_i", real=True)
DRIFT: dict[str, Any] = {
    "lhs": q.round_drift,
    "where": {**WHERE, MOMENT: q.second_moment, g_i: q.stochastic_gradient},
    "assumptions": (*ASSUMED, a.bounded_second_moment),
}
LENGTH = eta**2 * MOMENT**2
DOUBLED = {
    "factor": 2 * ONE,
    "offset": 2 * LENGTH,
    "terms": [
        Term(ONE, square((x_i - w) + eta * g_i), averaged=True),
        Term(2 * eta**2, assumption("bounded second moment"), averaged=True),
    ],
}


@pytest.mark.parametrize(
    ("bound", "because"),
    [(-2 * LENGTH, "at the start: "), (ZERO, "one step: ")],
)
def test_a_bound_that_does_not_bound_the_drift(bound: Any, because: str) -> None:
    """A bound that starts below zero, or grows more slowly than the drift, is rejected."""
    claim = stated(**{**DRIFT, "rhs": bound})
    of_spread = certificates()["liu2022:lemma-1.mean"]
    assert isinstance(of_spread, Recursion)
    certificate = Recursion(claim=claim.id, measure=of_spread.measure, bound=bound, **DOUBLED)
    (found,) = failing(claim, certificate)
    assert found.startswith(because)
    assert "is not shown under the conditions" in found


MEAN = find("liu2022:lemma-1.mean")


@pytest.mark.parametrize(
    ("changes", "right", "because"),
    [({"total": ZERO}, ZERO, "left over"), ({}, MEAN.rhs / 2, "is not shown under the conditions")],
)
def test_a_mean_of_bounds_is_not_smaller(changes: Any, right: Any, because: str) -> None:
    """The average of bounds, and its coefficient on the right side, must be as large as claimed."""
    certificate: Any = certificates()[MEAN.id]
    (found,) = failing(replace(MEAN, rhs=right), replace(certificate, **changes))
    assert because in found


def test_a_negative_factor_bounds_no_drift() -> None:
    """A step with a negative factor of the previous drift gives no bound on the drift."""
    claim, of_spread = stated(**{**DRIFT, "rhs": 2 * LENGTH}), certificates()["liu2022:lemma-1.mean"]
    assert isinstance(of_spread, Recursion)
    negative = {**DOUBLED, "factor": -ONE, "offset": 4 * LENGTH}
    certificate = Recursion(claim=claim.id, measure=of_spread.measure, bound=2 * LENGTH, **negative)
    assert failing(claim, certificate) == ["one step: coefficient (-1) >= 0: the hypothesis of the induction"]


def test_a_negative_factor_shows_no_induction() -> None:
    """D <= -D + 2/omega and a bound with a large start imply nothing about D."""
    near = assumption("nearest start")
    lowered = Induction(
        measured=norm_sq(w - x_star),
        factor=-ONE,
        offset=(3 - 6 * k) / omega,
        terms=[Term(2, near), Term((1 - 6 * k) / omega, one())],
        bound=(3 - 3 * k) / omega,
        start=[Term(1, near), Term(2 / omega, one())],
    )
    claim = stated(lhs=Expectation(norm_sq(w - x_star)), rhs=-3 * k / omega, place="step", conditions=[6 * k <= 1])
    assert failing(claim, Certificate(claim=claim.id, links=[lowered])) == [
        "one step: coefficient (-1) >= 0: the hypothesis of the induction"
    ]
    assert check(claim, exact("1", local_steps=1)).holds is False
