"""Certificates for S. Vlaski and A. H. Sayed, *Federated Learning* (2023)."""

from __future__ import annotations

import sympy as sp

from fedtheory.expressions import Expr, Gradient, LocalSum, norm_sq
from fedtheory.kernel import Term, assumption, lipschitz_gradient, one, square, strong_convexity
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.induction import Induction
from fedtheory.sources.vlaski2023.notation import (
    SAMPLING,
    E_k,
    J,
    J_k,
    L,
    alpha,
    beta_k,
    delta_k,
    e,
    g,
    g_w,
    local_rate,
    mu,
    phi,
    sigma_k,
    w,
    w_o,
    w_o_k,
    x,
)

_ONE = sp.S.One
_AT_SERVER = assumption("variance at the server's model")
_MOVED = g - g_w
_JENSEN = Term(1 / E_k, square(_MOVED - LocalSum(_MOVED) / E_k), summed=True)
_CONTRACTION = [
    Term(2 * mu / E_k, strong_convexity(J_k, w_o_k, phi)),
    Term(2 * mu / E_k, strong_convexity(J_k, phi, w_o_k)),
    Term(mu**2 / E_k**2, lipschitz_gradient(J_k, phi, w_o_k)),
    Term(mu**2 / E_k**2, assumption("variance at a local iterate")),
]
_SETTLED = [*_CONTRACTION, Term(1 - local_rate(mu), square(w_o_k - phi))]
_SETTLING = mu**2 * sigma_k**2 / E_k**2
_BATCHES = Term(1 / (L * E_k**2), _AT_SERVER, averaged=True, summed=True)


def _dissimilarity(at: Expr) -> list[Term]:
    """The gradients of J and J_k differ by what smoothness allows them at the distances from their minimisers."""
    apart = Gradient(J, at) - Gradient(J, w_o) - (Gradient(J_k, w_o_k) - Gradient(J_k, at))
    return [
        Term(SAMPLING, square(apart), averaged=True),
        Term(2 * SAMPLING, lipschitz_gradient(J, at, w_o), averaged=True),
        Term(2 * SAMPLING, lipschitz_gradient(J_k, at, w_o_k), averaged=True),
    ]


def _own_minimisers(at: Expr) -> list[Term]:
    """The distance from one's own minimiser is split at the common one."""
    share = beta_k**2 / (E_k * L) + 2 * SAMPLING * delta_k**2
    return [
        Term(share, square((w_o_k - w_o) - (w_o - at)), averaged=True),
        Term(2 * share, assumption("distance of the minimisers"), averaged=True),
    ]


_FEDERATED = [_BATCHES, *_dissimilarity(w), *_own_minimisers(w)]
_ROUND = [
    Term(2 * mu, strong_convexity(J, w_o, w)),
    Term(2 * mu, strong_convexity(J, w, w_o)),
    Term(mu**2, lipschitz_gradient(J, w, w_o)),
]


def _times(factor: Expr, terms: list[Term]) -> list[Term]:
    return [Term(factor * t.coefficient, t.reason, t.averaged, t.summed) for t in terms]


_IDENTITIES = {
    "eq-5.7": 3,
    "eq-5.8": 1,
    "eq-5.12": 2,
    "eq-5.14": 1,
    "eq-5.17": 1,
    "eq-5.18": 2,
    "eq-5.21.fixed": 2,
    "eq-5.25": 4,
    "eq-5.25.participation-mean.fixed": 1,
    "eq-5.26": 2,
    "eq-5.27": 1,
    "eq-5.29": 1,
    "lemma-5.1": 3,
    "eq-5.44-5.45.fixed": 2,
    "eq-5.48": 2,
}
"""Claims whose links the kernel finds to be identities, and how many links they have."""

CERTIFICATES = [
    *(Certificate(claim=f"vlaski2023:{name}", links=[[]] * count) for name, count in _IDENTITIES.items()),
    Certificate(claim="vlaski2023:eq-5.28", links=[[Term(_ONE, _AT_SERVER)]]),
    Certificate(claim="vlaski2023:eq-5.30", links=[[Term(1 / E_k**2, _AT_SERVER, summed=True)]]),
    Certificate(claim="vlaski2023:eq-5.34-5.37", links=[[], [], [Term(1 / E_k**2, _AT_SERVER, summed=True)]]),
    Certificate(claim="vlaski2023:eq-5.38.lemma-step", links=[[_BATCHES]]),
    Certificate(
        claim="vlaski2023:eq-5.38.steps-a-d.fixed",
        links=[[], _dissimilarity(x), _own_minimisers(x)],
    ),
    Certificate(claim="vlaski2023:eq-5.38.final", links=[_FEDERATED]),
    Certificate(claim="vlaski2023:eq-5.42", links=[[_JENSEN]]),
    Certificate(claim="vlaski2023:condition-5.1", links=[[Term(_ONE, assumption("mean-square smoothness"))]]),
    Certificate(
        claim="vlaski2023:eq-5.47",
        links=[[_JENSEN, Term(1 / E_k, assumption("mean-square smoothness"), summed=True)]],
    ),
    Certificate(claim="vlaski2023:eq-5.49.fixed", links=[_CONTRACTION]),
    Certificate(claim="vlaski2023:eq-5.51.fixed", links=[_SETTLED]),
    Certificate(
        claim="vlaski2023:eq-5.59-5.60",
        links=[_times(1 / alpha, [*_ROUND, *_times(mu**2, _FEDERATED)])],
    ),
    Certificate(
        claim="vlaski2023:eq-5.52.fixed",
        links=[
            Induction(
                measured=norm_sq(w_o_k - phi),
                factor=_ONE,
                offset=_SETTLING,
                terms=_SETTLED,
                bound=norm_sq(w_o_k - w) + e * _SETTLING,
            ),
            [Term(_SETTLING * (E_k - e - 1), one())],
        ],
    ),
]
