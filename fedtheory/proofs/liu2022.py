"""Certificates for J. Liu, *Lecture Note 3-1: Federated Learning* (2022)."""

from __future__ import annotations

import sympy as sp

from fedtheory.expressions import Average, Gradient
from fedtheory.kernel import Term, assumption, lipschitz_gradient, smoothness, square
from fedtheory.proofs.certificate import Certificate
from fedtheory.sources.liu2022.notation import L, N, f, f_i, s, x_i, xbar, xbar_next

_ONE = sp.S.One
_DESCENT = Term(_ONE, smoothness(f, xbar_next, xbar))
_DIFFERENCE = Gradient(f_i, xbar) - Gradient(f_i, x_i)


def _variance(coefficient: sp.Expr) -> Term:
    return Term(coefficient, assumption("bounded variance"), averaged=True)


CERTIFICATES = [
    Certificate(claim="liu2022:eq-1", links=[[_DESCENT]]),
    Certificate(claim="liu2022:eq-2", links=[[], []]),
    Certificate(claim="liu2022:eq-3.fixed", links=[[_variance(s**2 / N)]]),
    Certificate(claim="liu2022:eq-3.mean-zero-sum", links=[[]]),
    Certificate(claim="liu2022:eq-4", links=[[]]),
    Certificate(claim="liu2022:eq-7.fixed", links=[[_DESCENT, _variance(L * s**2 / (2 * N))]], relaxed=[]),
    Certificate(
        claim="liu2022:eq-7.a",
        links=[
            [],
            [Term(_ONE, square(_DIFFERENCE - Average(_DIFFERENCE)), averaged=True)],
            [Term(_ONE, lipschitz_gradient(f_i, xbar, x_i), averaged=True)],
        ],
    ),
]
