"""Strongly convex clients: a discounted average over all local steps, with a linear rate up to a floor.

In the distance of the last model, noise has the factor 1/mu of the flattest direction. In this average error, noise has
no such factor. The statement about a step holds for any point y.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import S

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.sources.comparator.statements.full_rounds import SHORT_STEP
from fedtheory.sources.comparator.statements.largest_costs import LargestCosts
from fedtheory.sources.comparator.statements.notation import *
from fedtheory.sources.comparator.statements.strong_convexity import state_error_step

COSTS = LargestCosts(rho * tau / eta)
factor = 1 - eta * mu / 2

STRONG = (*SAMPLED_SETTING, a.strongly_convex_clients)
GAPS_SUFFICE = COSTS.gaps_used <= 1
"""Condition that half of the convexity gaps bounds noise and gradients."""
SLOW_CONTRACTION = 5 * tau * eta * mu <= 1
"""Condition that distances contract little in one round."""
SMALL_STEP = eta <= 1 / (5 * mu)
CONDITIONS = [SHORT_STEP, GAPS_SUFFICE, SLOW_CONTRACTION, SMALL_STEP]


@dataclass(frozen=True)
class ReferencePoint:
    """A reference point: its noise and dissimilarity, the distance of the start from it, and its error."""

    point: Expr
    noise: Expr
    dissimilarity: Expr
    distance: Expr
    error: Expr

    @property
    def floor(self) -> Expr:
        """Return the largest sum of noise and dissimilarity terms of a step, in units of F."""
        return COSTS.floor(self.noise, self.dissimilarity)

    @property
    def start(self) -> Expr:
        """Return the term of the start: |x^0 - y|^2 over 2 eta times the sum of the weights."""
        return self.distance**2 * mu * factor**K / (4 * (1 - factor**K))

    @property
    def step(self) -> tuple[Expr, str, Expr]:
        """Return the statement about one local step."""
        return state_error_step(self.point, factor, COSTS.drift_potential, self.floor)


ANY = ReferencePoint(y, sigma_y, zeta_y, D_y, comparator_gap)
BEST = ReferencePoint(x_star, sigma_star, zeta_star, D, S.Zero)

CLAIMS = (
    claim.proved.step(
        "forgetting.one-step", "One local step of strongly convex clients, against any point", "forgetting means, 1"
    )(
        chain=ANY.step,
        place="step",
        assumptions=STRONG,
        conditions=CONDITIONS,
        note="Half of the convexity gaps contract, the other half bounds the noise and the client drift.",
    ),
    claim.proved.bound(
        "forgetting.mean-error",
        "A discounted average error of strongly convex clients, against any point",
        "forgetting means, 2",
    )(
        lhs=discounted_error,
        rhs=ANY.error + ANY.start + ANY.floor,
        assumptions=STRONG,
        conditions=CONDITIONS,
        note=(
            "For few rounds, where the best comparator is nearer than the optimum.  Participants may be sampled, and "
            "clients may have unequal weights and curvatures; for full participation rho is zero."
        ),
    ),
    claim_at_optimum.proved.step(
        "forgetting.at-optimum.one-step",
        "One local step of strongly convex clients, against the optimum",
        "forgetting means, 3",
    )(
        chain=BEST.step,
        place="step",
        assumptions=STRONG,
        conditions=CONDITIONS,
    ),
    claim_at_optimum.proved.bound(
        "forgetting.at-optimum",
        "A discounted average error of strongly convex clients, with a linear rate",
        "forgetting means, 4",
    )(
        lhs=discounted_error,
        rhs=BEST.start + BEST.floor,
        assumptions=STRONG,
        conditions=CONDITIONS,
        note=(
            "As the number of rounds grows, the first term vanishes.  For full participation and one small local step "
            "the floor is 5/2 of the stationary error of quadratics with constant noise, whatever their curvatures."
        ),
    ),
)
