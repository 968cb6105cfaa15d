"""Certificates for S. Vlaski and A. H. Sayed, *Federated Learning* (2023)."""

from __future__ import annotations

import sympy as sp

from fedtheory.expressions import Expr, Gradient, LocalSum, norm_sq
from fedtheory.kernel import Term, assumption, lipschitz_gradient, mean_of_drawn, one, square, strong_convexity
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import CURVATURE, ONE, Combination, Part
from fedtheory.proofs.induction import Induction
from fedtheory.proofs.roots import Root
from fedtheory.sources.vlaski2023.local_error import length_sq_k
from fedtheory.sources.vlaski2023.notation import (
    SAMPLING,
    E_k,
    J,
    J_k,
    L,
    alpha,
    beta_fed_sq,
    beta_k,
    d,
    d_k,
    delta,
    delta_k,
    e,
    g,
    g_w,
    global_rate,
    hat_delta_k,
    local_rate,
    mu,
    mu_k,
    nu,
    phi,
    rate,
    sigma_fed_sq,
    sigma_k,
    w,
    w_o,
    w_o_k,
    x,
)
from fedtheory.sources.vlaski2023.proof import s, share, stable, towards, z
from fedtheory.sources.vlaski2023.theorem import curvature_k, travel

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


_SETTLING_DOWN = Induction(
    measured=norm_sq(w_o_k - phi),
    factor=_ONE,
    offset=_SETTLING,
    terms=_SETTLED,
    bound=norm_sq(w_o_k - w) + e * _SETTLING,
)


def _length(factor: Expr, left: Expr) -> list[Term]:
    """The mean square of a gradient by the distance from the agent's minimiser, with so many steps left."""
    return [
        Term(factor, lipschitz_gradient(J_k, phi, w_o_k)),
        Term(factor, assumption("variance at a local iterate")),
        Term(factor * curvature_k * _SETTLING * left, one()),
    ]


def _length_of_step(factor: Expr) -> list[Term]:
    return [*_length(factor, E_k - e), Term(factor * curvature_k, assumption("vlaski2023:eq-5.52.fixed, relation 3"))]


_SIZE_SQ = mu**2 / E_k**2
_AWAY = Induction(
    measured=norm_sq(phi - w),
    factor=1 + 1 / e,
    offset=(1 + e) * _SIZE_SQ * length_sq_k,
    terms=[Term(1 / e, square((phi - w) + e * mu / E_k * g)), *_length_of_step((1 + e) * _SIZE_SQ)],
    bound=e**2 * _SIZE_SQ * length_sq_k,
    first=_length(_SIZE_SQ, E_k),
)
_ENERGY = [
    Term(mu**2 / E_k, square(_MOVED - LocalSum(_MOVED) / E_k), averaged=True, summed=True),
    Term(mu**2 / E_k, assumption("mean-square smoothness"), averaged=True, summed=True),
    Term(mu**2 * hat_delta_k**2 / E_k, assumption("vlaski2023:eq-5.53.way, relation 2"), averaged=True, summed=True),
]
_PARTICIPANTS = Term(mu**2, mean_of_drawn(d_k))

# The error after a round without the perturbation, and the perturbation, with the normalised step sizes.
_TOWARDS, _PERTURBATION = (vector.xreplace({mu_k: mu / E_k}) for vector in (towards, d))


def _young(weight: Expr) -> Term:
    """The square of the error after a round, split with a weight between zero and one."""
    return Term(1 / (weight * (1 - weight)), square((1 - weight) * _TOWARDS - weight * _PERTURBATION))


# The root of lambda, which is (1 - mu nu)^2 and what curvatures and noise add to it.
_r, _r_positive = sp.Symbol(r"\sqrt\lambda", nonnegative=True), sp.Symbol(r"\sqrt\lambda", positive=True)


