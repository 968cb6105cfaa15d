"""False statements about the limit point of small steps, and about norms inside rounds, are not proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Term, assumption, triangle
from fedtheory.kernel.expressions import Average, Expectation, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, certificates, check_certificate
from fedtheory.sources.vlaski2023.statements.dynamics import w_bar
from fedtheory.sources.vlaski2023.statements.notation import COMMON_STEP, NOTATION, E_k, J_k, mu_k, phi, w, w_o

PULLS = {"sized": mu_k * E_k, "by steps": E_k, "alike": sp.S.One, "by sizes": mu_k, "squared": E_k**2}
WHERE: dict[sp.Symbol, Any] = {**NOTATION, w_bar: q.small_step_optimum}


def balances(weight: Any, at: Any = w_bar, assumptions: Any = COMMON_STEP, place: Any = "points") -> bool:
    """Return whether weighted gradients are proved to have average zero."""
    pull = norm_sq(Average(weight * Gradient(J_k, at)))
    claim = Claim(id="t:pull", lhs=pull, relation="==", rhs=0, where=WHERE, place=place, assumptions=tuple(assumptions))
    return check_certificate(claim, Certificate(claim=claim.id, links=[[]])).verdict == "proved"


@pytest.mark.parametrize("name", PULLS)
@pytest.mark.parametrize("place", ["points", "round"])
def test_weights_at_the_limit_point(name: str, place: Any) -> None:
    """The weights are local steps times step sizes, or local steps for equal step sizes, at the limit point only."""
    assert balances(PULLS[name], place=place) is (name in ("sized", "by steps"))
    own_sizes = [one for one in COMMON_STEP if one is not a.same_step_size]
    assert balances(PULLS[name], assumptions=own_sizes, place=place) is (name == "sized")
    assert balances(PULLS[name], w_o, place=place) is (name == "alike")
    for missing in (a.uniform_sampling, a.uniform_shares):
        fewer = [one for one in COMMON_STEP if one is not missing]
        assert not balances(PULLS[name], assumptions=fewer, place=place)


@pytest.mark.parametrize("name", ["claim.common-step-bias", "eq-5.26.other-cost"])
def test_bounds_on_a_bias(name: str) -> None:
    """Bounds on the bias need equal weights, and concern the limit point of small steps."""
    claim = find(f"vlaski2023:{name}")
    certificate = certificates()[claim.id]
    lossy = tuple(one for one in claim.assumptions if one is not a.uniform_shares)
    other = {**claim.where, w_bar: q.surrogate_optimum}
    for wrong in (replace(claim, assumptions=lossy), replace(claim, where=other)):
        assert not all(step.holds for step in check_certificate(wrong, certificate).steps)


def test_the_bias_is_a_distance() -> None:
    """The bias is bounded from above and below as the distance of these two points only."""
    bias = sp.Symbol("b", nonnegative=True)
    where = {**WHERE, bias: q.small_step_bias}

    def verdict(left: Any, right: Any, name: str) -> str:
        claim = Claim(id="t:bias", lhs=left, rhs=right, where=where, place="points", assumptions=COMMON_STEP)
        terms = [Term(sp.S.One, assumption(name))]
        return check_certificate(claim, Certificate(claim=claim.id, links=[terms])).verdict

    apart = norm_sq(w_bar - w_o)
    assert verdict(apart, bias**2, "small-step bias") == "proved"
    assert verdict(bias**2, apart, "small-step bias, from below") == "proved"
    assert verdict(bias**2, apart, "small-step bias") == "broken"
    assert verdict(norm_sq(w_bar - w), bias**2, "small-step bias") == "broken"


@pytest.mark.parametrize(("vector", "expected"), [(w - w_o, "proved"), (phi - w_o, "broken")])
def test_lengths_inside_a_round(vector: Any, expected: str) -> None:
    """Norms of vectors at the start of a round are known, norms of iterates are random."""
    halves = 2 * sp.sqrt(norm_sq(vector / 2))
    lhs, rhs = sp.sqrt(norm_sq(vector)) + Expectation(norm_sq(phi)), halves + Expectation(norm_sq(phi))
    claim = Claim(id="t:length", lhs=lhs, rhs=rhs, where=WHERE, place="round", assumptions=COMMON_STEP)
    terms = [Term(sp.S.One, triangle(vector / 2, vector / 2))]
    assert check_certificate(claim, Certificate(claim=claim.id, links=[terms])).verdict == expected
