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
from fedtheory.sources.vlaski2023.statements.proof import alpha_of_theta, contracting_step, s, unperturbed_error, z
from fedtheory.sources.vlaski2023.statements.theorem import (
    SMALL_STEP,
    curvature_k,
    energy_factor_k,
    one_over_alpha,
    one_over_rest,
)

_ONE = sp.S.One

_ROUND = [
    Term(2 * mu, strong_convexity(J, w_o, w)),
    Term(2 * mu, strong_convexity(J, w, w_o)),
    Term(mu**2, lipschitz_gradient(J, w, w_o)),
]


def _scale_terms(factor: Expr, terms: list[Term]) -> list[Term]:
    """Multiply each term of a list by a factor."""
    return [Term(factor * t.coefficient, t.reason, t.averaged, t.summed) for t in terms]


# The error after a round without the perturbation, and the perturbation, with the normalised step sizes.
_UNPERTURBED_ERROR, _PERTURBATION = (vector.xreplace({mu_k: mu / E_k}) for vector in (unperturbed_error, d))


def _split_by_young(weight: Expr) -> Term:
    """Return the square of the error after a round, split by Young's inequality with a weight between zero and one."""
    return Term(1 / (weight * (1 - weight)), square((1 - weight) * _UNPERTURBED_ERROR - weight * _PERTURBATION))


# The square root of lambda, which is (1 - mu nu)^2 plus contributions of curvatures and noise.
_r, _r_positive = sp.Symbol(r"\sqrt\lambda", nonnegative=True), sp.Symbol(r"\sqrt\lambda", positive=True)


_RATE = Root(
    _r,
    rate,
    [Part((1 - mu * nu) ** 2, ONE), Part(mu**2 * (delta + nu), CURVATURE), Part(mu**2 * beta_fed_sq, ONE)],
)
_ABOVE_QUARTER = rate >= sp.Rational(1, 4)
_POSITIVE_RATE = Root(_r_positive, rate, [Part(_ONE, _ABOVE_QUARTER)], least=sp.Rational(1, 4))
_RATE_OF_STEP = Root(
    _r,
    global_rate(contracting_step),
    [
        Part((1 - z) ** 2 / (1 + z) ** 2, ONE),
        Part(4 * z * (delta + nu) / ((1 + z) ** 2 * (delta**2 + beta_fed_sq)), CURVATURE),
        Part(4 * z * beta_fed_sq / ((1 + z) ** 2 * (delta**2 + beta_fed_sq)), ONE),
    ],
)
_AMPLIFICATION = (1 + z) * contracting_step / (2 * nu * z)

_STEP = 1 / (2 * nu * (1 + s))

# The error after a round, from the round without the perturbation and the energy of the perturbation.
_ENERGY_BOUND = "vlaski2023:eq-5.54.sharp"
_ENERGY = [Term(_ONE, assumption(f"{_ENERGY_BOUND}, relation {number}")) for number in (1, 2)]
_POSITIVE = Root(_r_positive, rate, [Part(_ONE, rate > 0)])


def _bound_recursion(weight: Expr) -> list[Term]:
    """Return the terms of the squared error after a round, up to the energy of the perturbation."""
    return [_split_by_young(weight), *_scale_terms(1 / weight, [*_ROUND, *_scale_terms(mu**2, FEDERATED)])]


def _bound_with_energy(weight: Expr) -> list[Term]:
    """Return the terms of the squared error after a round."""
    return [*_bound_recursion(weight), *_scale_terms(1 / (1 - weight), _ENERGY)]


_LEVEL_FACTOR, _DISTANCE_FACTOR = (
    mu**4 * energy_factor_k / (1 + _r_positive),
    2 * mu**4 * energy_factor_k / (1 - _r_positive**2),
)
_RECURSION = [
    *_bound_with_energy(_r_positive),
    Term(mu**2 * sigma_fed_sq * (2 * _r_positive - 1) / _r_positive, one()),
    Term(_LEVEL_FACTOR * curvature_k, square(w_o_k - w), averaged=True),
    Term(_LEVEL_FACTOR * (curvature_k * mu**2 * sigma_k**2 / E_k + sigma_k**2), one(), averaged=True),
    Term(_DISTANCE_FACTOR * curvature_k, square((w_o_k - w_o) - (w_o - w)), averaged=True),
    Term(2 * _DISTANCE_FACTOR * curvature_k, assumption("distance of the minimisers"), averaged=True),
]


_WEIGHT = 1 / one_over_alpha
_ENERGY_FACTOR = mu**4 * one_over_rest * energy_factor_k
_REST_OF_TWO_THIRDS = mu**4 * one_over_rest * (3 * E_k - 1) / (3 * E_k**2) * hat_delta_k**2
_SMALL_STEPS = [
    *_bound_with_energy(_WEIGHT),
    Term(_ENERGY_FACTOR * curvature_k, square((w_o_k - w_o) - (w_o - w)), averaged=True),
    Term(2 * _ENERGY_FACTOR * curvature_k, assumption("distance of the minimisers"), averaged=True),
    Term(_REST_OF_TWO_THIRDS * curvature_k, square(w_o - w), averaged=True),
    Term(SMALL_STEP.rhs - SMALL_STEP.lhs, square(w_o - w)),
]


CERTIFICATES = [
    Certificate(
        claim="vlaski2023:eq-5.59-5.60",
        links=[_scale_terms(1 / alpha, [*_ROUND, *_scale_terms(mu**2, FEDERATED)])],
    ),
    Certificate(claim="vlaski2023:eq-5.58.fixed", links=[[], [_split_by_young(alpha_of_theta)]]),
    Certificate(
        claim="vlaski2023:eq-5.61.fixed",
        links=[_bound_recursion(alpha_of_theta), _scale_terms(1 / (1 - alpha_of_theta), _ENERGY)],
        lemmas=[_ENERGY_BOUND],
    ),
    Certificate(
        claim="vlaski2023:eq-5.62.explicit",
        links=[_bound_with_energy(_r_positive)],
        lemmas=[_ENERGY_BOUND],
        roots=[_POSITIVE],
    ),
    Certificate(
        claim="vlaski2023:thm-5.1.recursion.explicit",
        links=[_RECURSION],
        lemmas=[_ENERGY_BOUND],
        roots=[_POSITIVE_RATE],
    ),
    Certificate(
        claim="vlaski2023:thm-5.1.recursion.small-steps",
        links=[_SMALL_STEPS],
        lemmas=[_ENERGY_BOUND],
    ),
    Combination(
        claim="vlaski2023:claim.steady-state-noise",
        links=[[Part(mu / (2 * nu), AtOptimum("vlaski2023:eq-5.38.final"))]],
    ),
    Combination(claim="vlaski2023:thm-5.1.rate", links=[[Part((1 - _r) ** 2 / 2, ONE)]], roots=[_RATE]),
    Combination(
        claim="vlaski2023:eq-5.64.fixed",
        links=[[Part(_AMPLIFICATION * _r, ONE)], [Part(contracting_step**2 / (1 + _r), ONE)]],
        roots=[_RATE_OF_STEP],
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
                Part((delta + nu) * _STEP**2, CURVATURE),
                Part(beta_fed_sq * _STEP**2, ONE),
            ]
        ],
    ),
]
