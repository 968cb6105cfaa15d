"""Certificates of the identities and lemmas of S. Vlaski and A. H. Sayed, *Federated Learning* (2023)."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import (
    Term,
    assumption,
    lipschitz_gradient,
    mean_of_drawn,
    one,
    square,
    strong_convexity,
)
from fedtheory.kernel.expressions import Expr, Gradient, LocalSum, norm_sq
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.links import Induction
from fedtheory.sources.vlaski2023.statements.local_error import gradient_bound_k
from fedtheory.sources.vlaski2023.statements.notation import *
from fedtheory.sources.vlaski2023.statements.theorem import curvature_k

_ONE = sp.S.One
_AT_SERVER = assumption("variance at the server's model")
_SAMPLE_CHANGE = g - g_w
_JENSEN = Term(1 / E_k, square(_SAMPLE_CHANGE - LocalSum(_SAMPLE_CHANGE) / E_k), summed=True)
_CONTRACTION = [
    Term(2 * mu / E_k, strong_convexity(J_k, w_o_k, phi)),
    Term(2 * mu / E_k, strong_convexity(J_k, phi, w_o_k)),
    Term(mu**2 / E_k**2, lipschitz_gradient(J_k, phi, w_o_k)),
    Term(mu**2 / E_k**2, assumption("variance at a local iterate")),
]
_STEP_WITHOUT_CONTRACTION = [*_CONTRACTION, Term(1 - local_rate(mu), square(w_o_k - phi))]
_NOISE_OF_STEP = mu**2 * sigma_k**2 / E_k**2
_BATCHES = Term(1 / (L * E_k**2), _AT_SERVER, averaged=True, summed=True)


def _bound_dissimilarity(at: Expr) -> list[Term]:
    """Bound the difference of the gradients of J and J_k by the distances from their minimisers."""
    change = Gradient(J, at) - Gradient(J, w_o) - (Gradient(J_k, w_o_k) - Gradient(J_k, at))
    return [
        Term(SAMPLING, square(change), averaged=True),
        Term(2 * SAMPLING, lipschitz_gradient(J, at, w_o), averaged=True),
        Term(2 * SAMPLING, lipschitz_gradient(J_k, at, w_o_k), averaged=True),
    ]


def _split_at_minimisers(at: Expr) -> list[Term]:
    """Bound the distance from an agent's minimiser by those between this, the common minimiser and a point."""
    coefficient = beta_k**2 / (E_k * L) + 2 * SAMPLING * delta_k**2
    return [
        Term(coefficient, square((w_o_k - w_o) - (w_o - at)), averaged=True),
        Term(2 * coefficient, assumption("distance of the minimisers"), averaged=True),
    ]


FEDERATED = [_BATCHES, *_bound_dissimilarity(w), *_split_at_minimisers(w)]
"""Bound on the variance of the federated gradient."""
_DISTANCE_IN_ROUND = Induction(
    measured=norm_sq(w_o_k - phi),
    factor=_ONE,
    offset=_NOISE_OF_STEP,
    terms=_STEP_WITHOUT_CONTRACTION,
    bound=norm_sq(w_o_k - w) + e * _NOISE_OF_STEP,
)


def _bound_norm(factor: Expr, remaining: Expr) -> list[Term]:
    """Bound the mean square of a gradient by the distance from the agent's minimiser, with `remaining` steps left."""
    return [
        Term(factor, lipschitz_gradient(J_k, phi, w_o_k)),
        Term(factor, assumption("variance at a local iterate")),
        Term(factor * curvature_k * _NOISE_OF_STEP * remaining, one()),
    ]


def _bound_step_norm(factor: Expr) -> list[Term]:
    return [
        *_bound_norm(factor, E_k - e),
        Term(factor * curvature_k, assumption("vlaski2023:eq-5.52.fixed, relation 3")),
    ]


