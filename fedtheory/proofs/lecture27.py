"""Certificates for Lecture 27, *Introduction to Federated Learning*."""

from __future__ import annotations

import sympy as sp

from fedtheory.expressions import Gradient, norm_sq
from fedtheory.kernel import Term, assumption, cocoercivity, convexity, lipschitz_gradient, square
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.induction import POWER, Induction
from fedtheory.sources.lecture27.notation import (
    F,
    F_i,
    beta,
    delta_i,
    eta,
    v,
    w,
    w_i,
    w_other,
    w_star,
    x,
)

_ONE = sp.S.One

# A client and centralised gradient descent: how far they are apart, and by how much their gradients differ because of
# that, and because of the client's own objective.  Young's inequality with a weight that makes it an equation.
_BASE = 1 + eta * beta
_APART, _PULL = w_i - v, Gradient(F_i, w_i) - Gradient(F_i, v)
_WEIGHT = eta * beta / (_BASE * (POWER - 1))
_DIVERGENCE = "divergence at the centralised model"


def _away(weight: sp.Expr) -> Induction:
    """At most (delta_i / beta)^2 ((1 + eta beta)^k - 1)^2 after k steps."""
    own = Gradient(F_i, v) - Gradient(F, v)
    return Induction(
        measured=norm_sq(_APART),
        factor=(1 + weight) * _BASE**2,
        offset=(1 + 1 / weight) * eta**2 * delta_i**2,
        terms=[
            Term(weight, square(_APART - eta * _PULL + eta / weight * own)),
            Term((1 + weight) * 2 * eta * beta, square(_APART)),
            Term((1 + weight) * eta**2, lipschitz_gradient(F_i, w_i, v)),
            Term((1 + weight) * 2 * eta, convexity(F_i, w_i, v)),
            Term((1 + weight) * 2 * eta, convexity(F_i, v, w_i)),
            Term((1 + 1 / weight) * eta**2, assumption(_DIVERGENCE)),
        ],
        bound=(delta_i / beta * (_BASE**x - 1)) ** 2,
        first=[Term(eta**2, assumption(_DIVERGENCE))],
        base=_BASE,
    )


CERTIFICATES = [
    Certificate(
        claim="lecture27:smooth-property-1",
        links=[[Term(_ONE, cocoercivity(F_i, w_other, w))], [Term(_ONE, cocoercivity(F, w_other, w))]],
    ),
    Certificate(
        claim="lecture27:lemma-3",
        links=[
            [
                Term(2 * eta, cocoercivity(F, w_star, v)),
                Term(2 * eta, cocoercivity(F, v, w_star)),
                Term(2 * eta / beta - eta**2, square(Gradient(F, v))),
            ]
        ],
        relaxed=[eta <= 2 / beta],
    ),
    Certificate(claim="lecture27:lemma-3.proof.factor.fixed", links=[[]], relaxed=[]),
    Certificate(claim="lecture27:thm-1.g", links=[_away(_WEIGHT), _away(_WEIGHT)]),
]
