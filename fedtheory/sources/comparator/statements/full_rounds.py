"""Full participation with equal steps: the average error over all local steps, relative to any point y.

A local step decreases the distance from y by convexity. The convexity gaps also bound its noise and client drift, up to
the noise and dissimilarity at y itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, norm_sq
from fedtheory.sources.comparator.statements.notation import *

potential = L * (tau - k) * (tau + k + 1) / (4 * (k + 1))
"""Cost of a client's squared distance from the average after k steps of a round."""
remaining_cost = (tau - 1 - k) * (tau + k + 2)
"""Cost of the squared gradients of step k in the following steps of the round."""

step_dissimilarity = L * eta**2 * remaining_cost * zeta_y**2 / 2
dissimilarity = L * eta**2 * (tau**2 - 1) * zeta_y**2 / 3
start = D_y**2 / (2 * eta * tau * T)
mean_progress = progress / (2 * eta * tau * T)
SHORT_STEP = eta <= 1 / L


@dataclass(frozen=True)
class NoiseFractions:
    """Fractions of the clients' squared noise: in their average, and in their drift."""

    in_average: Expr
    in_drift: Expr

    @property
    def noise_in_average(self) -> Expr:
        """Return the cost of the noise that remains in the average after a step."""
        return self.in_average * eta * (1 + L * eta) * sigma_y**2

    @property
    def step_noise(self) -> Expr:
        """Return the cost of a step's noise in the step and in the rest of the round."""
        return self.noise_in_average + self.in_drift * L * eta**2 * (tau - 1 - k) * (tau + 2) * sigma_y**2 / 4

    @property
    def noise(self) -> Expr:
        """Return the average of `step_noise` over the steps of a round."""
        return self.noise_in_average + self.in_drift * L * eta**2 * (tau - 1) * (tau + 2) * sigma_y**2 / 8

    @property
    def gaps_for_noise(self) -> Expr:
        """Return the fraction of the convexity gaps that bounds the noise in the step itself."""
        return 2 * self.in_average * ell * eta * (1 + L * eta)

    @property
    def short_round(self) -> Expr:
        """Return the condition that the convexity gaps exceed the costs of noise and gradients."""
        used = (tau - 1) * (tau + 2) * L * (L + self.in_drift * ell / 2) * eta**2 + self.gaps_for_noise
        return used <= 1


EQUAL_WEIGHTS, UNEQUAL_WEIGHTS = NoiseFractions(1 / M, 1 - 1 / M), NoiseFractions(p_max, sp.S.One)
CONDITIONS = [SHORT_STEP, EQUAL_WEIGHTS.short_round]
GAPS_EXCEED_NOISE = EQUAL_WEIGHTS.gaps_for_noise <= 1
"""Condition that the convexity gaps exceed the terms of the noise; it allows rounds of any length."""

REDUCED_NOISE = 5 * eta * (1 + L * eta) * sigma_y**2 / (8 * M)
GAPS_EXCEED_REDUCED_NOISE = 5 * ell * eta * (1 + L * eta) / M <= 1
"""The same for less noise at y, by Young's inequality with another ratio."""

_ONE_STEP = (
    step_progress
    + Expectation(potential * client_drift)
    - Expectation(potential.subs(k, k + 1) * next_client_drift)
    + step_dissimilarity
)

