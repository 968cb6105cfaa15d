"""Certificates for Lecture 27, *Introduction to Federated Learning*."""

from __future__ import annotations

import sympy as sp

from fedtheory.expressions import Gradient
from fedtheory.kernel import Term, cocoercivity, square
from fedtheory.proofs.certificate import Certificate
from fedtheory.sources.lecture27.notation import F, F_i, beta, eta, v, w, w_other, w_star

_ONE = sp.S.One

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
]
