"""False claims by roots of squares, by powers for exponentials, and by facts that link quantities of a run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import RATIONAL, parse_run
from fedtheory.kernel import Term, square
from fedtheory.kernel.expressions import Expectation, Value, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate, Combination, Part, check_certificate, facts
from fedtheory.proofs.proof import IMPLIED_BY, check_assumed
from fedtheory.proofs.restatements import Powers, Squares
from verify.check import check

ONE = sp.S.One
F, x, y, x_i = sp.symbols("F x y x_i", real=True)
c, L, eta, mu = sp.symbols("c L eta mu", positive=True)
D, tau, T, sigma = sp.symbols("D tau T sigma", positive=True)
last, error, steps, rounds = sp.symbols("X e g_s g_r", nonnegative=True)
zeta, spread, drift, weight = sp.symbols("zeta zeta_s V w", nonnegative=True)
NUMBERS = {c: q.smoothness, L: q.smoothness, eta: q.local_step_size, mu: q.strong_convexity, D: q.initial_distance}
NUMBERS |= {tau: q.local_steps, T: q.rounds, sigma: q.noise_deviation, last: q.final_distance_sq}
NUMBERS |= {error: q.final_suboptimality, steps: q.average_local_gradient_sq, rounds: q.average_gradient_sq}
NUMBERS |= {zeta: q.gradient_dissimilarity, spread: q.dissimilarity_at_optimum, drift: q.max_drift}
NUMBERS |= {weight: q.proximal_weight}
WORK = (a.same_local_work, a.unit_server_step, a.full_participation)


def claim_of(left: Any, right: Any, **stated: Any) -> Claim:
    """Return a claim with the symbols of its sides and conditions."""
    parts = (sp.sympify(one) for one in (left, right, *stated.get("conditions", ())))
    used = set().union(*(part.free_symbols for part in parts))
    known = {**NUMBERS, **stated.pop("vectors", {})}
    used |= set(stated.pop("also_named", ()))
    where = {symbol: quantity for symbol, quantity in known.items() if symbol in used}
    return Claim(id="t:false", lhs=left, rhs=right, where=where, **stated)


def norm(of: Any) -> Any:
    """Return the norm of a vector."""
    return sp.sqrt(norm_sq(of))


def squared(left: Any, right: Any, terms: Any, **stated: Any) -> tuple[Claim, Squares]:
    """Return a claim with roots, and a proof of it by squares."""
    derived = stated.pop("given", ())
    claim = claim_of(left, right, **stated)
    return claim, Squares(claim=claim.id, why=Certificate(claim=claim.id, links=[terms]), given=derived)


POINTS: dict[str, Any] = {"place": "points", "vectors": {F: q.objective, x: q.point, y: q.second_point}}
STEP: dict[str, Any] = {"place": "step", "vectors": {x_i: q.local_iterate}}
NO_ROOTS = {
    "a negative factor": (squared(norm(x), -norm(x), [], **POINTS), "is not shown"),
    "a factor of either sign": (
        squared(norm(x), (1 - L) * norm(x), [Term(L**2 - 2 * L, square(x))], **POINTS),
        "is not shown",
    ),
    "two norms": (squared(norm(x + y), norm(x) + norm(y), [], **POINTS), ""),
    "a difference of norms": (squared(0 * x, norm(x) - norm(y), [], **POINTS), ""),
    "a value for a number": (squared(norm(x), Value(F, x), [], **POINTS), "is not"),
    "an inner product": (squared(norm(x), inner(x, y), [], **POINTS), "is not"),
    "squares that differ": (squared(2 * norm(x), norm(x), [], **POINTS), ""),
    "a strict bound": (squared(norm(x), 2 * norm(x), [], **POINTS, relation="<"), "<="),
    "an equation": (squared(-norm(x), norm(x), [], **POINTS, relation="=="), "<="),
    "an expected norm": (
        squared(Expectation(norm(x_i)), 2 * Expectation(norm(x_i)), [Term(3 * ONE, square(x_i))], **STEP),
        "",
    ),
    "a condition that does not follow": (
        squared(norm(x), (1 - L) * norm(x), [Term(L**2 - 2 * L, square(x))], **POINTS, given=[L <= 1]),
        "is not shown",
    ),
}


@pytest.mark.parametrize(("pair", "because"), NO_ROOTS.values(), ids=NO_ROOTS)
def test_no_root_of_other_squares(pair: tuple[Claim, Squares], because: str) -> None:
    """The larger side is a product of roots and non-negative numbers, and the squares are proved."""
    proof = check_certificate(*pair)
    assert proof.verdict == "broken"
    assert any(because in step.text for step in proof.steps if not step.holds), [step.text for step in proof.steps]


SQUARED = {
    "a multiple of a norm": squared(norm(x), (1 + L) * norm(x), [Term(L**2 + 2 * L, square(x))], **POINTS),
    "a factor of the smaller side": squared(L * norm(x), 2 * L * norm(x), [Term(3 * L**2, square(x))], **POINTS),
    "a smaller side of either sign": squared((1 - L) * norm(x), (1 + L) * norm(x), [Term(4 * L, square(x))], **POINTS),
    "roots of expectations": squared(
        sp.sqrt(Expectation(norm_sq(x_i))), 2 * sp.sqrt(Expectation(norm_sq(x_i))), [Term(3 * ONE, square(x_i))], **STEP
    ),
    "a condition": squared(
        (1 - eta * L) * norm(x) / 2,
        (1 - eta * L) * norm(x),
        [Term(3 * ONE / 4 * (1 - eta * L) ** 2, square(x))],
        **POINTS,
        conditions=[eta * L <= 1],
    ),
}


@pytest.mark.parametrize("pair", SQUARED.values(), ids=SQUARED)
def test_roots_of_squares(pair: tuple[Claim, Squares]) -> None:
    """Bounds between norms, and between roots of expectations, follow from those between squares."""
    proof = check_certificate(*pair)
    assert proof.verdict == "proved", [step.text for step in proof.steps if not step.holds]


def powered(left: Any, right: Any, count: Any, parts: Any = (), **stated: Any) -> tuple[Claim, Powers]:
    """Return a claim with exponentials, and a proof of it with powers."""
    base, derived = stated.pop("base", None), stated.pop("given", ())
    claim = claim_of(left, right, assumptions=(*WORK, *stated.pop("assumptions", ())), **stated)
    why = Combination(claim=claim.id, links=[list(parts)])
    return claim, Powers(claim=claim.id, count=count, why=why, given=derived, base=base)


BELOW = [eta * mu <= 1]
DECAY = sp.exp(-eta * mu * T)
NO_POWERS = {
    "a base that may be negative": (powered(0, DECAY, T, [Part((1 - eta * mu) ** T, facts.ONE)]), "is not shown"),
    "an exponential on the smaller side": (
        powered(DECAY, (1 - eta * mu) ** T, T, conditions=BELOW),
        "the factor of an exponential or power",
    ),
    "an exponential with a negative factor": (
        powered(-D * (1 - eta * mu) ** T, -D * DECAY, T, conditions=BELOW),
        "the factor of an exponential or power",
    ),
    "a number that is no count": (powered(0, DECAY, eta, conditions=BELOW), "product of counts"),
    "half of a count": (powered(0, DECAY, T / 2, conditions=BELOW), "product of counts"),
    "the number one as a count": (powered(0, DECAY, ONE, conditions=BELOW), "product of counts"),
    "a root of an exponential": (powered(0, sp.sqrt(D + DECAY), T, conditions=BELOW), ""),
    "a product of exponentials": (powered(0, DECAY * sp.exp(-eta * T), T, conditions=[*BELOW, eta <= 1]), ""),
    "a base that is larger": (
        powered(0, (1 - eta * mu) ** T, T, base=1 - eta * mu / 2, conditions=BELOW),
        "the difference of the bases",
    ),
    "a smaller base that may be negative": (
        powered(0, (1 - eta * mu) ** T, T, base=1 - 2 * eta * mu, conditions=BELOW),
        "the base of a power",
    ),
    "a base for an exponential that is larger": (
        powered(0, DECAY, T, base=1 - eta * mu / 2, conditions=BELOW),
        "the difference of the bases",
    ),
    "a power on the smaller side": (
        powered((1 - eta * mu / 2) ** T, (1 - eta * mu) ** T, T, base=1 - eta * mu, conditions=BELOW),
        "the factor of an exponential or power",
    ),
    "a power in a denominator": (
        powered(0, 1 / (2 - (1 - eta * mu) ** T), T, base=1 - eta * mu, conditions=BELOW),
        "",
    ),
    "a power of another number": (powered(0, (1 - eta * mu) ** tau, T, base=1 - eta * mu, conditions=BELOW), ""),
    "an exponential in an exponential": (
        powered(0, sp.exp(-eta * T * sp.exp(-eta * T)), T, conditions=[eta <= 1]),
        "",
    ),
    "no exponential": (powered(0, D * T, T), "with exponentials or powers"),
    "a strict bound": (
        powered(0, DECAY, T, conditions=BELOW, relation="<"),
        "<=",
    ),
}


@pytest.mark.parametrize(("pair", "because"), NO_POWERS.values(), ids=NO_POWERS)
def test_no_powers_for_other_exponentials(pair: tuple[Claim, Powers], because: str) -> None:
    """Bases are non-negative, counts are whole, and the slack increases with the exponential."""
    proof = check_certificate(*pair)
    assert proof.verdict == "broken"
    assert any(because in step.text for step in proof.steps if not step.holds), [step.text for step in proof.steps]


def test_a_power_for_an_exponential() -> None:
    """0 <= exp(-eta mu T) for eta mu <= 1; conditions that do not follow are ignored."""
    claim, certificate = powered(0, DECAY, T, [Part((1 - eta * mu) ** T, facts.ONE)], conditions=BELOW)
    assert check_certificate(claim, certificate).verdict == "proved"
    halved = [Part((1 - eta * mu) ** T, facts.ONE)]
    smaller = powered(0, (1 - eta * mu / 2) ** T, T, halved, base=1 - eta * mu, conditions=BELOW)
    assert check_certificate(*smaller).verdict == "proved"
    open_claim, without = powered(0, DECAY, T, [Part((1 - eta * mu) ** T, facts.ONE)])
    guessed = Powers(claim=open_claim.id, count=T, why=without.why, given=BELOW)
    assert check_certificate(open_claim, guessed).verdict == "broken"


TIED = weight * D <= weight * eta
HIDDEN = (1 - eta * mu) / (1 + 1 / weight)
SUPPOSED = {
    "a divisor of the base": (
        powered(
            *(D, eta + (1 - eta * mu) ** T, T, [Part(1 / weight, TIED), Part(HIDDEN**T, facts.ONE)]),
            base=HIDDEN,
            conditions=[TIED, eta <= 1 / mu],
        ),
        "(w) may be zero",
    ),
    "a quantity that only the base names": (
        powered(
            *(0, (1 - eta * L) ** T, T, [Part(((1 - eta * L) / (1 + mu)) ** T, facts.ONE)]),
            base=(1 - eta * L) / (1 + mu),
            conditions=[eta <= 1 / L],
            vectors={mu: q.strong_convexity},
            also_named=[mu],
        ),
        "mu is in the other claim",
    ),
}


@pytest.mark.parametrize(("pair", "because"), SUPPOSED.values(), ids=SUPPOSED)
def test_smaller_powers_suppose_nothing(pair: tuple[Claim, Powers], because: str) -> None:
    """A base may not divide by what the claim does not divide by, nor name what the claim does not name.

    Otherwise a number would be positive, or would exist, because the certificate mentions it.
    """
    proof = check_certificate(*pair)
    assert proof.verdict == "broken"
    assert any(because in step.text for step in proof.steps if not step.holds), [step.text for step in proof.steps]


def test_the_hidden_divisor_would_prove_a_false_claim() -> None:
    """Without a proximal term the condition says nothing about the distance."""
    (claim, _), _ = SUPPOSED["a divisor of the base"]
    problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["9"]}
    algorithm = {"name": "fedprox", "proximal": "0", "local_step_size": "1/2", "rounds": 4, "local_steps": 1}
    stated = replace(claim, assumptions=())
    assert check(stated, parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)).holds is False


@given(st.fractions(-1, 6, max_denominator=6), st.booleans())
@settings(max_examples=30, deadline=None)
def test_only_smaller_bases_are_accepted(rate: Fraction, is_exponential: bool) -> None:
    """For eta mu <= 1/4, the base 1 - r eta mu is accepted for a rate r of 1 or more, up to 4."""
    base = 1 - sp.Rational(rate.numerator, rate.denominator) * eta * mu
    power = DECAY if is_exponential else (1 - eta * mu) ** T
    pair = powered(0, power, T, [Part(base**T, facts.ONE)], base=base, conditions=[eta <= 1 / (4 * mu)])
    assert (check_certificate(*pair).verdict == "proved") is (1 <= rate <= 4)


EQUAL = sp.Eq(tau, 1, evaluate=False)
LINKS: dict[str, tuple[Any, Any, Any, dict[str, Any], str]] = {
    "the last error": (error, L * last / 2, facts.LAST_ERROR, {"assumptions": [a.smooth]}, "proved"),
    "the last error, convex": (error, L * last / 2, facts.LAST_ERROR, {"assumptions": [a.convex_and_smooth]}, "proved"),
    "the last error, anyhow": (error, L * last / 2, facts.LAST_ERROR, {}, "broken"),
    "a quarter of the last error": (error, L * last / 4, facts.LAST_ERROR, {"assumptions": [a.smooth]}, "broken"),
    "the last distance": (
        *(mu * last / 2, error, facts.LAST_DISTANCE),
        {"assumptions": [a.strongly_convex_clients]},
        "proved",
    ),
    "the last distance, convex": (
        *(mu * last / 2, error, facts.LAST_DISTANCE),
        {"assumptions": [a.convex_and_smooth]},
        "broken",
    ),
    "gradients": (rounds, steps, facts.ONE_GRADIENT, {"assumptions": WORK, "conditions": [EQUAL]}, "proved"),
    "gradients of some steps": (rounds, steps, facts.ONE_GRADIENT, {"assumptions": WORK}, "broken"),
    "gradients of two steps": (
        *(rounds, steps, facts.ONE_GRADIENT),
        {"assumptions": WORK, "conditions": [sp.Eq(tau, 2, evaluate=False)]},
        "broken",
    ),
    "a client alone": (drift, 0, facts.NO_DRIFT_ALONE, {"assumptions": [*WORK, a.one_client]}, "proved"),
    "several clients": (drift, 0, facts.NO_DRIFT_ALONE, {"assumptions": WORK}, "broken"),
    "clients of one type": (drift, 0, facts.NO_DRIFT_ALONE, {"assumptions": [*WORK, a.one_type]}, "broken"),
    "one type": (zeta, 0, facts.ALIKE, {"assumptions": [a.one_type]}, "proved"),
    "one client": (zeta, 0, facts.ALIKE, {"assumptions": [a.one_client]}, "proved"),
    "several types": (zeta, 0, facts.ALIKE, {"assumptions": [a.bounded_dissimilarity]}, "broken"),
    "equal weights": (zeta, 0, facts.ALIKE, {"assumptions": [a.uniform_shares]}, "broken"),
}


@pytest.mark.parametrize(("left", "right", "fact", "stated", "expected"), LINKS.values(), ids=LINKS)
def test_facts_that_link_quantities(left: Any, right: Any, fact: Any, stated: Any, expected: str) -> None:
    """Each of their assumptions, conditions and constants is needed."""
    claim = claim_of(left, right, **stated)
    sign = -ONE if fact in (facts.ONE_GRADIENT, facts.ALIKE, facts.NO_DRIFT_ALONE) else ONE
    certificate = Combination(claim=claim.id, links=[[Part(sign, fact)]])
    assert check_certificate(claim, certificate).verdict == expected


PROBLEMS: dict[str, Any] = {
    "one client": {"hessians": [[["2"]]], "linear": [["1"]]},
    "alike": {"hessians": [[["2"]]] * 2, "linear": [["1"]] * 2},
    "two": {"hessians": [[["1"]], [["3"]]], "linear": [["1"], ["-2"]]},
    "not convex": {"hessians": [[["-1"]], [["3"]]], "linear": [["1"], ["-2"]]},
    "flat": {"hessians": [[["0"]], [["0"]]], "linear": [["0"], ["0"]]},
    "noise": {"hessians": [[["1"]], [["3"]]], "linear": [["1"], ["-2"]], "noise": "1"},
}
LAWS: dict[str, Any] = {
    "rounds": {},
    "drawn": {"participation": {"kind": "uniform", "clients": 1}},
    "clock": {"clock": {"policy": "sync", "times": ["1", "2"]}},
}


@pytest.mark.parametrize("setting", LAWS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_implied_assumptions_hold_on_runs(problem: str, setting: str) -> None:
    """On each run, an assumption holds if those hold that imply it."""
    if problem == "one client" and setting == "clock":
        return
    table = {"kind": "quadratic", "start": ["3"], **PROBLEMS[problem]}
    algorithm = {"local_step_size": "1/8", "rounds": 2, "local_steps": 2, **LAWS[setting]}
    run = parse_run({"problem": table, "algorithm": algorithm}, RATIONAL)
    for assumption, ways in IMPLIED_BY.items():
        for others in ways:
            if all(other.failure(run) is None for other in others):
                assert assumption.failure(run) is None, (assumption.name, [other.name for other in others])


def test_implied_assumptions_are_transitive() -> None:
    """A single client has a bounded dissimilarity on average as well."""
    claim = claim_of(zeta, L, assumptions=[a.one_client])
    assert check_assumed(claim, [a.bounded_mean_dissimilarity], "").holds
    assert not check_assumed(claim, [a.smooth], "").holds
