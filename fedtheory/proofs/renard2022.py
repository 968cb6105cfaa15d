"""Certificates for T. Renard, *Notes on Federated Optimization* (2022)."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, assumption, convexity, smoothness, square
from fedtheory.proofs.certificate import Certificate, MeanCertificate
from fedtheory.sources.renard2022.notation import (
    F_i,
    L,
    M,
    eta,
    lam,
    x,
    x_i,
    x_star,
    xbar,
    xbar_next,
    y,
    z,
)

_ONE = sp.S.One
_MOVE = xbar_next - xbar
_VARIANCE = Term(eta / M, assumption("bounded variance"), averaged=True)
_TO_CLIENT = (xbar_next - xbar) - (xbar - x_i)
_GAPS = (
    Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
    Term(_ONE, convexity(F_i, x_star, x_i), averaged=True),
)
_STEP = (*_GAPS, Term(L / 2, square(_TO_CLIENT), averaged=True))

CERTIFICATES = [
    Certificate(claim="renard2022:property-2.2", links=[[Term(_ONE, convexity(F_i, y, x))]]),
    Certificate(claim="renard2022:observation-2.1.fixed", links=[[Term(_ONE, convexity(F_i, z, x))]]),
    Certificate(claim="renard2022:property-2.3", links=[[Term(_ONE, smoothness(F_i, y, x))]]),
    Certificate(claim="renard2022:property-2.4.fixed", links=[[], []]),
    Certificate(claim="renard2022:property-2.5", links=[[Term(sp.Rational(1, 2), square(lam * x - y / lam))]]),
    Certificate(claim="renard2022:eq-8", links=[[]]),
    Certificate(claim="renard2022:lemma-2.2.proof.smooth", links=[[Term(_ONE, smoothness(F_i, xbar_next, x))]]),
    Certificate(
        claim="renard2022:lemma-2.2.proof.to-optimum",
        links=[[Term(_ONE, smoothness(F_i, xbar_next, x_i)), Term(_ONE, convexity(F_i, x_star, x_i))]],
    ),
    Certificate(
        claim="renard2022:lemma-2.2.proof.triangle.fixed",
        links=[[Term(L / 2, square(_TO_CLIENT))]],
    ),
    Certificate(claim="renard2022:lemma-2.2.proof.heart", links=[_STEP]),
    Certificate(claim="renard2022:eq-9.fixed", links=[[]]),
    Certificate(claim="renard2022:lemma-2.2.proof.polarize", links=[[], []]),
    Certificate(
        claim="renard2022:lemma-2.2.proof.regroup.fixed",
        links=[[], [Term(1 / (4 * eta) - L, square(_MOVE))]],
    ),
    Certificate(
        claim="renard2022:lemma-2.2.proof.drop.fixed", links=[[*_STEP, Term(1 / (4 * eta) - L, square(_MOVE))]]
    ),
    Certificate(claim="renard2022:lemma-2.2.proof.unbiased", links=[[]]),
    Certificate(claim="renard2022:lemma-2.2.proof.young.fixed", links=[[Term(1 / (4 * eta), square(_MOVE))]]),
    Certificate(claim="renard2022:lemma-2.2.proof.variance", links=[[Term(1 / (4 * eta), square(_MOVE)), _VARIANCE]]),
    Certificate(
        claim="renard2022:lemma-2.2.proof.last.fixed",
        links=[[*_STEP, Term(1 / (2 * eta) - L, square(_MOVE)), _VARIANCE]],
        relaxed=[eta <= 1 / (2 * L)],
    ),
    MeanCertificate(claim="renard2022:lemma-2.2.fixed", step="renard2022:lemma-2.2.proof.last.fixed", span="round"),
    MeanCertificate(
        claim="renard2022:thm-2.1.proof.split.fixed", step="renard2022:lemma-2.2.proof.last.fixed", span="run"
    ),
]
