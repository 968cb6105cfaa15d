"""Full participation with equal steps: the average error over all local steps, relative to any point y.

A local step decreases the distance from y by convexity. The same gaps pay for its losses by noise and client drift, up
to noise and dissimilarity at y itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, Value, norm_sq
from fedtheory.sources.comparator.statements.notation import *

potential = L * (tau - k) * (tau + k + 1) / (4 * (k + 1))
"""Return the cost of a client's squared distance from the average after k steps of a round."""
left_to_pay = (tau - 1 - k) * (tau + k + 2)
"""Cost of the squared gradients of step k in the following steps of the round."""

step_dissimilarity = L * eta**2 * left_to_pay * zeta_y**2 / 2
dissimilarity = L * eta**2 * (tau**2 - 1) * zeta_y**2 / 3
start = D_y**2 / (2 * eta * tau * T)
SHORT_STEP = eta <= 1 / L


@dataclass(frozen=True)
class Shares:
    """Fractions of the clients' noise: in their average, and in their drift."""

    of_mean: Expr
    of_spread: Expr

    @property
    def batch_noise(self) -> Expr:
        """Return the cost of a step's noise in the step itself."""
        return self.of_mean * eta * (1 + L * eta) * sigma_y**2

    @property
    def step_noise(self) -> Expr:
        """Return the cost of a step's noise in the round."""
        return self.batch_noise + self.of_spread * L * eta**2 * (tau - 1 - k) * (tau + 2) * sigma_y**2 / 4

    @property
    def noise(self) -> Expr:
        """Return the average of that cost over the steps of a round."""
        return self.batch_noise + self.of_spread * L * eta**2 * (tau - 1) * (tau + 2) * sigma_y**2 / 8

    @property
    def paid_noise(self) -> Expr:
        """Return the fraction of the gaps that pays for noise, if rounds have no cost."""
        return 2 * self.of_mean * ell * eta * (1 + L * eta)

    @property
    def short_round(self) -> Expr:
        """State that the gaps exceed the costs of noise and gradients."""
        spent = (tau - 1) * (tau + 2) * L * (L + self.of_spread * ell / 2) * eta**2 + self.paid_noise
        return spent <= 1


EQUAL, UNEQUAL = Shares(1 / M, 1 - 1 / M), Shares(p_max, sp.S.One)
CONDITIONS = [SHORT_STEP, EQUAL.short_round]
PAID_NOISE = EQUAL.paid_noise <= 1
"""Condition under which the objective gaps exceed the terms of the noise; it allows rounds of any length."""

QUIET_NOISE = 5 * eta * (1 + L * eta) * sigma_y**2 / (8 * M)
PAID_QUIET_NOISE = 5 * ell * eta * (1 + L * eta) / M <= 1
"""Condition with less noise at y and a larger cost for the gaps, by Young's inequality with another weight."""

_ONE_STEP_SO_FAR = Expectation(norm_sq(xbar - y) - norm_sq(xbar_next - y)) / (2 * eta)
_ONE_STEP = (
    _ONE_STEP_SO_FAR
    + Expectation(potential * Average(norm_sq(x_i - xbar)))
    - Expectation(potential.subs(k, k + 1) * Average(norm_sq(x_i_next - xbar_next)))
    + step_dissimilarity
)

