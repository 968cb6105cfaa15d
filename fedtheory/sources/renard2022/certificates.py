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
    DOUBLE_STEP,
    HALF_STEP,
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
_STEP_OF_AVERAGE = xbar_next - xbar
_VARIANCE = Term(eta / M, assumption("bounded variance"), averaged=True)
_STEP_FROM_CLIENT = (xbar_next - xbar) - (xbar - x_i)
_GAPS = (
    Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
    Term(_ONE, convexity(F_i, x_star, x_i), averaged=True),
)
_STEP = (*_GAPS, Term(L / 2, square(_STEP_FROM_CLIENT), averaged=True))

# Two clients: their distance, the gradients of F at both, and the deviation of their gradients from those of F.
_DIFFERENCE = pair.x_i - pair.x_j
_GRADIENT_CHANGE = Gradient(pair.F, pair.x_i) - Gradient(pair.F, pair.x_j)
_DEVIATION_I, _DEVIATION_J = pair.SLOPE_I - Gradient(pair.F, pair.x_i), pair.SLOPE_J - Gradient(pair.F, pair.x_j)


def _bound_gradient_step(factor: sp.Expr) -> list[Term]:
    """Bound the distance of two points after a gradient step on F by that before it."""
    return [
        Term(2 * eta * factor, cocoercivity(pair.F, pair.x_i, pair.x_j)),
        Term(2 * eta * factor, cocoercivity(pair.F, pair.x_j, pair.x_i)),
        Term((2 * eta / L - eta**2) * factor, square(_GRADIENT_CHANGE)),
    ]


def _bound_deviations(coefficient: sp.Expr) -> list[Term]:
    """Bound the difference of the two gradients' deviations from that of F, each at most zeta."""
    return [
        Term(2 * coefficient, assumption("bounded dissimilarity of i")),
        Term(2 * coefficient, assumption("bounded dissimilarity of j")),
        Term(coefficient, square(_DEVIATION_I + _DEVIATION_J)),
    ]


_NOISES = [Term(eta**2, assumption(f"bounded variance of {name}")) for name in "ij"]


def _bound_pair_step(weight: sp.Expr) -> list[Term]:
    """Return the terms of one step of two clients without noise, by Young's inequality with a weight."""
    return [
        Term(1 / weight, square(_DIFFERENCE - eta * _GRADIENT_CHANGE + weight * eta * (_DEVIATION_I - _DEVIATION_J))),
        *_bound_gradient_step(1 + 1 / weight),
        *_bound_deviations((1 + weight) * eta**2),
    ]


_GROWING_WEIGHT = k + tau / 2
"""A weight that grows over the round. Without noise the weight k is best, without dissimilarity a constant."""
_GROWTH_OF_GRADIENTS, _GROWTH_OF_NOISE = k * _GROWING_WEIGHT, k * (1 + k / tau)
_NOISY_STEP = [*_bound_pair_step(tau), *_NOISES]
_OFFSET = 4 * (1 + tau) * eta**2 * zeta**2 + 2 * eta**2 * sigma**2
_SIMPLER_OFFSET = 8 * tau * eta**2 * zeta**2 + 2 * eta**2 * sigma**2
_GROWTH = k * (1 + k / tau)
_SUM_OF_COUNTS, _SUM_OF_SQUARES = k * (k - 1) / 2, k * (k - 1) * (2 * k - 1) / 6
"""Sums of j and of its square over j = 0 .. k-1."""
_SUMMED = _SUM_OF_COUNTS + _SUM_OF_SQUARES / tau

# All clients: their gradient steps on F, relative to that of their average.
_AVERAGE_CHANGE = Gradient(F, x_i) - Gradient(F, xbar)
_DEVIATION = Gradient(F_i, x_i) - Gradient(F, x_i)
_AFTER_STEP = (x_i - xbar) - eta * _AVERAGE_CHANGE
_DRIFT_NOISE = (1 - 1 / M) * eta**2 * sigma**2
_DRIFT_OFFSET = (1 + tau) * eta**2 * zeta**2 + _DRIFT_NOISE


def _bound_drift_step(weight: sp.Expr) -> list[Term]:
    """Return the terms of one step of all clients, by Young's inequality with a weight."""
    return [
        Term(1 / weight, square(_AFTER_STEP + weight * eta * _DEVIATION), averaged=True),
        Term(2 * eta * (1 + 1 / weight), cocoercivity(F, x_i, xbar), averaged=True),
        Term(2 * eta * (1 + 1 / weight), cocoercivity(F, xbar, x_i), averaged=True),
        Term((2 * eta / L - eta**2) * (1 + 1 / weight), square(_AVERAGE_CHANGE), averaged=True),
        Term((1 + weight) * eta**2, assumption("bounded dissimilarity"), averaged=True),
        Term(_ONE, square(Average(_AFTER_STEP - eta * _DEVIATION))),
    ]


