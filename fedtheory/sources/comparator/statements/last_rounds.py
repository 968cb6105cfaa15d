"""Strongly convex clients: the last round of a long run, with a linear rate up to a floor that has no mu in it.

How far a model is from the optimum is decided by directions in which F is flat;
its error is not.  A mean over many rounds sees the error, and the last round of
a run is like that of a run which began later: the two of them come together.
"""

from __future__ import annotations

from sympy import Rational

from fedtheory.kernel.expressions import Average, Expectation, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.sources.comparator.statements.charges import batch_share
from fedtheory.sources.comparator.statements.notation import *

factor, gain = 1 - eta * mu / 2, 2 * eta
shifted = tau / 2 + k
"""The weight of Young's inequality, but for a tenth."""
growth = Rational(11, 10)
drawn = 3 * rho * tau / (4 * eta)
potential = (9 * L * (tau - k) * (2 * tau + k - 1) / 32 + drawn) / shifted
"""In units of F, what a client's squared distance from the mean costs a round in which k steps are done."""
drift_potential = gain * potential
noise = batch_share + eta**2 * (9 * L * (tau - 1 - k) / 8 + rho * (3 * tau - 2 * k) / (2 * eta * (tau + 2)))
"""Of the squared noise of step k, what is charged."""
slope = growth * eta**2 * (9 * L * (tau - 1 - k) * (2 * tau + k) / 32 + drawn)
"""Of the squared gradients of step k."""
spent = 4 * (13 * ell * noise + 9 * L * slope).subs(k, 0)
"""Of the gaps, twice what noise and gradients take at most."""
step_floor = 13 * noise * sigma_star**2 / 12 + 9 * slope * zeta_star**2 / 8
mean_noise = batch_share + eta**2 * (9 * L * (tau - 1) / 16 + rho * (2 * tau + 1) / (2 * eta * (tau + 2)))
mean_slope = growth * eta**2 * (3 * L * (tau - 1) * (7 * tau - 2) / 64 + drawn)
floor = 13 * mean_noise * sigma_star**2 / 12 + 9 * mean_slope * zeta_star**2 / 8
"""The mean over the steps of a round of what they can lose, in the units of F."""
start = 25 * L * (1 - eta * mu) ** K * (D**2 + 2 * floor * (2 / mu + eta * tau)) / (1 - (tau - 1) * eta * mu)
"""What is left of the start."""

STRONG = (*SAMPLED_SETTING, a.strongly_convex_clients)
TOGETHER = eta * (L + ell) <= 1
"""That runs with the same draws come together."""
PAID = spent <= 1
"""That half of the gaps pays for noise and gradients."""
SLOW = eta <= 1 / (9 * tau * mu)
"""That clients which are apart come together more slowly than a round drives them apart."""
CONDITIONS = [TOGETHER, PAID, SLOW]

_GAP = Value(F, xbar_next) - Value(F, x_star)
_APART, _NEXT_APART = Average(norm_sq(x_i - xbar)), Average(norm_sq(x_i_next - xbar_next))

CLAIMS = (
    claim_at_optimum.proved.step(
        "last-round.one-step", "One local step of strongly convex clients, for long runs", "last rounds, 1"
    )(
        lhs=Expectation(gain * _GAP + norm_sq(xbar_next - x_star))
        + Expectation(drift_potential.subs(k, k + 1) * _NEXT_APART),
        rhs=Expectation(factor * norm_sq(xbar - x_star))
        + Expectation(factor * drift_potential * _APART)
        + gain * step_floor,
        place="step",
        assumptions=STRONG,
        conditions=CONDITIONS,
        note=(
            "Young's inequality has the weight 11(tau/2 + k)/10; noise at the optimum counts 13/12 times, gradients "
            "there 9/8 times."
        ),
    ),
    claim_at_optimum.proved.bound("last-round.error", "The last round, for strongly convex clients", "last rounds, 2")(
        lhs=last_error,
        rhs=25 * floor / 24 + start,
        assumptions=STRONG,
        conditions=CONDITIONS,
        note=(
            "Participants may be drawn, and clients may have unequal importances and curvatures; where everybody takes "
            "part, rho is zero, and one local step ends with the last model itself.  For ever more rounds the second "
            "term vanishes; for small steps the floor does not depend on curvatures."
        ),
    ),
)
