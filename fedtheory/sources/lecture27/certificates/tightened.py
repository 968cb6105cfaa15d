"""Certificates of the tightened statements, by gradient steps that do not increase distances."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Term, assumption, cocoercivity, convexity, smoothness, square
from fedtheory.kernel.expressions import Average, Gradient, norm_sq
from fedtheory.proofs import facts
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.distances import SPREAD
from fedtheory.proofs.induction import k
from fedtheory.proofs.links import Induction
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import Part
from fedtheory.proofs.recursion import Recursion
from fedtheory.sources.lecture27.certificates.published import DIFFERENCE, DIVERGENCE, bound_average_step
from fedtheory.sources.lecture27.statements.any_point import sigma_G, y
from fedtheory.sources.lecture27.statements.notation import *

_ONE = sp.S.One
_CLIENT, _MEAN = "lecture27:thm-1.g.linear", "lecture27:thm-1.quadratic"
_STEP, _STEPS, _DRIFT = (f"lecture27:thm-2.any-point.{name}" for name in ("step", "steps", "drift"))


def _bound_divergence(model: sp.Expr, steps: sp.Expr) -> list[Term]:
    """Bound a client's distance from another model after a gradient step of both, up to the divergence there.

    The weight of Young's inequality is the number of previous steps, so that the distance grows by an equal amount in
    each step.
    """
    change = Gradient(F_i, w_i) - Gradient(F_i, model)
    deviation = Gradient(F_i, model) - Gradient(F, model)
    weight = 1 + 1 / steps
    return [
        Term(1 / steps, square(w_i - model - eta * change + steps * eta * deviation)),
        Term(2 * eta * weight, cocoercivity(F_i, w_i, model)),
        Term(2 * eta * weight, cocoercivity(F_i, model, w_i)),
        Term((2 * eta / beta - eta**2) * weight, square(change)),
    ]


_CLIENT_DISTANCE = Induction(
    measured=norm_sq(DIFFERENCE),
    factor=1 + 1 / x,
    offset=(1 + x) * eta**2 * delta_i**2,
    terms=[*_bound_divergence(v, x), Term((1 + x) * eta**2, assumption(DIVERGENCE))],
    bound=(eta * delta_i * x) ** 2,
    first=[Term(eta**2, assumption(DIVERGENCE))],
)
_AVERAGE_DISTANCE = Induction(
    measured=norm(w_t - v),
    factor=_ONE,
    offset=eta * beta * Average(eta * delta_i * x),
    terms=bound_average_step(eta * delta_i * x, _CLIENT),
    bound=eta**2 * beta * delta * x * (x - 1) / 2,
)

# The clients' distances from their average, which moves by the average of their gradients.
_MOVED = w_i - w_t - eta * (Gradient(F_i, w_i) - Gradient(F, w_t))
_MEAN_DIVERGENCE = assumption("bounded mean dissimilarity")
_SHARE = 1 / (2 * eta * tau * K)

CERTIFICATES = [
    Certificate(claim=_CLIENT, links=[_CLIENT_DISTANCE, _CLIENT_DISTANCE]),
    Certificate(claim=_MEAN, links=[_AVERAGE_DISTANCE, _AVERAGE_DISTANCE], lemmas=[_CLIENT]),
    Certificate(
        claim=_STEP,
        links=[
            [
                Term(_ONE, smoothness(F_i, w_t_next, w_i), averaged=True),
                Term(_ONE, convexity(F_i, y, w_i), averaged=True),
                Term(eta * (1 - beta * eta) / 2, square(Average(Gradient(F_i, w_i)))),
            ]
        ],
    ),
    Recursion(
        claim=_DRIFT,
        measure=SPREAD,
        factor=1 + 1 / k,
        offset=(1 + k) * eta**2 * sigma_G**2,
        terms=[
            *(replace(term, averaged=True) for term in _bound_divergence(w_t, k)),
            Term((1 + k) * eta**2, _MEAN_DIVERGENCE),
            Term(_ONE, square(Average(_MOVED))),
        ],
        bound=k**2 * eta**2 * sigma_G**2,
        first=[Term(eta**2, _MEAN_DIVERGENCE)],
        total=k * (k - 1) * (2 * k - 1) * eta**2 * sigma_G**2 / 6,
    ),
    MeanCertificate(claim=_STEPS, step=_STEP, span="run"),
    Combination(
        claim="lecture27:thm-2.any-point",
        links=[
            [
                Part(_ONE, _STEPS),
                Part(-_SHARE, facts.TELESCOPED_FROM_COMPARATOR),
                Part(_SHARE, facts.FINAL_COMPARATOR_DISTANCE),
                Part(beta / 2, _DRIFT),
            ]
        ],
    ),
]
