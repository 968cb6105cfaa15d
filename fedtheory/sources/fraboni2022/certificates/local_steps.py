"""Certificates of relations at a local step: Lemmas 1 to 7 before any average over the updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import (
    InequalityRef,
    Term,
    assumption,
    cocoercivity,
    convexity,
    lipschitz_gradient,
    one,
    optimality,
    smoothness,
    square,
    steps,
    unweighted,
    weighted,
)
from fedtheory.kernel.expressions import Average, Expr, Gradient, LocalSum
from fedtheory.proofs.certificate import BothWays, Certificate, Link
from fedtheory.proofs.numbers import SymbolTable
from fedtheory.sources.fraboni2022.context.updates import (
    APART_AT_LEAST,
    APART_AT_MOST,
    MOVED,
    MOVED_FROM_Y,
    OPTIMUM_SAMPLES,
    PAST_MOVES,
    SAME_OPTIMUM,
    STALE_SAMPLES,
    WEIGHTS_AT_LEAST,
    WEIGHTS_AT_MOST,
    absent,
    age,
    at_local,
    at_optimum,
    at_virtual,
    client_objective,
    client_optimum,
    comparator,
    deviation,
    excess,
    local,
    move,
    optimum_noise,
    present,
    pull,
    received,
    round_optimum,
    sample,
    server,
    square_of_weight,
    surrogate_optimum,
    virtual,
    virtual_noise,
    write_weighted_sum,
)
from fedtheory.sources.fraboni2022.statements.convergence import chi_n
from fedtheory.sources.fraboni2022.statements.inequalities import (
    L_i,
    mean_model,
    objective,
    theta_bar,
    theta_i_star,
    theta_ik,
    x,
)
from fedtheory.sources.fraboni2022.statements.lemma_3_proof import k
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.weights_lemmas import largest_share

ONE = sp.S.One


def _make_client_average(coefficient: Expr, reason: InequalityRef) -> Term:
    """Return a term averaged over clients with their normalised weights."""
    return Term(coefficient, reason, averaged=True)


def _average_terms(terms: Sequence[Term]) -> list[Term]:
    """Return terms averaged over clients with their normalised weights."""
    return [replace(term, averaged=True) for term in terms]


def _multiply(factor: Expr, terms: Sequence[Term]) -> list[Term]:
    """Return a multiple of terms."""
    return [replace(term, coefficient=factor * term.coefficient) for term in terms]


def _sum_over_steps(factor: Expr, terms: Sequence[Term]) -> list[Term]:
    """Return the sum over the local steps of a multiple of terms."""
    return [replace(term, summed=True) for term in _multiply(factor, terms)]


def _split_in_three(u: Expr, v: Expr, w: Expr) -> list[Term]:
    """Return the terms of 3 |u|^2 + 3 |v|^2 + 3 |w|^2 - |u + v + w|^2."""
    return [Term(ONE, square(one - other)) for one, other in ((u, v), (v, w), (u, w))]


_STALE_CHANGE, _OPTIMUM_CHANGE = at_local - at_virtual, at_virtual - at_optimum
"""Changes of a sampled gradient from the virtual iterate to the local one, and from the optimum to the virtual one."""
SLOPE = Gradient(client_objective, virtual)
_GRADIENT_CHANGE = SLOPE - Gradient(client_objective, round_optimum)


def _subtract_average(vector: Expr) -> Expr:
    """Return a client's vector minus the client average."""
    return vector - Average(vector)


def _average_over_steps(terms: Sequence[Term]) -> list[Term]:
    """Return the time average of terms over the local steps."""
    return _sum_over_steps(1 / K, terms)


