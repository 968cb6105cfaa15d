"""Strongly convex clients: the last round of a long run, with a linear rate up to a floor without mu.

The distance from the optimum depends on directions in which F is flat; the error does not. An average over many rounds
bounds the error, and the last round of a run is close to that of a run that started later, since both converge to each
other.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp
from sympy import Rational, S

from fedtheory.kernel.expressions import Average, Expectation, Expr, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.sources.comparator.statements.charges import batch_share
from fedtheory.sources.comparator.statements.notation import *

factor, gain = 1 - eta * mu / 2, 2 * eta
shifted = tau / 2 + k
"""The weight of Young's inequality, reduced by a tenth."""
growth = Rational(11, 10)


@dataclass(frozen=True)
class Costs:
    """Costs of a local step for noise, client drift and sampling, in units of F.

    The gaps pay half of the costs, up to noise and gradients at the optimum.
    """

    batch_share: Expr
    """Fraction of the squared noise that remains in the client average."""
    stretch: Expr = S.One
    """Number of times that client drift is charged."""

    @property
    def drift(self) -> Expr:
        """Return twice the cost of each client's squared distance from the average."""
        return L * self.stretch

    @property
    def draw(self) -> Expr:
        """Return the cost of drift at the end of a round, where sampling counts, over eta / 2."""
        return rho * self.stretch

    @property
    def potential(self) -> Expr:
        """Return the cost of a client's squared distance from the average after k steps of a round."""
        return (9 * self.drift * (tau - k) * (2 * tau + k - 1) / 32 + 3 * self.draw * tau / (4 * eta)) / shifted

    @property
    def drift_potential(self) -> Expr:
        """The cost of a client's squared distance from the average, in units of squared distances."""
        return gain * self.potential

    @property
    def noise(self) -> Expr:
        """Return the coefficient of the squared noise of step k."""
        drawn = self.draw * (3 * tau - 2 * k) / (2 * eta * (tau + 2))
        return self.batch_share + eta**2 * (9 * self.drift * (tau - 1 - k) / 8 + drawn)

    @property
    def slope(self) -> Expr:
        """Return the coefficient of the squared gradients of step k."""
        apart = 9 * self.drift * (tau - 1 - k) * (2 * tau + k) / 32
        return growth * eta**2 * (apart + 3 * self.draw * tau / (4 * eta))

    @property
    def spent(self) -> Expr:
        """Return the fraction of the gaps that is twice the largest cost of noise and gradients."""
        return 4 * (13 * ell * self.noise + 9 * L * self.slope).subs(k, 0)

    @property
    def step_floor(self) -> Expr:
        """Return the largest sum of noise and dissimilarity terms that step k adds."""
        return 13 * self.noise * sigma_star**2 / 12 + 9 * self.slope * zeta_star**2 / 8

    @property
    def floor(self) -> Expr:
        """Return the average of that loss over the steps of a round."""
        drawn = self.draw * (2 * tau + 1) / (2 * eta * (tau + 2))
        noise = self.batch_share + eta**2 * (9 * self.drift * (tau - 1) / 16 + drawn)
        apart = 3 * self.drift * (tau - 1) * (7 * tau - 2) / 64
        slope = growth * eta**2 * (apart + 3 * self.draw * tau / (4 * eta))
        return 13 * noise * sigma_star**2 / 12 + 9 * slope * zeta_star**2 / 8

    @property
    def start(self) -> Expr:
        """Return the remaining influence of the start after all steps before the present round."""
        return 25 * L * (1 - eta * mu) ** K * (D**2 + 2 * self.floor * (2 / mu + eta * tau))

    @property
    def conditions(self) -> list[sp.Rel]:
        """Return the conditions that the costs of a step are at most its gain."""
        return [TOGETHER, self.spent <= 1, SLOW]


TOGETHER = eta * (L + ell) <= 1
"""Condition that runs with common random numbers converge to each other."""
SLOW = eta <= 1 / (9 * tau * mu)
"""Condition that clients contract towards each other more slowly than a round lets them drift."""
COSTS = Costs(batch_share)
start = COSTS.start / (1 - (tau - 1) * eta * mu)

STRONG = (*SAMPLED_SETTING, a.strongly_convex_clients)

_GAP = Value(F, xbar_next) - Value(F, x_star)
_APART, _NEXT_APART = Average(norm_sq(x_i - xbar)), Average(norm_sq(x_i_next - xbar_next))

CLAIMS = (
    claim_at_optimum.proved.step(
        "last-round.one-step", "One local step of strongly convex clients, for long runs", "last rounds, 1"
    )(
        lhs=Expectation(gain * _GAP + norm_sq(xbar_next - x_star))
        + Expectation(COSTS.drift_potential.subs(k, k + 1) * _NEXT_APART),
        rhs=Expectation(factor * norm_sq(xbar - x_star))
        + Expectation(factor * COSTS.drift_potential * _APART)
        + gain * COSTS.step_floor,
        place="step",
        assumptions=STRONG,
        conditions=COSTS.conditions,
        note=(
            "Young's inequality has the weight 11(tau/2 + k)/10; noise at the optimum counts 13/12 times, gradients "
            "there 9/8 times."
        ),
    ),
    claim_at_optimum.proved.bound("last-round.error", "The last round, for strongly convex clients", "last rounds, 2")(
        lhs=last_error,
        rhs=25 * COSTS.floor / 24 + start,
        assumptions=STRONG,
        conditions=COSTS.conditions,
        note=(
            "Participants may be drawn, and clients may have unequal importances and curvatures; where everybody takes "
            "part, rho is zero, and one local step ends with the last model itself.  For ever more rounds the second "
            "term vanishes; for small steps the floor does not depend on curvatures."
        ),
    ),
)
