"""Strongly convex clients: the last round of a long run, with a linear rate up to a floor without mu.

The distance from the optimum depends on directions in which F is flat; the error does not. The average error over many
rounds is bounded as in `discounted_averages`. By synchronous coupling the last round is close to that of a run with a
later start, so that the bound holds for the last round as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp
from sympy import Rational, S

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.sources.comparator.statements.largest_costs import noise_in_average
from fedtheory.sources.comparator.statements.notation import *
from fedtheory.sources.comparator.statements.strong_convexity import state_error_step

factor, gain = 1 - eta * mu / 2, 2 * eta
shifted, growth = tau / 2 + k, Rational(11, 10)
"""The ratio of Young's inequality for the drift is their product."""


@dataclass(frozen=True)
class StepCosts:
    """Costs of a local step for noise, client drift and sampling, in units of F.

    Half of the convexity gaps bounds them, up to noise and gradients at the optimum.
    """

    noise_in_average: Expr
    """Fraction of the squared noise that remains in the client average."""
    drift_factor: Expr = S.One
    """Factor of the cost of client drift."""

    @property
    def drift_cost(self) -> Expr:
        """Return twice the cost of each client's squared distance from the average."""
        return L * self.drift_factor

    @property
    def sampling(self) -> Expr:
        """Return the cost of sampling at the end of a round, per squared drift, over eta / 2."""
        return rho * self.drift_factor

    @property
    def potential(self) -> Expr:
        """Return the cost of a client's squared distance from the average after k steps of a round."""
        return (
            9 * self.drift_cost * (tau - k) * (2 * tau + k - 1) / 32 + 3 * self.sampling * tau / (4 * eta)
        ) / shifted

    @property
    def drift_potential(self) -> Expr:
        """Return the cost of a client's squared distance from the average, in units of squared distances."""
        return gain * self.potential

    @property
    def noise_cost(self) -> Expr:
        """Return the coefficient of the squared noise of step k."""
        sampled = self.sampling * (3 * tau - 2 * k) / (2 * eta * (tau + 2))
        return self.noise_in_average + eta**2 * (9 * self.drift_cost * (tau - 1 - k) / 8 + sampled)

    @property
    def gradient_cost(self) -> Expr:
        """Return the coefficient of the squared gradients of step k."""
        drift = 9 * self.drift_cost * (tau - 1 - k) * (2 * tau + k) / 32
        return growth * eta**2 * (drift + 3 * self.sampling * tau / (4 * eta))

    @property
    def gaps_used(self) -> Expr:
        """Return twice the largest cost of noise and gradients of a step, as a fraction of the convexity gaps."""
        return 4 * (13 * ell * self.noise_cost + 9 * L * self.gradient_cost).subs(k, 0)

    @property
    def step_floor(self) -> Expr:
        """Return the largest sum of noise and dissimilarity terms that step k adds."""
        return 13 * self.noise_cost * sigma_star**2 / 12 + 9 * self.gradient_cost * zeta_star**2 / 8

    @property
    def floor(self) -> Expr:
        """Return the average of `step_floor` over the steps of a round."""
        sampled = self.sampling * (2 * tau + 1) / (2 * eta * (tau + 2))
        noise = self.noise_in_average + eta**2 * (9 * self.drift_cost * (tau - 1) / 16 + sampled)
        drift = 3 * self.drift_cost * (tau - 1) * (7 * tau - 2) / 64
        gradients = growth * eta**2 * (drift + 3 * self.sampling * tau / (4 * eta))
        return 13 * noise * sigma_star**2 / 12 + 9 * gradients * zeta_star**2 / 8

    @property
    def start(self) -> Expr:
        """Return the remaining term of the start after all steps before the last round."""
        return 25 * L * (1 - eta * mu) ** K * (D**2 + 2 * self.floor * (2 / mu + eta * tau))

    @property
    def conditions(self) -> list[sp.Rel]:
        """Return the conditions under which the convexity gaps of a step exceed its costs."""
        return [COUPLING_STEP, self.gaps_used <= 1, SLOW_CONTRACTION]


COUPLING_STEP = eta * (L + ell) <= 1
"""Condition that runs with common random numbers converge to each other."""
SLOW_CONTRACTION = eta <= 1 / (9 * tau * mu)
"""Condition that clients contract towards each other more slowly than a round lets them drift."""
COSTS = StepCosts(noise_in_average)
start = COSTS.start / (1 - (tau - 1) * eta * mu)

STRONG = (*SAMPLED_SETTING, a.strongly_convex_clients)

CLAIMS = (
    claim_at_optimum.proved.step(
        "last-round.one-step", "One local step of strongly convex clients, for long runs", "last rounds, 1"
    )(
        chain=state_error_step(x_star, factor, COSTS.drift_potential, COSTS.step_floor),
        place="step",
        assumptions=STRONG,
        conditions=COSTS.conditions,
        note=(
            "The weight of Young's inequality is 11(tau/2 + k)/10 for the drift. The noise at the optimum has the "
            "factor 13/12, the gradients there have the factor 9/8."
        ),
    ),
    claim_at_optimum.proved.bound("last-round.error", "The last round, for strongly convex clients", "last rounds, 2")(
        lhs=last_error,
        rhs=25 * COSTS.floor / 24 + start,
        assumptions=STRONG,
        conditions=COSTS.conditions,
        note=(
            "Participants may be sampled, and clients may have unequal weights and curvatures. For full participation "
            "rho is zero; with one local step the last round is the last model. As T grows, the second term vanishes; "
            "for small steps the floor does not depend on curvatures."
        ),
    ),
)
