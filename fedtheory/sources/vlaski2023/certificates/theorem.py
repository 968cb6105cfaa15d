"""Certificates for Theorem 5.1 of S. Vlaski and A. H. Sayed, *Federated Learning* (2023), and its proof."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import (
    Term,
    assumption,
    lipschitz_gradient,
    one,
    square,
    strong_convexity,
)
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import CURVATURE, ONE
from fedtheory.proofs.parts import Part
from fedtheory.proofs.roots import Root
from fedtheory.sources.vlaski2023.certificates.lemmas import FEDERATED
from fedtheory.sources.vlaski2023.context.at_optimum import AtOptimum
from fedtheory.sources.vlaski2023.statements.notation import *
from fedtheory.sources.vlaski2023.statements.proof import s, share, stable, towards, z
from fedtheory.sources.vlaski2023.statements.theorem import SMALL, curvature_k, one_over_alpha, one_over_rest, travel

_ONE = sp.S.One

_ROUND = [
    Term(2 * mu, strong_convexity(J, w_o, w)),
    Term(2 * mu, strong_convexity(J, w, w_o)),
    Term(mu**2, lipschitz_gradient(J, w, w_o)),
]


def _multiply(factor: Expr, terms: list[Term]) -> list[Term]:
    """Multiply each term of a list by a factor."""
    return [Term(factor * t.coefficient, t.reason, t.averaged, t.summed) for t in terms]


# The error after a round without the perturbation, and the perturbation, with the normalised step sizes.
_TOWARDS, _PERTURBATION = (vector.xreplace({mu_k: mu / E_k}) for vector in (towards, d))


def _split_by_young(weight: Expr) -> Term:
    """Return the square of the error after a round, split by Young's inequality with a weight between zero and one."""
    return Term(1 / (weight * (1 - weight)), square((1 - weight) * _TOWARDS - weight * _PERTURBATION))


# The square root of lambda, which is (1 - mu nu)^2 plus contributions of curvatures and noise.
_r, _r_positive = sp.Symbol(r"\sqrt\lambda", nonnegative=True), sp.Symbol(r"\sqrt\lambda", positive=True)


_RATE = Root(
    _r,
    rate,
    [Part((1 - mu * nu) ** 2, ONE), Part(mu**2 * (delta + nu), CURVATURE), Part(mu**2 * beta_fed_sq, ONE)],
)
_ABOVE_QUARTER = rate >= sp.Rational(1, 4)
_POSITIVE_RATE = Root(_r_positive, rate, [Part(_ONE, _ABOVE_QUARTER)], least=sp.Rational(1, 4))
_STABLE = Root(
    _r,
    global_rate(stable),
    [
        Part((1 - z) ** 2 / (1 + z) ** 2, ONE),
        Part(4 * z * (delta + nu) / ((1 + z) ** 2 * (delta**2 + beta_fed_sq)), CURVATURE),
        Part(4 * z * beta_fed_sq / ((1 + z) ** 2 * (delta**2 + beta_fed_sq)), ONE),
    ],
)
_AMPLIFIED = (1 + z) * stable / (2 * nu * z)

_SMALL = 1 / (2 * nu * (1 + s))

# The error after a round, from the round without the perturbation and the energy of the perturbation.
_SHARP_ID = "vlaski2023:eq-5.54.sharp"
_SHARP = [Term(_ONE, assumption(f"{_SHARP_ID}, relation {number}")) for number in (1, 2)]
_POSITIVE = Root(_r_positive, rate, [Part(_ONE, rate > 0)])


def _bound_recursion(weight: Expr) -> list[Term]:
    return [_split_by_young(weight), *_multiply(1 / weight, [*_ROUND, *_multiply(mu**2, FEDERATED)])]


def _evaluate_at_root(weight: sp.Symbol) -> list[Term]:
    return [*_bound_recursion(weight), *_multiply(1 / (1 - weight), _SHARP)]


