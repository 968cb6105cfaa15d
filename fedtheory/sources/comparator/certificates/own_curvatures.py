"""Certificates for clients of unequal curvatures."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, assumption, convexity, smoothness, square
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.comparators import NOISE_AT_Y, SMOOTH_NOISE, noise_at_y
from fedtheory.proofs.means import MeanCertificate
from fedtheory.sources.comparator.certificates.full_rounds import towards_y
from fedtheory.sources.comparator.statements import own_curvatures as own
from fedtheory.sources.comparator.statements.notation import *

_ONE = sp.S.One
_MEAN_SLOPE = Average(Gradient(F_i, x_i))
_noise = p_max * eta * (1 + eta * own.L_bar) / 2
_left_of_step = 1 - eta * own.L_bar

_STEP = [
    Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
    Term(1 - 4 * _noise * ell, convexity(F_i, y, x_i), averaged=True),
    # What is left of the common move pays for what the differences add up to.
    Term(
        eta / (2 * _left_of_step),
        square(_left_of_step * _MEAN_SLOPE - Average(own.L_i * (x_i - xbar))),
    ),
    Term(_noise, square(n_i - 2 * noise_at_y), averaged=True),
    Term(2 * _noise, assumption(SMOOTH_NOISE), averaged=True),
    Term(2 * _noise, assumption(NOISE_AT_Y)),
    Term(eta * (1 + eta * own.L_bar) * (p_max - p_i) / 2, square(n_i), averaged=True),
]

CERTIFICATES = [
    Certificate(claim="comparator:curvatures.one-step", links=[_STEP]),
    MeanCertificate(claim="comparator:curvatures.all-steps", step="comparator:curvatures.one-step", span="run"),
    Combination(claim="comparator:curvatures.average-error", links=[towards_y("comparator:curvatures.all-steps")]),
]