_STALENESS = [
    _make_client_average(ONE, square(_subtract_average(_STALE_CHANGE))),
    _make_client_average(ONE, assumption(STALE_SAMPLES)),
]
"""L_xi^2 phi(n,k) minus the squared norm of the mean change of the gradients between local and virtual iterates."""
_AT_VIRTUAL = [
    _make_client_average(3 * qt_in, square(SLOPE)),
    _make_client_average(3 * qt_in, square(at_virtual - 2 * at_optimum)),
    _make_client_average(6 * (1 - qt_in), square(_OPTIMUM_CHANGE)),
    _make_client_average(sp.Integer(9), assumption(OPTIMUM_SAMPLES)),
    _make_client_average(sp.Integer(3), square(virtual_noise - optimum_noise)),
    _make_client_average(sp.Integer(3), square(_subtract_average(_GRADIENT_CHANGE))),
]
"""18 L_xi Z(n,k)/q(n) + 6 sigma_2(n) minus 3 E|sum_i q~_i(n) g_i(theta^{n,k})|^2."""

_SYMBOL = SymbolTable(WHERE)
_APPLIED_SPREAD = sample - eta_g * write_weighted_sum(_SYMBOL, sample)
"""g_i - eta_g sum_j w_j g_j."""

_SECOND_MOMENT = [
    Term(eta_g**2, assumption(WEIGHTS_AT_MOST)),
    Term(2 * eta_g, assumption(APART_AT_MOST), averaged=True),
    Term(2 * eta_g**2 * q_n, assumption(APART_AT_LEAST), averaged=True),
    Term(eta_g**2 * (rho - q_n) * beta, square(sample), averaged=True),
    Term(eta_g**2 * q_n * (beta - square_of_weight + alpha * q_n * qt_in), square(sample), averaged=True),
    Term(excess, square(_subtract_average(sample)), averaged=True),
    Term((q_n / rho) ** 2 * (excess - eta_g * rho * (alpha * eta_g * rho - 2)), square(Average(sample))),
    Term((1 - (q_n / rho) ** 2) * excess, square(Average(sample))),
    Term(2 * eta_g * q_n * (1 - q_n / rho), square(Average(sample))),
]
"""kappa mean |g_i|^2 - mean |g_i - eta_g sum_j w_j g_j|^2."""

_SELECTED_AT_MOST = [
    Term(ONE, assumption(WEIGHTS_AT_MOST)),
    Term(2 * q_n, assumption(APART_AT_LEAST), averaged=True),
]
"""sum_i gamma_i |g_i|^2 + alpha |sum_i q_i g_i|^2 - |sum_i w_i g_i|^2, which is zero."""
_SELECTED_AT_LEAST = [Term(ONE, assumption(WEIGHTS_AT_LEAST)), Term(2 * q_n, assumption(APART_AT_MOST), averaged=True)]
_SELECTED = BothWays(_SELECTED_AT_MOST, _SELECTED_AT_LEAST)
_EXCESS = Term(q_n * (beta - square_of_weight + alpha * q_n * qt_in), square(at_local), averaged=True)
"""beta q mean |g_i|^2 - sum_i gamma_i |g_i|^2."""

_GAMMA = q_n * qt_in * (square_of_weight - alpha * q_n * qt_in)
"""gamma_i(n)."""
_LEMMA_1: list[Link] = [
    _SELECTED,
    [Term(_GAMMA, one())],
    [Term(q_n * qt_in * (beta - square_of_weight + alpha * q_n * qt_in), one())],
]
_PROGRESS = _sum_over_steps(tilde_eta**2 / K, [*_SELECTED_AT_MOST, _EXCESS])
"""eta~^2 [alpha q^2 R(n) + beta q S(n)] minus the mean over k of |theta^{n,k+1} - theta^{n,k}|^2."""


def _bound_mixing(moved: str) -> list[Term]:
    """Return 2 D_omega - 2 D + eta~ (K-1) beta q S(n), given the movement `moved` of the virtual iterate."""
    return [
        Term(1 / K, assumption(moved)),
        Term(tilde_eta / K, steps(Average(deviation))),
        *_sum_over_steps(
            tilde_eta * (K - 1) / K,
            [Term(ONE, assumption(WEIGHTS_AT_MOST)), Term((1 - alpha) * q_n**2, square(Average(at_local))), _EXCESS],
        ),
    ]