_KEPT, _DOUBLED = mu**4 * travel / (1 + _r_positive), 2 * mu**4 * travel / (1 - _r_positive**2)
_RECURSION = [
    *_evaluate_at_root(_r_positive),
    Term(mu**2 * sigma_fed_sq * (2 * _r_positive - 1) / _r_positive, one()),
    Term(_KEPT * curvature_k, square(w_o_k - w), averaged=True),
    Term(_KEPT * (curvature_k * mu**2 * sigma_k**2 / E_k + sigma_k**2), one(), averaged=True),
    Term(_DOUBLED * curvature_k, square((w_o_k - w_o) - (w_o - w)), averaged=True),
    Term(2 * _DOUBLED * curvature_k, assumption("distance of the minimisers"), averaged=True),
]


_WEIGHT = 1 / one_over_alpha
_ADDED = mu**4 * one_over_rest * travel
_LEFT_OF_TWO_THIRDS = mu**4 * one_over_rest * (3 * E_k - 1) / (3 * E_k**2) * hat_delta_k**2
_SMALL_STEPS = [
    *_bound_recursion(_WEIGHT),
    *_multiply(1 / (1 - _WEIGHT), _SHARP),
    Term(_ADDED * curvature_k, square((w_o_k - w_o) - (w_o - w)), averaged=True),
    Term(2 * _ADDED * curvature_k, assumption("distance of the minimisers"), averaged=True),
    Term(_LEFT_OF_TWO_THIRDS * curvature_k, square(w_o - w), averaged=True),
    Term(SMALL.rhs - SMALL.lhs, square(w_o - w)),
]


CERTIFICATES = [
    Certificate(
        claim="vlaski2023:eq-5.59-5.60",
        links=[_multiply(1 / alpha, [*_ROUND, *_multiply(mu**2, FEDERATED)])],
    ),
    Certificate(claim="vlaski2023:eq-5.58.fixed", links=[[], [_split_by_young(share)]]),
    Certificate(
        claim="vlaski2023:eq-5.61.fixed",
        links=[_bound_recursion(share), _multiply(1 / (1 - share), _SHARP)],
        lemmas=[_SHARP_ID],
    ),
    Certificate(
        claim="vlaski2023:eq-5.62.explicit",
        links=[_evaluate_at_root(_r_positive)],
        lemmas=[_SHARP_ID],
        roots=[_POSITIVE],
    ),
    Certificate(
        claim="vlaski2023:thm-5.1.recursion.explicit",
        links=[_RECURSION],
        lemmas=[_SHARP_ID],
        roots=[_POSITIVE_RATE],
    ),
    Certificate(
        claim="vlaski2023:thm-5.1.recursion.small-steps",
        links=[_SMALL_STEPS],
        lemmas=[_SHARP_ID],
    ),
    Combination(
        claim="vlaski2023:claim.steady-state-noise",
        links=[[Part(mu / (2 * nu), AtOptimum("vlaski2023:eq-5.38.final"))]],
    ),
    Combination(claim="vlaski2023:thm-5.1.rate", links=[[Part((1 - _r) ** 2 / 2, ONE)]], roots=[_RATE]),
    Combination(
        claim="vlaski2023:eq-5.64.fixed",
        links=[[Part(_AMPLIFIED * _r, ONE)], [Part(stable**2 / (1 + _r), ONE)]],
        roots=[_STABLE],
    ),
    Combination(
        claim="vlaski2023:eq-5.65",
        links=[[Part(4 * mu**2 * sigma_fed_sq / (_r_positive * (2 * _r_positive + 1)), _ABOVE_QUARTER)]],
        roots=[_POSITIVE_RATE],
    ),
    Combination(
        claim="vlaski2023:eq-5.65.step-condition.fixed",
        links=[
            [
                Part(s * (3 * s + 2) / (4 * (1 + s) ** 2), ONE),
                Part((delta + nu) * _SMALL**2, CURVATURE),
                Part(beta_fed_sq * _SMALL**2, ONE),
            ]
        ],
    ),
]
