"""Client sampling: the average error over all local steps, relative to any point y.

The proof lets all clients do the local steps of a round. The average of the participants has the average of all clients
as its expectation. Its squared distance from y is larger by the client drift times the variance of the sampling.
"""

from __future__ import annotations

from fedtheory.kernel.expressions import Expectation, Expr
from fedtheory.sources.comparator.statements.full_rounds import SHORT_STEP, mean_progress, start
from fedtheory.sources.comparator.statements.notation import *

sampling = rho * tau / eta
"""Cost of client sampling, per squared gradient and eta^2."""
potential = (L * (tau - k) * (3 * tau + k - 1) / 4 + sampling) / (tau + k)
"""Cost of a client's squared distance from the average after k steps: of the further steps and the sampling."""

gradient_cost = eta**2 * (L * (tau - 1 - k) * (3 * tau + k) / 4 + sampling)
"""Coefficient of the squared gradients of step k, in the following steps and at the end of the round."""
noise_cost = eta**2 * (3 * L * (tau - 1 - k) / 4 + sampling / (tau + 1))
"""Coefficient of the squared noise of step k; noise is independent between steps, so it accumulates more slowly."""

largest_gradient_cost = eta**2 * (3 * L * tau * (tau - 1) / 4 + sampling)
largest_noise_cost = eta**2 * (3 * L * (tau - 1) / 4 + sampling / (tau + 1))
batch_noise = p_max * eta * (1 + L * eta)
SHORT_ROUND = 4 * L * largest_gradient_cost + 4 * ell * largest_noise_cost + 2 * ell * batch_noise <= 1
"""Condition that the convexity gaps bound noise and gradients at every step of a round."""
CONDITIONS = [SHORT_STEP, SHORT_ROUND]


def sum_costs(noise: Expr, gradients: Expr) -> Expr:
    """Return the terms of noise and dissimilarity at y, from the costs of a step or their averages."""
    return (batch_noise + 2 * noise) * sigma_y**2 + 2 * gradients * zeta_y**2


mean_noise_cost = eta**2 * (3 * L * (tau - 1) / 8 + sampling / (tau + 1))
mean_gradient_cost = eta**2 * (L * (tau - 1) * (5 * tau - 1) / 12 + sampling)

_ONE_STEP = (
    step_progress + Expectation(potential * client_drift) - Expectation(potential.subs(k, k + 1) * next_client_drift)
)

CLAIMS = (
    claim.proved.step("sampled.one-step", "One local step, with client sampling", "sampled rounds, 1")(
        chain=(step_error, "<=", _ONE_STEP + sum_costs(noise_cost, gradient_cost)),
        place="step",
        assumptions=SAMPLED_SETTING,
        conditions=CONDITIONS,
        note=(
            "For the next drift, Young's inequality has the weight tau + k.  The drift that remains after the last "
            "step bounds the cost of sampling."
        ),
    ),
    claim.proved.step("sampled.all-steps", "All local steps, with client sampling", "sampled rounds, 2")(
        chain=(
            average_error,
            "<=",
            comparator_gap + mean_progress + sum_costs(mean_noise_cost, mean_gradient_cost),
        ),
        assumptions=SAMPLED_SETTING,
        conditions=CONDITIONS,
    ),
    claim.proved.bound(
        "sampled.average-error",
        "Convergence of FedAvg against any point, with sampled participants",
        "sampled rounds, 3",
    )(
        chain=(average_error, "<=", comparator_gap + start + sum_costs(mean_noise_cost, mean_gradient_cost)),
        assumptions=SAMPLED_SETTING,
        conditions=CONDITIONS,
        note=(
            "The average is over all clients, as if those that are not sampled did their local steps as well; a round "
            "starts from the average of the participants.  Clients may have unequal weights and curvatures, of which L "
            "is the largest.  With full participation rho is zero; for long rounds the noise term is then smaller than "
            "in the bound of full rounds, and the dissimilarity term larger."
        ),
    ),
)
