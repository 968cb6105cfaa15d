"""Certificates for T. Renard, *Notes on Federated Optimization* (2022)."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, assumption, cocoercivity, convexity, one, smoothness, square
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs import distances as pair
from fedtheory.proofs import facts
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.distances import PAIR, SPREAD
from fedtheory.proofs.induction import k
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import Part
from fedtheory.proofs.recursion import Recursion
from fedtheory.sources.renard2022.statements.any_point import v
from fedtheory.sources.renard2022.statements.notation import (
    F,
    F_i,
    L,
    M,
    T,
    eta,
    lam,
    sigma,
    tau,
    x,
    x_i,
    x_star,
    xbar,
    xbar_next,
    y,
    z,
    zeta,
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

# Two clients: their distance, the gradients of F at both, and the deviation of their gradients from those of F.
_APART = pair.x_i - pair.x_j
_PULL = Gradient(pair.F, pair.x_i) - Gradient(pair.F, pair.x_j)
_MISFIT_I, _MISFIT_J = pair.SLOPE_I - Gradient(pair.F, pair.x_i), pair.SLOPE_J - Gradient(pair.F, pair.x_j)
_WIDE_STEP, _HALF_STEP = eta <= 2 / L, eta <= 1 / (2 * L)


def _bound_gradient_step(factor: sp.Expr) -> list[Term]:
    """Return terms: a gradient step on F does not increase the distance of two points."""
    return [
        Term(2 * eta * factor, cocoercivity(pair.F, pair.x_i, pair.x_j)),
        Term(2 * eta * factor, cocoercivity(pair.F, pair.x_j, pair.x_i)),
        Term((2 * eta / L - eta**2) * factor, square(_PULL)),
    ]


def _bound_misfits(coefficient: sp.Expr) -> list[Term]:
    """Return terms: each of the two gradients differs from that of F by at most zeta."""
    return [
        Term(2 * coefficient, assumption("bounded dissimilarity of i")),
        Term(2 * coefficient, assumption("bounded dissimilarity of j")),
        Term(coefficient, square(_MISFIT_I + _MISFIT_J)),
    ]


_NOISES = [Term(eta**2, assumption(f"bounded variance of {name}")) for name in "ij"]


def _bound_pair_step(weight: sp.Expr) -> list[Term]:
    """Return one step of two clients without noise; Young's inequality with a weight."""
    return [
        Term(1 / weight, square(_APART - eta * _PULL + weight * eta * (_MISFIT_I - _MISFIT_J))),
        *_bound_gradient_step(1 + 1 / weight),
        *_bound_misfits((1 + weight) * eta**2),
    ]


_GROWING = k + tau / 2
"""A weight that grows over the round: dissimilarity alone would have k, noise alone a constant."""
_GROWING_PULL, _GROWING_NOISE = k * _GROWING, k * (1 + k / tau)
_NOISY_STEP = [*_bound_pair_step(tau), *_NOISES]
_OFFSET = 4 * (1 + tau) * eta**2 * zeta**2 + 2 * eta**2 * sigma**2
_ROUNDED = 8 * tau * eta**2 * zeta**2 + 2 * eta**2 * sigma**2
_GROWTH = k * (1 + k / tau)
_COUNTS, _SQUARES = k * (k - 1) / 2, k * (k - 1) * (2 * k - 1) / 6
"""Sums of j and of its square over j = 0 .. k-1."""
_SUMMED = _COUNTS + _SQUARES / tau

# All clients: their gradient steps on F, relative to that of their average.
_F_PULL = Gradient(F, x_i) - Gradient(F, xbar)
_MISFIT = Gradient(F_i, x_i) - Gradient(F, x_i)
_PULLED = (x_i - xbar) - eta * _F_PULL
_SPREAD_NOISE = (1 - 1 / M) * eta**2 * sigma**2
_SPREAD_OFFSET = (1 + tau) * eta**2 * zeta**2 + _SPREAD_NOISE


def _bound_spread_step(steps: sp.Expr) -> list[Term]:
    """Return one step of all clients; the weight of Young's inequality depends on the number of steps."""
    return [
        Term(1 / steps, square(_PULLED + steps * eta * _MISFIT), averaged=True),
        Term(2 * eta * (1 + 1 / steps), cocoercivity(F, x_i, xbar), averaged=True),
        Term(2 * eta * (1 + 1 / steps), cocoercivity(F, xbar, x_i), averaged=True),
        Term((2 * eta / L - eta**2) * (1 + 1 / steps), square(_F_PULL), averaged=True),
        Term((1 + steps) * eta**2, assumption("bounded dissimilarity"), averaged=True),
        Term(_ONE, square(Average(_PULLED - eta * _MISFIT))),
    ]