CLAIMS = (
    claim.proved.step("one-step", "One local step, against any point", "full rounds, 1")(
        chain=(Expectation(Value(F, xbar_next) - Value(F, y)), "<=", _ONE_STEP + EQUAL.step_noise),
        place="step",
        assumptions=SETTING,
        conditions=CONDITIONS,
        note=(
            "The distance of the clients counts with a number that falls over the round and is zero at its end.  For "
            "the next distance, Young's inequality has the weight k + 1."
        ),
    ),
    claim.proved.step("all-steps", "All local steps, against any point", "full rounds, 2")(
        chain=(average_error, "<=", comparator_gap + progress / (2 * eta * tau * T) + EQUAL.noise + dissimilarity),
        assumptions=SETTING,
        conditions=CONDITIONS,
        note="The time average of the local steps; the drift terms of a round telescope to zero.",
    ),
    claim.proved.bound("average-error", "Convergence of FedAvg against any point", "full rounds, 3")(
        chain=(average_error, "<=", comparator_gap + start + EQUAL.noise + dissimilarity),
        assumptions=SETTING,
        conditions=CONDITIONS,
        note=(
            "For every point y; a run is compared with the minimiser of $F(y)+\\|x^0-y\\|^2/(2\\eta\\tau T)$.  Noise "
            "and dissimilarity are those at y.  The term with $\\zeta_y$ vanishes for one local step and for one "
            "client, the noise of one local step is that of M gradients.  Over short times the first two terms are "
            "attained: without noise and dissimilarity the bound over the error tends to one.  No run is known that "
            "needs the noise of long rounds: where gradients are linear, noise reaches the average through means over "
            "the clients alone."
        ),
    ),
    claim.proved.step("drift.one-step", "One local step, with the distance of the clients as it is", "full rounds, 4")(
        lhs=Expectation(Value(F, xbar_next) - Value(F, y)),
        rhs=_ONE_STEP_SO_FAR + L / 2 * Expectation(Average(norm_sq(xbar - x_i))) + EQUAL.batch_noise,
        place="step",
        assumptions=SETTING,
        conditions=[SHORT_STEP, PAID_NOISE],
    ),
    claim.proved.step("drift.all-steps", "All local steps, with the drift as it is", "full rounds, 5")(
        lhs=average_error,
        rhs=comparator_gap + progress / (2 * eta * tau * T) + L / 2 * mean_drift + EQUAL.batch_noise,
        assumptions=SETTING,
        conditions=[SHORT_STEP, PAID_NOISE],
    ),
    claim.proved.bound(
        "drift.average-error", "Convergence of FedAvg against any point, with the drift as it is", "full rounds, 6"
    )(
        chain=(average_error, "<=", comparator_gap + start + L / 2 * mean_drift + EQUAL.batch_noise),
        assumptions=SETTING,
        conditions=[SHORT_STEP, PAID_NOISE],
        note=(
            "Rounds may have any length: what they cost is measured, half of L times the mean drift of the run.  Where "
            "this is much less than the theorem's last two terms, the loss is in the bound on the drift."
        ),
    ),
    claim.proved.step(
        "drift.less-noise.one-step",
        "One local step, with the distance of the clients as it is and less noise",
        "full rounds, 6a",
    )(
        lhs=Expectation(Value(F, xbar_next) - Value(F, y)),
        rhs=_ONE_STEP_SO_FAR + L / 2 * Expectation(Average(norm_sq(xbar - x_i))) + QUIET_NOISE,
        place="step",
        assumptions=SETTING,
        conditions=[SHORT_STEP, PAID_QUIET_NOISE],
    ),
    claim.proved.step(
        "drift.less-noise.all-steps", "All local steps, with the drift as it is and less noise", "full rounds, 6b"
    )(
        chain=(average_error, "<=", comparator_gap + progress / (2 * eta * tau * T) + L / 2 * mean_drift + QUIET_NOISE),
        assumptions=SETTING,
        conditions=[SHORT_STEP, PAID_QUIET_NOISE],
    ),
    claim.proved.bound(
        "drift.less-noise",
        "Convergence of FedAvg against any point, with the drift as it is and less noise",
        "full rounds, 6c",
    )(
        chain=(average_error, "<=", comparator_gap + start + L / 2 * mean_drift + QUIET_NOISE),
        assumptions=SETTING,
        conditions=[SHORT_STEP, PAID_QUIET_NOISE],
        note=(
            "For small steps and many rounds, where the noise is what is left: five eighths of it in place of all.  "
            "For one local step and small steps that floor is 5/2 of the mean error of quadratics with noise that is "
            "the same everywhere, whatever their curvatures."
        ),
    ),
    claim.proved.step("shares.one-step", "One local step, for clients of unequal importance", "full rounds, 7")(
        chain=(Expectation(Value(F, xbar_next) - Value(F, y)), "<=", _ONE_STEP + UNEQUAL.step_noise),
        place="step",
        assumptions=SHARED_SETTING,
        conditions=[SHORT_STEP, UNEQUAL.short_round],
    ),
    claim.proved.step("shares.all-steps", "All local steps, for clients of unequal importance", "full rounds, 8")(
        chain=(average_error, "<=", comparator_gap + progress / (2 * eta * tau * T) + UNEQUAL.noise + dissimilarity),
        assumptions=SHARED_SETTING,
        conditions=[SHORT_STEP, UNEQUAL.short_round],
    ),
    claim.proved.bound(
        "shares.average-error",
        "Convergence of FedAvg against any point, for clients of unequal importance",
        "full rounds, 9",
    )(
        chain=(average_error, "<=", comparator_gap + start + UNEQUAL.noise + dissimilarity),
        assumptions=SHARED_SETTING,
        conditions=[SHORT_STEP, UNEQUAL.short_round],
        note="The largest importance stands for 1/M: it is what is left of the clients' noises in their mean.",
    ),
)
