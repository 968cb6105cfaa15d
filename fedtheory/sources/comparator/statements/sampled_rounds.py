"""Client sampling: the average error over all local steps, relative to any point y.

The proof lets all clients do the local steps of a round. The average of the participants has the average of all clients
as its expectation. Its squared distance from y is larger by the client drift times the variance of the sampling.
"""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Expectation, Expr, Value, norm_sq
from fedtheory.sources.comparator.statements.full_rounds import SHORT_STEP, start
from fedtheory.sources.comparator.statements.notation import *

drawn = rho * tau / eta
"""Cost of client sampling, per squared gradient and eta^2."""
potential = (L * (tau - k) * (3 * tau + k - 1) / 4 + drawn) / (tau + k)
"""Cost of a client's squared distance from the average, with k steps and the sampling left in the round."""

spread_slope = eta**2 * (L * (tau - 1 - k) * (3 * tau + k) / 4 + drawn)
"""Coefficient of the squared gradients of step k, in the following steps and at the end of the round."""
spread_noise = eta**2 * (3 * L * (tau - 1 - k) / 4 + drawn / (tau + 1))
"""Coefficient of the squared noise of step k; noise is independent between steps, so it accumulates more slowly."""

largest_slope = eta**2 * (3 * L * tau * (tau - 1) / 4 + drawn)
largest_noise = eta**2 * (3 * L * (tau - 1) / 4 + drawn / (tau + 1))
batch_noise = p_max * eta * (1 + L * eta)
SHORT_ROUND = 4 * L * largest_slope + 4 * ell * largest_noise + 2 * ell * batch_noise <= 1
"""Condition that the gaps pay for noise and gradients at every step of a round."""
CONDITIONS = [SHORT_STEP, SHORT_ROUND]


def cost(noise: Expr, slope: Expr) -> Expr:
    """Return the terms of noise and dissimilarity at y, with values of a step or their averages."""
    return (batch_noise + 2 * noise) * sigma_y**2 + 2 * slope * zeta_y**2


mean_noise = eta**2 * (3 * L * (tau - 1) / 8 + drawn / (tau + 1))
mean_slope = eta**2 * (L * (tau - 1) * (5 * tau - 1) / 12 + drawn)

_APART, _NEXT_APART = Average(norm_sq(x_i - xbar)), Average(norm_sq(x_i_next - xbar_next))
_ONE_STEP = (
    Expectation(norm_sq(xbar - y) - norm_sq(xbar_next - y)) / (2 * eta)
    + Expectation(potential * _APART)
    - Expectation(potential.subs(k, k + 1) * _NEXT_APART)
)

CLAIMS = (
    claim.proved.step("sampled.one-step", "One local step, for participants that are drawn", "sampled rounds, 1")(
        chain=(Expectation(Value(F, xbar_next) - Value(F, y)), "<=", _ONE_STEP + cost(spread_noise, spread_slope)),
        place="step",
        assumptions=SAMPLED_SETTING,
        conditions=CONDITIONS,
        note=(
            "For the next distance of the clients, Young's inequality has the weight tau + k.  What is left of that "
            "distance after the last step pays for the draw."
        ),
    ),
    claim.proved.step("sampled.all-steps", "All local steps, for participants that are drawn", "sampled rounds, 2")(
        chain=(average_error, "<=", comparator_gap + progress / (2 * eta * tau * T) + cost(mean_noise, mean_slope)),
        assumptions=SAMPLED_SETTING,
        conditions=CONDITIONS,
    ),
    claim.proved.bound(
        "sampled.average-error",
        "Convergence of FedAvg against any point, with sampled participants",
        "sampled rounds, 3",
    )(
        chain=(average_error, "<=", comparator_gap + start + cost(mean_noise, mean_slope)),
        assumptions=SAMPLED_SETTING,
        conditions=CONDITIONS,
        note=(
            "The average is that of all clients, as if those that are not drawn did their steps as well; rounds start "
            "from the average of participants.  Clients may have unequal importances and curvatures, of which L is the "
            "largest.  With full participation rho is zero, and for long rounds the noise costs less than in "
            "the bound of full rounds, and the dissimilarity more."
        ),
    ),
)