def _bound_halved_step(point: sp.Symbol) -> list[Term]:
    """Return the terms of one step against a point, with half of the drift and of the noise."""
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
        links=[[Term(L / 2, square(_STEP_FROM_CLIENT))]],
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
        links=[[], [Term(1 / (4 * eta) - L, square(_STEP_OF_AVERAGE))]],
    ),
    Certificate(
        claim="renard2022:lemma-2.2.proof.drop.fixed",
        links=[[*_STEP, Term(1 / (4 * eta) - L, square(_STEP_OF_AVERAGE))]],
    ),
    Certificate(claim="renard2022:lemma-2.2.proof.unbiased", links=[[]]),
    Certificate(
        claim="renard2022:lemma-2.2.proof.young.fixed", links=[[Term(1 / (4 * eta), square(_STEP_OF_AVERAGE))]]
    ),
    Certificate(
        claim="renard2022:lemma-2.2.proof.variance", links=[[Term(1 / (4 * eta), square(_STEP_OF_AVERAGE)), _VARIANCE]]
    ),
    Certificate(
        claim="renard2022:lemma-2.2.proof.last.fixed",
        links=[[*_STEP, Term(1 / (2 * eta) - L, square(_STEP_OF_AVERAGE)), _VARIANCE]],
        relaxed=[HALF_STEP],
    ),
    MeanCertificate(
        claim="renard2022:lemma-2.2.fixed",
        step="renard2022:lemma-2.2.proof.last.fixed",
        span="round",
        relaxed=[HALF_STEP],
    ),
    MeanCertificate(
        claim="renard2022:thm-2.1.proof.split.fixed",
        step="renard2022:lemma-2.2.proof.last.fixed",
        span="run",
        relaxed=[HALF_STEP],
    ),
    Recursion(
        claim="renard2022:lemma-2.3",
        measure=PAIR,
        factor=1 + 1 / tau,
        offset=_SIMPLER_OFFSET,
        terms=[*_NOISY_STEP, Term(4 * (tau - 1) * eta**2 * zeta**2, one())],
        bound=_GROWTH * _SIMPLER_OFFSET,
        relaxed=[DOUBLE_STEP],
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
        first=_bound_deviations(eta**2),
    ),
    Recursion(
        claim="renard2022:lemma-2.3.growing",
        measure=PAIR,
        factor=1 + 1 / _GROWING_WEIGHT,
        offset=4 * (1 + _GROWING_WEIGHT) * eta**2 * zeta**2 + 2 * eta**2 * sigma**2,
        terms=[*_bound_pair_step(_GROWING_WEIGHT), *_NOISES],
        bound=4 * _GROWTH_OF_GRADIENTS * eta**2 * zeta**2 + 2 * _GROWTH_OF_NOISE * eta**2 * sigma**2,
    ),
    Recursion(
        claim="renard2022:lemma-2.3.mean.growing",
        measure=SPREAD,
        factor=1 + 1 / _GROWING_WEIGHT,
        offset=(1 + _GROWING_WEIGHT) * eta**2 * zeta**2 + _DRIFT_NOISE,
        terms=[
            *_bound_drift_step(_GROWING_WEIGHT),
            Term((1 - 1 / M) * eta**2, assumption("bounded variance"), averaged=True),
        ],
        bound=_GROWTH_OF_GRADIENTS * eta**2 * zeta**2 + _GROWTH_OF_NOISE * _DRIFT_NOISE,
        total=(_SUM_OF_SQUARES + tau * _SUM_OF_COUNTS / 2) * eta**2 * zeta**2
        + (_SUM_OF_COUNTS + _SUM_OF_SQUARES / tau) * _DRIFT_NOISE,
    ),
    Recursion(
        claim="renard2022:lemma-2.3.mean",
        measure=SPREAD,
        factor=1 + 1 / tau,
        offset=_DRIFT_OFFSET,
        terms=[*_bound_drift_step(tau), Term((1 - 1 / M) * eta**2, assumption("bounded variance"), averaged=True)],
        bound=_GROWTH * _DRIFT_OFFSET,
        total=_SUMMED * _DRIFT_OFFSET,
    ),
    Recursion(
        claim="renard2022:lemma-2.3.mean.quiet",
        measure=SPREAD,
        factor=1 + 1 / k,
        offset=(1 + k) * eta**2 * zeta**2,
        terms=_bound_drift_step(k),
        bound=k**2 * eta**2 * zeta**2,
        first=[Term(eta**2, assumption("bounded dissimilarity"), averaged=True)],
        total=k * (k - 1) * (2 * k - 1) * eta**2 * zeta**2 / 6,
    ),
    Combination(
        claim="renard2022:thm-2.1.proof.drift-term",
        links=[[Part(_ONE, "renard2022:lemma-2.3"), Part(_ONE, facts.ROUND_DRIFT)]],
        relaxed=[DOUBLE_STEP],
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
        relaxed=[HALF_STEP],
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
