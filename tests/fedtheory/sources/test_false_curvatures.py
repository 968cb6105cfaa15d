"""False statements about clients with different curvatures are not proved, and most fail on a run by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from curvature_runs import line_run

from fedtheory.kernel import Step, Term, smoothness
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, MeanCertificate, Proof, certificate_of, check_certificate
from fedtheory.sources.comparator.statements import client_curvatures as own
from fedtheory.sources.comparator.statements.notation import (
    F,
    F_i,
    L,
    M,
    T,
    comparator_gap,
    ell,
    eta,
    k,
    mean_drift,
    mu,
    p_i,
    p_max,
    sigma_y,
    x_i,
    x_i_next,
    xbar,
    xbar_next,
    y,
    zeta_y,
)
from verify.check import check

STEP, ALL_STEPS, RUN, ROUND_STEP, ROUND_STEPS, ROUNDS = (
    find(f"comparator:curvatures.{name}")
    for name in ("one-step", "all-steps", "average-error", "rounds.one-step", "rounds.all-steps", "rounds")
)
CLAIMS = (STEP, ALL_STEPS, RUN, ROUND_STEP, ROUND_STEPS, ROUNDS)


def is_proved(claim: Claim, **changes: Any) -> bool:
    """Return whether the recorded certificate, possibly with changes, proves a claim, including its steps."""
    certificate: Any = certificate_of(claim.id)
    return check_certificate(claim, replace(certificate, **changes)).verdict == "proved"


def test_all_are_proved() -> None:
    """The unchanged claims are proved, so that the changes below cause the rejections."""
    assert [claim.id for claim in CLAIMS if not is_proved(claim)] == []


DRIFT, IMBALANCE = Expectation(own.CURVATURE_DRIFT), Expectation(own.IMBALANCE)
PER_IMBALANCE = eta / (2 * (1 - eta * own.L_bar))
FLAT: dict[str, Any] = {"curvatures": ["1", "0"], "pulls": ["-1", "-2"], "step": "1/4"}
STEEP: dict[str, Any] = {"curvatures": ["4", "1"], "pulls": ["-1", "-2"], "step": "1/2", "local_steps": 1, "rounds": 1}


def with_smallest(claim: Claim) -> dict[str, Any]:
    """Return the claim with the smallest curvature in place of the average, in the bound and in its conditions."""
    mean = {own.L_bar: mu}
    return {"rhs": claim.rhs.xreplace(mean), "conditions": [one.xreplace(mean) for one in claim.conditions]}


FALSE: dict[str, tuple[Claim, dict[str, Any], dict[str, Any]]] = {
    "half the drift": (STEP, {"rhs": STEP.rhs - DRIFT / 4}, FLAT | {"step": "1/100", "local_steps": 30}),
    "nine tenths of the drift": (STEP, {"rhs": STEP.rhs - DRIFT / 20}, FLAT),
    "half the imbalance": (STEP, {"rhs": STEP.rhs - PER_IMBALANCE * IMBALANCE / 2}, FLAT),
    "nine tenths of the imbalance": (
        STEP,
        {"rhs": STEP.rhs - PER_IMBALANCE * IMBALANCE / 10},
        FLAT | {"pulls": ["-1", "-20"]},
    ),
    "twice the step": (STEP, {"conditions": [sp.Lt(eta * own.L_bar, 2), own.GAPS_EXCEED_NOISE]}, STEEP),
    "the smallest curvature in the condition": (
        STEP,
        {"conditions": [sp.Lt(eta * mu, 1), own.GAPS_EXCEED_NOISE]},
        STEEP,
    ),
    "the smallest curvature": (STEP, with_smallest(STEP), FLAT | {"step": "1/2", "local_steps": 2}),
    "the smallest curvature, over the run": (RUN, with_smallest(RUN), STEEP | {"step": "3/4"}),
    "half the drift of the run": (RUN, {"rhs": RUN.rhs - own.curvature_drift / 4}, FLAT | {"local_steps": 30}),
    "as if there were one client": (
        RUN,
        {"rhs": RUN.rhs.subs({own.curvature_drift: 0, own.imbalance: 0})},
        FLAT | {"local_steps": 30, "rounds": 1},
    ),
    "no imbalance": (
        ALL_STEPS,
        {"rhs": ALL_STEPS.rhs - PER_IMBALANCE * own.imbalance},
        FLAT | {"step": "1/2", "local_steps": 30, "rounds": 1},
    ),
    "one for the other": (
        ALL_STEPS,
        {"rhs": ALL_STEPS.rhs.xreplace({own.curvature_drift: own.imbalance, own.imbalance: own.curvature_drift})},
        FLAT | {"local_steps": 30, "rounds": 1},
    ),
    "as if the start were the point": (RUN, {"rhs": RUN.rhs - own.start}, FLAT | {"step": "1/1000", "local_steps": 1}),
    "half the start": (ROUNDS, {"rhs": ROUNDS.rhs - own.start / 2}, FLAT | {"step": "1/1000", "local_steps": 1}),
    "as if there were one local step": (
        ROUNDS,
        {"rhs": ROUNDS.rhs - own.mean_cost},
        {"curvatures": ["1", "0"], "pulls": ["1", "-1"], "step": "1/1000", "local_steps": 2, "rounds": 1},
    ),
    "one local step as if there were one": (
        ROUND_STEP,
        {"rhs": ROUND_STEP.rhs - own.step_cost},
        FLAT | {"local_steps": 2, "rounds": 50},
    ),
}


@pytest.mark.parametrize(("claim", "change", "run"), FALSE.values(), ids=FALSE)
def test_false_variants_are_not_proved(claim: Claim, change: dict[str, Any], run: dict[str, Any]) -> None:
    """A smaller constant, wider conditions, or a missing term fails on a run by hand."""
    changed = replace(claim, **change)
    assert not is_proved(changed)
    assert check(claim, line_run(**run)).holds is not False
    assert check(changed, line_run(**run)).holds is False


def without(claim: Claim, assumption: a.Assumption) -> dict[str, Any]:
    """Return the claim without an assumption."""
    return {"assumptions": [one for one in claim.assumptions if one is not assumption]}


SMALL_ROUND = own.SHORT_ROUND.lhs
NOT_PROVED: dict[str, tuple[Claim, dict[str, Any]]] = {
    "nine tenths of the noise": (STEP, {"rhs": STEP.rhs - own.batch_noise / 10}),
    "as if shares were equal": (STEP, {"rhs": STEP.rhs.subs(p_max, 1 / M)}),
    "noise that costs nothing": (STEP, {"conditions": [own.SHORT_STEP]}),
    "any step": (STEP, {"conditions": [own.GAPS_EXCEED_NOISE]}),
    "another point": (STEP, {"where": {**STEP.where, y: q.server_model}}),
    "rough noise": (STEP, without(STEP, a.smooth_noise)),
    "not convex": (STEP, {"assumptions": [*without(STEP, a.convex_and_smooth)["assumptions"], a.smooth]}),
    "rounds of participants": (RUN, without(RUN, a.full_participation)),
    "the drift of all alike": (ALL_STEPS, {"rhs": ALL_STEPS.rhs.subs(own.curvature_drift, mean_drift)}),
    "the curvature of some client": (ALL_STEPS, {"rhs": ALL_STEPS.rhs.xreplace({own.L_bar: own.L_i})}),
    "nine tenths of what rounds cost": (ROUND_STEP, {"rhs": ROUND_STEP.rhs - own.step_cost / 10}),
    "nine tenths of their noise": (ROUND_STEPS, {"rhs": ROUND_STEPS.rhs - own.mean_spread_noise / 10}),
    "nine tenths of the dissimilarity": (
        ROUND_STEPS,
        {"rhs": ROUND_STEPS.rhs - (own.mean_cost - own.mean_spread_noise) / 10},
    ),
    "a dissimilarity without curvatures": (ROUND_STEP, {"rhs": ROUND_STEP.rhs.subs(own.zeta_curved, zeta_y)}),
    "a noise without curvatures": (ROUND_STEP, {"rhs": ROUND_STEP.rhs.subs(own.sigma_curved, sigma_y)}),
    "noise that costs rounds nothing": (ROUND_STEP, {"rhs": ROUND_STEP.rhs.subs(own.sigma_curved, 0)}),
    "rounds of any length": (ROUND_STEP, {"conditions": ROUND_STEP.conditions[:2]}),
    "rounds twice as long": (
        ROUND_STEP,
        {"conditions": [*ROUND_STEP.conditions[:2], sp.Le(SMALL_ROUND, 2, evaluate=False)]},
    ),
    "as if no client were steeper than the mean": (
        ROUND_STEP,
        {"conditions": [*ROUND_STEP.conditions[:2], SMALL_ROUND.xreplace({L: own.L_bar}) <= 1]},
    ),
    "as if noise were the same everywhere": (
        ROUND_STEP,
        {"conditions": [*ROUND_STEP.conditions[:2], SMALL_ROUND.subs(ell, 0) <= 1]},
    ),
    "half the start": (RUN, {"rhs": RUN.rhs - own.start / 2}),
    "fewer rounds": (RUN, {"rhs": RUN.rhs.subs(T, 2 * T)}),
}


@pytest.mark.parametrize(("claim", "change"), NOT_PROVED.values(), ids=NOT_PROVED)
def test_no_less_is_proved(claim: Claim, change: dict[str, Any]) -> None:
    """Smaller constants, wider conditions, fewer assumptions, and other meanings of symbols are not proved."""
    assert not is_proved(replace(claim, **change))


POTENTIALS: dict[str, Any] = {
    "none": None,
    "of all clients alike": own.potential,
    "with the mean curvature": own.L_bar * own.potential,
    "with the largest": L * own.potential,
    "twice as much": 2 * own.L_i * own.potential,
    "with the shares": p_i * own.L_i * own.potential,
}
LEFT_OVER: dict[str, Any] = {
    "one that is left over": own.L_i * (own.potential + 1),
    "one that is less than nothing in the end": own.L_i * own.potential - own.L_i,
    "of the next step": own.L_i * own.potential.subs(k, k + 1),
}


@pytest.mark.parametrize("potential", LEFT_OVER.values(), ids=LEFT_OVER)
def test_no_potential_is_left_over(potential: Any) -> None:
    """A potential that does not vanish at the end of a round is rejected."""
    assert not is_proved(ROUND_STEPS, potential=potential)


@pytest.mark.parametrize("potential", POTENTIALS.values(), ids=POTENTIALS)
def test_no_other_potential_gives_more(potential: Any) -> None:
    """Every potential that ends at zero gives the same telescoped bound."""
    changes: dict[str, Any] = {"rhs": ROUND_STEPS.rhs - (own.mean_cost - own.mean_spread_noise) / 10}
    assert is_proved(ROUND_STEPS, potential=potential)
    assert not is_proved(replace(ROUND_STEPS, **changes), potential=potential)


OWED: dict[str, Any] = {"every client": -100 * k * own.L_i, "flat clients": 100 * k * (own.L_i - mu - 1)}
"""Potentials that are negative after the last step, for at least one client."""


@pytest.mark.parametrize("owed", OWED.values(), ids=OWED)
def test_each_client_pays_its_potential_back(owed: Any) -> None:
    """A step is rejected whose potential is negative at the end for some client."""
    next_apart = norm_sq(x_i_next - xbar_next)
    traded = Expectation(Average(owed * norm_sq(x_i - xbar))) - Expectation(Average(owed.subs(k, k + 1) * next_apart))
    where = STEP.where | {mu: q.strong_convexity}
    step = replace(STEP, id="t:step", rhs=traded, conditions=[], where=where)
    claim = replace(ALL_STEPS, id="t:run", rhs=comparator_gap, conditions=[], where=where)
    run = line_run(["1/2", "1"], ["-400", "-100"], "5/2", local_steps=1, rounds=1)
    assert check(step, run).holds
    assert check(claim, run).holds is False
    granted = Proof(step, certificate=object(), steps=(Step("granted", True),))
    certificate = MeanCertificate(claim=claim.id, step=step.id, span="run", potential=owed)
    (refused,) = (one.text for one in check_certificate(claim, certificate, lambda _id: granted).steps if not one.holds)
    assert ">= 0 is not shown under the conditions" in refused


def _point_claim(of: q.ObjectiveQuantity, constant: sp.Symbol) -> tuple[Claim, Certificate]:
    """Return the claim that f is smooth with a constant, for free points."""
    u, v = sp.symbols("u v", real=True)
    where = {u: q.point, v: q.second_point, F: q.objective, F_i: q.client_objective, own.L_i: q.client_smoothness}
    where |= {mu: q.strong_convexity, L: q.smoothness}
    objective = F if of is q.objective else F_i
    gap = Value(objective, u) - Value(objective, v) - inner(Gradient(objective, v), u - v)
    fields: dict[str, Any] = {"place": "points", "assumptions": [a.convex_and_smooth]}
    claim = Claim(id="t:smooth", lhs=gap, rhs=constant / 2 * norm_sq(u - v), where=where, **fields)
    return claim, Certificate(claim=claim.id, links=[[Term(sp.S.One, smoothness(objective, u, v))]])


def test_each_objective_is_smooth_with_its_own_constant() -> None:
    """A client is smooth with its own constant, the average with the largest one, and neither with a smaller one."""
    verdicts = {
        (of.name, constant): check_certificate(*_point_claim(of, constant)).verdict
        for of in (q.objective, q.client_objective)
        for constant in (own.L_i, L, mu)
    }
    proved = {one for one, verdict in verdicts.items() if verdict == "proved"}
    assert proved == {(q.client_objective.name, own.L_i), (q.objective.name, L)}