def _bound_halved_step(point: sp.Symbol) -> list[Term]:
    """Return one step, relative to x* or to any other point."""
    return [
        Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
        Term(_ONE, convexity(F_i, point, x_i), averaged=True),
        Term(eta * (1 - L * eta) / 2, square(Average(Gradient(F_i, x_i)))),
        Term(eta * (1 + L * eta) / (2 * M), assumption("bounded variance"), averaged=True),
    ]


_SHARE = 1 / (2 * eta * tau * T)
_TELESCOPED = [
    Part(_ONE, "renard2022:thm-2.1.proof.split.fixed"),
    Part(-_SHARE, facts.TELESCOPED_PROGRESS),
    Part(_SHARE, facts.FINAL_DISTANCE),
]

CERTIFICATES = [
    Certificate(claim="renard2022:property-2.2", links=[[Term(_ONE, convexity(F_i, y, x))]]),
    Certificate(claim="renard2022:property-2.2.converse", links=[[]]),
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
    Certificate(claim="renard2022:eq-9.fixed", links=[[], [], []]),
    Certificate(claim="renard2022:lemma-2.2.proof.noise-split.fixed", links=[_STEP, []]),
    Certificate(claim="renard2022:lemma-2.2.proof.polarize", links=[[], []]),
    Certificate(claim="renard2022:lemma-2.2.proof.squares.fixed", links=[_STEP]),
    Certificate(claim="renard2022:lemma-2.2.proof.expected", links=[_STEP]),
    Combination(claim="renard2022:lemma-2.2.proof.mark.fixed", links=[[]]),
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
        relaxed=[_HALF_STEP],
    ),
    MeanCertificate(
        claim="renard2022:lemma-2.2.fixed",
        step="renard2022:lemma-2.2.proof.last.fixed",
        span="round",
        relaxed=[_HALF_STEP],
    ),
    MeanCertificate(
        claim="renard2022:thm-2.1.proof.split.fixed",
        step="renard2022:lemma-2.2.proof.last.fixed",
        span="run",
        relaxed=[_HALF_STEP],
    ),
    Recursion(
        claim="renard2022:lemma-2.3",
        measure=PAIR,
        factor=1 + 1 / tau,
        offset=_ROUNDED,
        terms=[*_NOISY_STEP, Term(4 * (tau - 1) * eta**2 * zeta**2, one())],
        bound=_GROWTH * _ROUNDED,
        relaxed=[_WIDE_STEP],
    ),
    Recursion(
        claim="renard2022:lemma-2.3.sharp",
        measure=PAIR,
        factor=1 + 1 / tau,
        offset=_OFFSET,
        terms=_NOISY_STEP,
        bound=_GROWTH * _OFFSET,
    ),
    Recursion(
        claim="renard2022:lemma-2.3.quiet",
        measure=PAIR,
        factor=1 + 1 / k,
        offset=4 * (1 + k) * eta**2 * zeta**2,
        terms=_bound_pair_step(k),
        bound=4 * k**2 * eta**2 * zeta**2,
        first=_bound_misfits(eta**2),
    ),
    Recursion(
        claim="renard2022:lemma-2.3.growing",
        measure=PAIR,
        factor=1 + 1 / _GROWING,
        offset=4 * (1 + _GROWING) * eta**2 * zeta**2 + 2 * eta**2 * sigma**2,
        terms=[*_bound_pair_step(_GROWING), *_NOISES],
        bound=4 * _GROWING_PULL * eta**2 * zeta**2 + 2 * _GROWING_NOISE * eta**2 * sigma**2,
    ),
    Recursion(
        claim="renard2022:lemma-2.3.mean.growing",
        measure=SPREAD,
        factor=1 + 1 / _GROWING,
        offset=(1 + _GROWING) * eta**2 * zeta**2 + _SPREAD_NOISE,
        terms=[
            *_bound_spread_step(_GROWING),
            Term((1 - 1 / M) * eta**2, assumption("bounded variance"), averaged=True),
        ],
        bound=_GROWING_PULL * eta**2 * zeta**2 + _GROWING_NOISE * _SPREAD_NOISE,
        total=(_SQUARES + tau * _COUNTS / 2) * eta**2 * zeta**2 + (_COUNTS + _SQUARES / tau) * _SPREAD_NOISE,
    ),
    Recursion(
        claim="renard2022:lemma-2.3.mean",
        measure=SPREAD,
        factor=1 + 1 / tau,
        offset=_SPREAD_OFFSET,
        terms=[*_bound_spread_step(tau), Term((1 - 1 / M) * eta**2, assumption("bounded variance"), averaged=True)],
        bound=_GROWTH * _SPREAD_OFFSET,
        total=_SUMMED * _SPREAD_OFFSET,
    ),
    Recursion(
        claim="renard2022:lemma-2.3.mean.quiet",
        measure=SPREAD,
        factor=1 + 1 / k,
        offset=(1 + k) * eta**2 * zeta**2,
        terms=_bound_spread_step(k),
        bound=k**2 * eta**2 * zeta**2,
        first=[Term(eta**2, assumption("bounded dissimilarity"), averaged=True)],
        total=k * (k - 1) * (2 * k - 1) * eta**2 * zeta**2 / 6,
    ),
    Combination(
        claim="renard2022:thm-2.1.proof.drift-term",
        links=[[Part(_ONE, "renard2022:lemma-2.3"), Part(_ONE, facts.ROUND_DRIFT)]],
        relaxed=[_WIDE_STEP],
    ),
    Combination(
        claim="renard2022:thm-2.1.proof.telescope",
        links=[
            [Part(-_SHARE, facts.TELESCOPED_PROGRESS)],
            [Part(_SHARE, facts.FINAL_DISTANCE)],
        ],
    ),
    Combination(claim="renard2022:thm-2.1.proof.assemble.fixed", links=[[]], relaxed=[]),
    Combination(
        claim="renard2022:thm-2.1",
        links=[[*_TELESCOPED, Part(L, facts.MEAN_DRIFT), Part(L, "renard2022:lemma-2.3")]],
        relaxed=[_HALF_STEP],
    ),
    Combination(claim="renard2022:lemma-2.2.goal", links=[_TELESCOPED]),
    Combination(
        claim="renard2022:thm-2.1.proof.star",
        links=[[Part(_ONE, Derived("renard2022:thm-2.1.proof.telescope", link)) for link in range(2)]],
    ),
    Combination(
        claim="renard2022:thm-2.1.sharp",
        links=[[*_TELESCOPED, Part(L, "renard2022:lemma-2.3.mean")]],
    ),
    Certificate(claim="renard2022:lemma-2.2.halved.step", links=[_bound_halved_step(x_star)]),
    MeanCertificate(claim="renard2022:lemma-2.2.halved", step="renard2022:lemma-2.2.halved.step", span="round"),
    MeanCertificate(claim="renard2022:thm-2.1.halved.steps", step="renard2022:lemma-2.2.halved.step", span="run"),
    Combination(
        claim="renard2022:thm-2.1.halved",
        links=[
            [
                Part(_ONE, "renard2022:thm-2.1.halved.steps"),
                Part(-_SHARE, facts.TELESCOPED_PROGRESS),
                Part(_SHARE, facts.FINAL_DISTANCE),
                Part(L / 2, "renard2022:lemma-2.3.mean.growing"),
            ]
        ],
    ),
    Certificate(claim="renard2022:thm-2.1.any-point.step", links=[_bound_halved_step(v)]),
    MeanCertificate(claim="renard2022:thm-2.1.any-point.steps", step="renard2022:thm-2.1.any-point.step", span="run"),
    Combination(
        claim="renard2022:thm-2.1.any-point",
        links=[
            [
                Part(_ONE, "renard2022:thm-2.1.any-point.steps"),
                Part(-_SHARE, facts.TELESCOPED_FROM_COMPARATOR),
                Part(_SHARE, facts.FINAL_COMPARATOR_DISTANCE),
                Part(L / 2, "renard2022:lemma-2.3.mean.growing"),
            ]
        ],
    ),
    Combination(
        claim="renard2022:thm-2.1.quiet",
        links=[[*_TELESCOPED, Part(-eta * sigma / M, facts.QUIET), Part(L, "renard2022:lemma-2.3.mean.quiet")]],
    ),
]
