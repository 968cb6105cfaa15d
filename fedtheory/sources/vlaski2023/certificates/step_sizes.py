"""Certificates for step sizes other than (5.26): the cost that they descend, and the bias of their limit."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import (
    Term,
    assumption,
    length_of_mean,
    lipschitz_gradient_length,
    root,
    square,
    strong_convexity,
    weighted,
)
from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, norm_sq
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.links import Squared
from fedtheory.sources.vlaski2023.statements.dynamics import scale_k, w_bar
from fedtheory.sources.vlaski2023.statements.notation import *
from fedtheory.sources.vlaski2023.statements.recursions import bias, weighted_gradient

_ONE = sp.S.One


# Norm of the weighted gradients at a point, by its distance from the zero of their average.
def _bound_from_below(weight: Expr, gradient: Expr, at: sp.Symbol, zero: sp.Symbol) -> list[Term]:
    """Return the terms of the lower bound, by the inner product of the weighted gradient with the displacement."""
    least = Average(weight * nu_k)
    return [
        Term(_ONE, square(gradient - least * (at - zero))),
        Term(2 * least * weight, strong_convexity(J_k, at, zero), averaged=True),
        Term(2 * least * weight, strong_convexity(J_k, zero, at), averaged=True),
    ]


def _bound_by_norms(weight: Expr, at: sp.Symbol, zero: sp.Symbol) -> list[Term]:
    """Return the terms of the upper bound, by the norms of the agents' gradients."""
    return [
        Term(_ONE, length_of_mean(weight * (Gradient(J_k, at) - Gradient(J_k, zero)))),
        Term(weight, lipschitz_gradient_length(J_k, at, zero), averaged=True),
    ]


_STEPS, _MEAN_GRADIENT = mu_k * E_k / step, Expectation(federated_gradient(step))
_OTHER_COST = Squared(
    length=sp.sqrt(norm_sq(_MEAN_GRADIENT)),
    bound=Average(_STEPS * delta_k) * sp.sqrt(norm_sq(w - w_bar)),
    terms=_bound_by_norms(_STEPS, w, w_bar),
)
_BIAS = Squared(
    length=sp.sqrt(norm_sq(weighted_gradient)),
    bound=Average(E_k * delta_k) * bias,
    terms=[
        *_bound_by_norms(E_k, w_o, w_bar),
        Term(Average(E_k * delta_k), root("small-step bias", bias, w_bar - w_o)),
    ],
)


CERTIFICATES = [
    Certificate(
        claim="vlaski2023:eq-5.26.only-if",
        links=[[], [Term(_ONE, weighted(_ONE, scale_k - 1, grad_k))]],
    ),
    Certificate(
        claim="vlaski2023:eq-5.26.other-cost",
        links=[
            _bound_from_below(_STEPS, _MEAN_GRADIENT, w, w_bar),
            _OTHER_COST,
        ],
    ),
    Certificate(
        claim="vlaski2023:claim.common-step-bias",
        links=[
            [
                *_bound_from_below(E_k, weighted_gradient, w_o, w_bar),
                Term(Average(E_k * nu_k) ** 2, assumption("small-step bias, from below")),
            ],
            _BIAS,
        ],
    ),
]