_MIXING = _bound_mixing(MOVED)


def _align(point: Expr) -> list[Term]:
    """Return 2 D - 2 Xi + L q phi(n) for a point, by convexity and smoothness of each client's loss."""
    return [
        Term(2 * q_n / K, reason, averaged=True, summed=True)
        for reason in (smoothness(client_objective, virtual, local), convexity(client_objective, point, local))
    ]


_SPLIT = [
    Term(ONE, square(received - server + eta_l * LocalSum(_APPLIED_SPREAD))),
    Term(2 * eta_l**2, steps(_APPLIED_SPREAD)),
]

_CAUCHY = [
    Term(sp.Integer(2), weighted(present, pull, SLOPE)),
    Term(sp.Integer(2), weighted(absent, ONE, SLOPE)),
    Term(ONE, square(Average((present * pull - absent) * SLOPE))),
]
"""Cauchy-Schwarz over the clients whose types have a weight, and over the others."""
_CLIENT_GAPS = [
    _make_client_average(
        4 * L * (chi_n * present + Average(absent) * absent), cocoercivity(client_objective, virtual, client_optimum)
    ),
    _make_client_average(4 * L * (1 - Average(absent)) * absent, optimality(client_objective, virtual)),
]

CERTIFICATES = [
    Certificate(
        claim="fraboni2022:eq-43",
        links=[
            [Term(2 * L, cocoercivity(L_i, x, theta_i_star))],
            [Term(sp.S.One, lipschitz_gradient(L_i, x, theta_bar))],
        ],
    ),
    Certificate(
        claim="fraboni2022:eq-44-45.objective",
        links=[[_make_client_average(ONE, convexity(objective, theta_ik, mean_model))]],
    ),
    Certificate(
        claim="fraboni2022:eq-44-45",
        links=[
            [_make_client_average(ONE, square(_subtract_average(at_local)))],
            [_make_client_average(qt_in, square(SLOPE))],
        ],
    ),
    Certificate(claim="fraboni2022:lemma-1", links=_LEMMA_1),
    Certificate(claim="fraboni2022:lemma-1.schedules", links=_LEMMA_1),
    Certificate(
        claim="fraboni2022:lemma-1.remark.fixed",
        links=[
            [Term(q_n**2 * (largest_share - qt_in), square(at_local), averaged=True)],
            [Term(q_n**2 / M, unweighted(at_local))],
        ],
    ),
    Certificate(claim="fraboni2022:lemma-1.remark.alpha.fixed", links=[_SELECTED]),
    Certificate(
        claim="fraboni2022:lemma-2.fixed",
        links=[[*_PROGRESS, *_multiply(tilde_eta, _MIXING)], _PROGRESS, _MIXING],
    ),
    *(
        Certificate(
            claim=name,
            links=[_sum_over_steps(tilde_eta**2 / K, [Term(ONE, assumption(WEIGHTS_AT_MOST)), _EXCESS])],
        )
        for name in ("fraboni2022:lemma-2.given-weights", "fraboni2022:lemma-2.given-weights.any-point")
    ),
    Certificate(claim="fraboni2022:lemma-2.eq-57-58.fixed", links=[[]]),
    Certificate(
        claim="fraboni2022:lemma-2.eq-59.fixed",
        links=[
            BothWays(
                [Term(tilde_eta**2, assumption(WEIGHTS_AT_MOST))], [Term(tilde_eta**2, assumption(WEIGHTS_AT_LEAST))]
            )
        ],
    ),
    Certificate(
        claim="fraboni2022:lemma-2.eq-59.random-weights",
        links=[BothWays(_multiply(tilde_eta**2, _SELECTED_AT_MOST), _multiply(tilde_eta**2, _SELECTED_AT_LEAST))],
    ),
    Certificate(
        claim="fraboni2022:lemma-3.eq-64-66.fixed",
        links=[
            _SPLIT,
            _average_terms(_SPLIT),
            _sum_over_steps(2 * eta_l**2 * k, _SECOND_MOMENT),
        ],
    ),
    Certificate(
        claim="fraboni2022:lemma-3.eq-67-68.fixed",
        links=[
            _split_in_three(_STALE_CHANGE, _OPTIMUM_CHANGE, at_optimum),
            [_make_client_average(ONE, assumption(STALE_SAMPLES))],
            [_make_client_average(ONE, assumption(OPTIMUM_SAMPLES))],
            [
                *_average_terms(_split_in_three(_STALE_CHANGE, _OPTIMUM_CHANGE, at_optimum)),
                _make_client_average(sp.Integer(3), assumption(STALE_SAMPLES)),
                _make_client_average(sp.Integer(3), assumption(OPTIMUM_SAMPLES)),
            ],
        ],
    ),
    Certificate(
        claim="fraboni2022:lemma-3.eq-70-71.stale",
        links=[
            [
                Term(ONE, steps(move)),
                Term(tau - age, square(move), summed=True),
                Term(tau, assumption(PAST_MOVES)),
            ]
        ],
    ),
    Certificate(claim="fraboni2022:lemma-4.proof", links=[_align(surrogate_optimum)]),
    Certificate(
        claim="fraboni2022:thm-1.any-point.progress",
        links=[[*_PROGRESS, *_multiply(tilde_eta, _bound_mixing(MOVED_FROM_Y))]],
    ),
    Certificate(claim="fraboni2022:thm-1.any-point.spread", links=[_align(comparator)]),
    Certificate(
        claim="fraboni2022:lemma-5.steps.fixed",
        links=[
            [
                _make_client_average(sp.Integer(3), square(_subtract_average(_STALE_CHANGE))),
                _make_client_average(sp.Integer(3), assumption(STALE_SAMPLES)),
            ],
            [
                _make_client_average(6 * largest_share, assumption(OPTIMUM_SAMPLES)),
                _make_client_average(6 * (largest_share - qt_in), square(_OPTIMUM_CHANGE)),
            ],
            [
                _make_client_average(6 * qt_in / K, assumption(SAME_OPTIMUM)),
                *_average_over_steps(
                    [
                        *_split_in_three(*map(Average, (_STALE_CHANGE, virtual_noise, SLOPE))),
                        *_multiply(sp.Integer(3), _STALENESS),
                        *_AT_VIRTUAL,
                    ]
                ),
            ],
        ],
    ),
    Certificate(
        claim="fraboni2022:lemma-5.two-parts",
        links=[
            [
                _make_client_average(6 * qt_in / K, assumption(SAME_OPTIMUM)),
                *_average_over_steps(
                    [
                        Term(sp.S.Half, square(Average(_STALE_CHANGE - 2 * at_virtual))),
                        *_multiply(sp.Rational(3, 2), _STALENESS),
                        *_AT_VIRTUAL,
                    ]
                ),
            ],
        ],
    ),
    Certificate(
        claim="fraboni2022:lemma-6.steps.move",
        links=[
            [
                Term(tilde_eta**2, steps(write_weighted_sum(_SYMBOL, at_local))),
                *_sum_over_steps(tilde_eta**2 * K, [*_SELECTED_AT_MOST, _EXCESS]),
            ]
        ],
    ),
    Certificate(claim="fraboni2022:lemma-7.steps", links=[_CAUCHY, _CLIENT_GAPS]),
    Certificate(claim="fraboni2022:lemma-7", links=[[*_CAUCHY, *_CLIENT_GAPS]]),
    Certificate(
        claim="fraboni2022:eq-104",
        links=[[Term(ONE, square(Average((present * (1 - pull) - absent) * SLOPE)))]],
    ),
    Certificate(
        claim="fraboni2022:eq-105.round",
        links=[
            [
                _make_client_average(2 * L, cocoercivity(client_objective, virtual, round_optimum)),
                _make_client_average(ONE, square(_subtract_average(_GRADIENT_CHANGE))),
            ],
            [],
        ],
    ),
]