_STEP_SIZE_SQ = mu**2 / E_k**2
_DISTANCE_FROM_SERVER = Induction(
    measured=norm_sq(phi - w),
    factor=1 + 1 / e,
    offset=(1 + e) * _STEP_SIZE_SQ * gradient_bound_k,
    terms=[Term(1 / e, square((phi - w) + e * mu / E_k * g)), *_bound_step_norm((1 + e) * _STEP_SIZE_SQ)],
    bound=e**2 * _STEP_SIZE_SQ * gradient_bound_k,
    first=_bound_norm(_STEP_SIZE_SQ, E_k),
)
_ENERGY = [
    Term(mu**2 / E_k, square(_SAMPLE_CHANGE - LocalSum(_SAMPLE_CHANGE) / E_k), averaged=True, summed=True),
    Term(mu**2 / E_k, assumption("mean-square smoothness"), averaged=True, summed=True),
    Term(mu**2 * hat_delta_k**2 / E_k, assumption("vlaski2023:eq-5.53.way, relation 2"), averaged=True, summed=True),
]
_PARTICIPANTS = Term(mu**2, mean_of_drawn(d_k))

_IDENTITIES = {
    "eq-5.7": 3,
    "eq-5.8": 1,
    "eq-5.12": 2,
    "eq-5.14": 1,
    "eq-5.17": 1,
    "eq-5.18": 2,
    "eq-5.21.fixed": 2,
    "eq-5.23-5.24": 3,
    "eq-5.25.steps-a-b": 3,
    "eq-5.25": 3,
    "eq-5.25.participation-mean.fixed": 1,
    "eq-5.26": 2,
    "eq-5.27": 1,
    "eq-5.29": 1,
    "lemma-5.1": 3,
    "eq-5.44-5.45.fixed": 2,
    "eq-5.48": 2,
    "problem-5.1": 2,
    "problem-5.2": 6,
}
"""Claims whose links the kernel proves as identities, with their numbers of links."""

CERTIFICATES = [
    *(Certificate(claim=f"vlaski2023:{name}", links=[[]] * count) for name, count in _IDENTITIES.items()),
    Certificate(
        claim="vlaski2023:eq-5.7.variances",
        links=[
            [],
            [
                Term(step**2 * (K - L) / (K * L), square(batch_gradient - grad_k), averaged=True),
                Term(step**2 * SAMPLING, square(grad_k - grad), averaged=True),
            ],
            [],
        ],
    ),
    Certificate(claim="vlaski2023:eq-5.28", links=[[Term(_ONE, _AT_SERVER)]]),
    Certificate(claim="vlaski2023:eq-5.30", links=[[Term(1 / E_k**2, _AT_SERVER, summed=True)]]),
    Certificate(claim="vlaski2023:eq-5.34-5.37", links=[[], [], [Term(1 / E_k**2, _AT_SERVER, summed=True)]]),
    Certificate(claim="vlaski2023:eq-5.38.lemma-step", links=[[_BATCHES]]),
    Certificate(
        claim="vlaski2023:eq-5.38.steps-a-d.fixed",
        links=[[], _bound_dissimilarity(x), _split_at_minimisers(x)],
    ),
    Certificate(claim="vlaski2023:eq-5.38.final", links=[FEDERATED]),
    Certificate(claim="vlaski2023:claim.heterogeneity-in-noise", links=[FEDERATED, []]),
    Certificate(claim="vlaski2023:eq-5.42", links=[[_JENSEN]]),
    Certificate(claim="vlaski2023:condition-5.1", links=[[Term(_ONE, assumption("mean-square smoothness"))]]),
    Certificate(
        claim="vlaski2023:eq-5.47",
        links=[[_JENSEN, Term(1 / E_k, assumption("mean-square smoothness"), summed=True)]],
    ),
    Certificate(claim="vlaski2023:eq-5.49.fixed", links=[_CONTRACTION]),
    Certificate(claim="vlaski2023:eq-5.51.fixed", links=[_STEP_WITHOUT_CONTRACTION]),
    Certificate(
        claim="vlaski2023:eq-5.52.fixed",
        links=[_DISTANCE_IN_ROUND, [Term(_NOISE_OF_STEP * (E_k - e - 1), one())], _DISTANCE_IN_ROUND],
    ),
    Certificate(
        claim="vlaski2023:eq-5.53.way",
        links=[_bound_step_norm(_ONE), _DISTANCE_FROM_SERVER],
        lemmas=["vlaski2023:eq-5.52.fixed"],
    ),
    Certificate(
        claim="vlaski2023:eq-5.54.sharp",
        links=[[_PARTICIPANTS], _ENERGY],
        lemmas=["vlaski2023:eq-5.53.way"],
    ),
    Certificate(claim="vlaski2023:eq-5.41.fixed", links=[[], [_PARTICIPANTS], []]),
]