def _rate_parts(size: Expr, square: Expr) -> list[Part]:
    """Lambda at a step size, above a square of what 1 - mu nu may be."""
    return [
        Part(square, ONE),
        Part(size**2 * (delta + nu), CURVATURE),
        Part(size**2 * beta_fed_sq, ONE),
    ]


_RATE = Root(_r, rate, _rate_parts(mu, (1 - mu * nu) ** 2))
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

# The error after a round, by the round without the perturbation and the energy of the perturbation.
_SHARP_ID = "vlaski2023:eq-5.54.sharp"
_SHARP = [Term(_ONE, assumption(f"{_SHARP_ID}, relation {number}")) for number in (1, 2)]
_POSITIVE = Root(_r_positive, rate, [Part(_ONE, rate > 0)])


def _error_recursion(weight: Expr) -> list[Term]:
    return [_young(weight), *_times(1 / weight, [*_ROUND, *_times(mu**2, _FEDERATED)])]


def _at_root(root: sp.Symbol) -> list[Term]:
    return [*_error_recursion(root), *_times(1 / (1 - root), _SHARP)]


_KEPT, _DOUBLED = mu**4 * travel / (1 + _r_positive), 2 * mu**4 * travel / (1 - _r_positive**2)
_RECURSION = [
    *_at_root(_r_positive),
    Term(mu**2 * sigma_fed_sq * (2 * _r_positive - 1) / _r_positive, one()),
    Term(_KEPT * curvature_k, square(w_o_k - w), averaged=True),
    Term(_KEPT * (curvature_k * mu**2 * sigma_k**2 / E_k + sigma_k**2), one(), averaged=True),
    Term(_DOUBLED * curvature_k, square((w_o_k - w_o) - (w_o - w)), averaged=True),
    Term(2 * _DOUBLED * curvature_k, assumption("distance of the minimisers"), averaged=True),
]

_IDENTITIES = {
    "eq-5.7": 3,
    "eq-5.8": 1,
    "eq-5.12": 2,
    "eq-5.14": 1,
    "eq-5.17": 1,
    "eq-5.18": 2,
    "eq-5.21.fixed": 2,
    "eq-5.23-5.24": 3,
    "eq-5.25": 4,
    "eq-5.25.participation-mean.fixed": 1,
    "eq-5.26": 2,
    "eq-5.27": 1,
    "eq-5.29": 1,
    "lemma-5.1": 3,
    "eq-5.44-5.45.fixed": 2,
    "eq-5.48": 2,
    "problem-5.2": 6,
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
        links=[_SETTLING_DOWN, [Term(_SETTLING * (E_k - e - 1), one())], _SETTLING_DOWN],
    ),
    Certificate(
        claim="vlaski2023:eq-5.53.way",
        links=[_length_of_step(_ONE), _AWAY],
        lemmas=["vlaski2023:eq-5.52.fixed"],
    ),
    Certificate(
        claim="vlaski2023:eq-5.54.sharp",
        links=[[_PARTICIPANTS], _ENERGY],
        lemmas=["vlaski2023:eq-5.53.way"],
    ),
    Certificate(claim="vlaski2023:eq-5.41.fixed", links=[[], [_PARTICIPANTS], []]),
    Certificate(claim="vlaski2023:eq-5.58.fixed", links=[[], [_young(share)]]),
    Certificate(
        claim="vlaski2023:eq-5.61.fixed",
        links=[_error_recursion(share), _times(1 / (1 - share), _SHARP)],
        lemmas=[_SHARP_ID],
    ),
    Certificate(
        claim="vlaski2023:eq-5.62.explicit",
        links=[_at_root(_r_positive)],
        lemmas=[_SHARP_ID],
        roots=[_POSITIVE],
    ),
    Certificate(
        claim="vlaski2023:thm-5.1.recursion.explicit",
        links=[_RECURSION],
        lemmas=[_SHARP_ID],
        roots=[_POSITIVE_RATE],
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
