"""Certificates for the landmarks, which the kernel checks with the definitions of the algorithms."""

from __future__ import annotations

import sympy as sp

from fedtheory.federation.algorithms import dsgd, fedavgm, scaffnew
from fedtheory.kernel import Term, assumption, cocoercivity, square, strong_convexity
from fedtheory.kernel.expressions import Average, Expr, Gradient, norm_sq
from fedtheory.proofs.cases import Case, Cases
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.definitions import ALIKE, CLIENT_OBJECTIVE, MIXING, NOISE, OBJECTIVE, OPTIMUM, state
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.lyapunov import OPTIMUM_GRADIENTS, START_DISTANCE, Lyapunov
from fedtheory.sources.landmarks.statements import (
    D,
    F_i,
    G_star,
    L,
    M,
    beta,
    eta,
    mixing_loss,
    mu,
    mu_prox,
    p,
    rho,
    scaffnew_factor,
    sigma,
    y,
    z,
    zeta,
)


def _certify_scaffnew(factor: Expr) -> Lyapunov:
    """Return a certificate: |x_i - x*|^2 contracts by 1 - eta mu, and |h_i - grad F_i(x*)|^2 by 1 - p^2."""
    x_i, h_i = state(scaffnew.x), state(scaffnew.h)
    distance, at_optimum = x_i - OPTIMUM, Gradient(CLIENT_OBJECTIVE, OPTIMUM)
    control_error, change = h_i - at_optimum, Gradient(CLIENT_OBJECTIVE, x_i) - at_optimum
    both_ways = [(x_i, OPTIMUM), (OPTIMUM, x_i)]
    return Lyapunov(
        claim="landmarks:scaffnew.contraction",
        function=Average(norm_sq(distance)) + (eta / p) ** 2 * Average(norm_sq(control_error)),
        factor=factor,
        offset=eta**2 * sigma**2,
        level=D**2 + (eta / p) ** 2 * G_star**2,
        least=1 - p**2,
        round=[
            *(Term(eta, cocoercivity(CLIENT_OBJECTIVE, *points), averaged=True) for points in both_ways),
            *(Term(eta, strong_convexity(CLIENT_OBJECTIVE, *points), averaged=True) for points in both_ways),
            Term(eta * (1 / L - eta), square(change), averaged=True),
            Term(factor - (1 - eta * mu), square(distance), averaged=True),
            Term((eta / p) ** 2 * (factor - (1 - p**2)), square(control_error), averaged=True),
            Term(eta**2, assumption("bounded variance"), averaged=True),
        ],
        model=[
            Term(sp.S.One, square(x_i - Average(x_i)), averaged=True),
            Term((eta / p) ** 2, square(control_error), averaged=True),
        ],
        start=[
            Term(sp.S.One, assumption(START_DISTANCE)),
            Term((eta / p) ** 2, assumption(OPTIMUM_GRADIENTS)),
        ],
    )


def _certify_dsgd() -> Lyapunov:
    """Return a certificate: gradient steps of F do not increase the consensus error, the dissimilarity does."""
    x_i = state(dsgd.x)
    mean, gradient = Average(x_i), Gradient(OBJECTIVE, x_i)
    deviation, change = Gradient(CLIENT_OBJECTIVE, x_i) - gradient, gradient - Gradient(OBJECTIVE, mean)
    moved = x_i - eta * gradient
    drift, factor, offset = moved - Average(moved), (1 + rho**2) / 2, rho**2 * eta**2 * (1 + rho**2) / mixing_loss
    return Lyapunov(
        claim="landmarks:dsgd.consensus",
        function=Average(norm_sq(x_i - mean)),
        factor=factor,
        offset=offset * zeta**2 + rho**2 * eta**2 * sigma**2,
        level=sp.S.Zero,
        round=[
            Term(sp.S.One, assumption(MIXING)),
            Term(
                mixing_loss / 2,
                square(drift + 2 * rho**2 * eta / mixing_loss * (deviation - Average(deviation))),
                averaged=True,
            ),
            Term(factor, square(Average(moved) - mean + eta * Gradient(OBJECTIVE, mean))),
            *(
                Term(2 * eta * factor, cocoercivity(OBJECTIVE, *points), averaged=True)
                for points in ((x_i, mean), (mean, x_i))
            ),
            Term(eta * (2 / L - eta) * factor, square(change), averaged=True),
            Term(offset, assumption(ALIKE), averaged=True),
            Term(offset, square(Average(deviation))),
            Term(rho**2 * eta**2, assumption("bounded variance"), averaged=True),
            Term(rho**2 * eta**2, square(Average(NOISE))),
        ],
    )


def _certify_fedavgm() -> Lyapunov:
    """Return a certificate: z = x + beta/(1 - beta) v takes steps of size eta/(1 - beta), and v decays."""
    x, v = state(fedavgm.x), state(fedavgm.v)
    velocity, gradient, scale = v / (1 - beta), Gradient(OBJECTIVE, x), 1 + beta**2
    distance = x - OPTIMUM
    ahead, size = distance + beta * velocity, eta / (1 - beta)
    both_ways = [(x, OPTIMUM), (OPTIMUM, x)]
    return Lyapunov(
        claim="landmarks:fedavgm.contraction",
        function=scale * (norm_sq(ahead) + norm_sq(v) / (1 - beta) ** 2),
        factor=1 - size * mu / 2,
        offset=2 * scale * size**2 * sigma**2 / M,
        level=scale * D**2,
        round=[
            *(Term(scale * size, cocoercivity(OBJECTIVE, *points)) for points in both_ways),
            *(Term(scale * size, strong_convexity(OBJECTIVE, *points)) for points in both_ways),
            Term(scale * size * (1 / L - 2 * eta * (1 + beta) / (1 - beta) ** 2), square(gradient)),
            Term(scale * beta / (1 - beta), square(v + 2 * size * gradient)),
            Term(scale / (1 - beta) * (1 - 3 * eta * mu / (2 * (1 - beta) ** 2)), square(v)),
            Term(scale * eta * mu * (1 + beta) / (1 - beta) ** 2, square(v)),
            Term(scale * size * mu / 2, square(distance - beta * velocity)),
            Term(2 * scale * size**2 / M, assumption("bounded variance"), averaged=True),
        ],
        model=[Term(sp.S.One, square(beta * ahead + velocity))],
        start=[Term(scale, assumption(START_DISTANCE))],
    )


def _certify_fedprox() -> Certificate:
    """Return a certificate: the proximal term and the gradient contract distances."""
    rest = 1 - eta * mu_prox
    return Certificate(
        claim="landmarks:fedprox.local-step",
        links=[
            [
                Term(2 * rest * eta, strong_convexity(F_i, y, z)),
                Term(2 * rest * eta, cocoercivity(F_i, z, y)),
                Term(eta * (rest / L - eta), square(Gradient(F_i, y) - Gradient(F_i, z))),
            ]
        ],
    )


CERTIFICATES = [
    FixedPoint(claim="landmarks:fedavg.at-rest", local_step="single"),
    FixedPoint(claim="landmarks:scaffold.at-rest", local_step="idle"),
    FixedPoint(claim="landmarks:scaffnew.at-rest", local_step="idle"),
    FixedPoint(claim="landmarks:fedavgm.at-rest", local_step="single"),
    _certify_dsgd(),
    _certify_fedavgm(),
    _certify_fedprox(),
    Cases(
        claim="landmarks:scaffnew.contraction",
        cases=[Case(one, _certify_scaffnew(one)) for one in scaffnew_factor.args],
    ),
]