CLAIMS = (
    claim.proved.step("one-step", "One local step, against any point", "full rounds, 1")(
        chain=(step_error, "<=", _ONE_STEP + EQUAL_WEIGHTS.step_noise),
        place="step",
        assumptions=SETTING,
        conditions=CONDITIONS,
        note=(
            "The coefficient of the drift decreases over the round and is zero at its end.  For the next drift, "
            "Young's inequality has the weight k + 1."
        ),
    ),
    claim.proved.step("all-steps", "All local steps, against any point", "full rounds, 2")(
        chain=(
            average_error,
            "<=",
            comparator_gap + mean_progress + EQUAL_WEIGHTS.noise + dissimilarity,
        ),
        assumptions=SETTING,
        conditions=CONDITIONS,
        note="The time average of the local steps; the drift terms of a round telescope to zero.",
    ),
    claim.proved.bound("average-error", "Convergence of FedAvg against any point", "full rounds, 3")(
        chain=(average_error, "<=", comparator_gap + start + EQUAL_WEIGHTS.noise + dissimilarity),
        assumptions=SETTING,
        conditions=CONDITIONS,
        note=(
            "For every point y; a run is compared with the minimiser of $F(y)+\\|x^0-y\\|^2/(2\\eta\\tau T)$.  Noise "
            "and dissimilarity are those at y.  The term with $\\zeta_y$ vanishes for one local step and for one "
            "client, the noise of one local step is that of M gradients.  For short runs the first two terms are "
            "attained: without noise and dissimilarity the bound over the error tends to one.  No run is known that "
            "attains the noise term of long rounds: with linear gradients, noise reaches the average through means "
            "over the clients alone."
        ),
    ),
    claim.proved.step("drift.one-step", "One local step, with the drift of the run", "full rounds, 4")(
        lhs=step_error,
        rhs=step_progress + L / 2 * Expectation(Average(norm_sq(xbar - x_i))) + EQUAL_WEIGHTS.noise_in_average,
        place="step",
        assumptions=SETTING,
        conditions=[SHORT_STEP, GAPS_EXCEED_NOISE],
    ),
    claim.proved.step("drift.all-steps", "All local steps, with the drift of the run", "full rounds, 5")(
        lhs=average_error,
        rhs=comparator_gap + mean_progress + L / 2 * mean_drift + EQUAL_WEIGHTS.noise_in_average,
        assumptions=SETTING,
        conditions=[SHORT_STEP, GAPS_EXCEED_NOISE],
    ),
    claim.proved.bound(
        "drift.average-error", "Convergence of FedAvg against any point, with the drift of the run", "full rounds, 6"
    )(
        chain=(average_error, "<=", comparator_gap + start + L / 2 * mean_drift + EQUAL_WEIGHTS.noise_in_average),
        assumptions=SETTING,
        conditions=[SHORT_STEP, GAPS_EXCEED_NOISE],
        note=(
            "Rounds may have any length: their cost is measured, as L/2 times the mean drift of the run.  Where this "
            "is much less than the theorem's last two terms, the bound on the drift is loose."
        ),
    ),
    claim.proved.step(
        "drift.less-noise.one-step",
        "One local step, with the drift of the run and less noise",
        "full rounds, 6a",
    )(
        lhs=step_error,
        rhs=step_progress + L / 2 * Expectation(Average(norm_sq(xbar - x_i))) + REDUCED_NOISE,
        place="step",
        assumptions=SETTING,
        conditions=[SHORT_STEP, GAPS_EXCEED_REDUCED_NOISE],
    ),
    claim.proved.step(
        "drift.less-noise.all-steps", "All local steps, with the drift of the run and less noise", "full rounds, 6b"
    )(
        chain=(
            average_error,
            "<=",
            comparator_gap + mean_progress + L / 2 * mean_drift + REDUCED_NOISE,
        ),
        assumptions=SETTING,
        conditions=[SHORT_STEP, GAPS_EXCEED_REDUCED_NOISE],
    ),
    claim.proved.bound(
        "drift.less-noise",
        "Convergence of FedAvg against any point, with the drift of the run and less noise",
        "full rounds, 6c",
    )(
        chain=(average_error, "<=", comparator_gap + start + L / 2 * mean_drift + REDUCED_NOISE),
        assumptions=SETTING,
        conditions=[SHORT_STEP, GAPS_EXCEED_REDUCED_NOISE],
        note=(
            "For small steps and many rounds, where only the noise term remains: it has the factor 5/8.  For one local "
            "step and small steps it is 5/2 of the stationary error of quadratics with constant noise, whatever their "
            "curvatures."
        ),
    ),
    claim.proved.step("shares.one-step", "One local step, for clients of unequal weights", "full rounds, 7")(
        chain=(step_error, "<=", _ONE_STEP + UNEQUAL_WEIGHTS.step_noise),
        place="step",
        assumptions=WEIGHTED_SETTING,
        conditions=[SHORT_STEP, UNEQUAL_WEIGHTS.short_round],
    ),
    claim.proved.step("shares.all-steps", "All local steps, for clients of unequal weights", "full rounds, 8")(
        chain=(
            average_error,
            "<=",
            comparator_gap + mean_progress + UNEQUAL_WEIGHTS.noise + dissimilarity,
        ),
        assumptions=WEIGHTED_SETTING,
        conditions=[SHORT_STEP, UNEQUAL_WEIGHTS.short_round],
    ),
    claim.proved.bound(
        "shares.average-error",
        "Convergence of FedAvg against any point, for clients of unequal weights",
        "full rounds, 9",
    )(
        chain=(average_error, "<=", comparator_gap + start + UNEQUAL_WEIGHTS.noise + dissimilarity),
        assumptions=WEIGHTED_SETTING,
        conditions=[SHORT_STEP, UNEQUAL_WEIGHTS.short_round],
        note="The largest client weight stands in place of 1/M: it bounds the fraction of the noise in the average.",
    ),
)
