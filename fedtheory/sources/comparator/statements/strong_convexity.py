"""Strongly convex clients: the last model is near the optimum, with a linear rate up to a floor."""

from __future__ import annotations

from fedtheory.kernel.expressions import Expectation, Expr, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.sources.comparator.statements.full_rounds import SHORT_STEP, potential
from fedtheory.sources.comparator.statements.notation import *

weight, factor = 1 + eta * mu, 1 - 4 * eta * mu / 3
drift_potential = 4 * eta * potential
round_square = (tau - 1) * (tau + 2)
floor = (
    5 * eta * (1 + L * eta) * sigma_star**2 / (8 * M)
    + 5 * (1 - 1 / M) * L * eta**2 * round_square * sigma_star**2 / 16
    + L * eta**2 * round_square * zeta_star**2
)
"""Largest sum of noise and dissimilarity terms of a step, in units of F."""

STRONG = (*SETTING, a.strongly_convex_clients)
GAPS_SUFFICE = (
    4 * L**2 * round_square * eta**2
    + 5 * (1 - 1 / M) * ell * L * round_square * eta**2
    + (10 * ell * eta * (1 + L * eta) / M)
    <= 1
)
"""Condition that half of the convexity gaps bounds noise and gradients."""
SLOW_CONTRACTION = 4 * tau * (tau + 1) * eta * mu <= 3
"""Condition that clients contract towards each other more slowly than a round lets them drift."""
SMALL_STEP = 8 * eta * mu <= 1
CONDITIONS = [SHORT_STEP, GAPS_SUFFICE, SLOW_CONTRACTION, SMALL_STEP]


def state_contraction(drift_potential: Expr, floor: Expr) -> tuple[Expr, str, Expr]:
    """Return the chain that distances from the optimum, and drift times its potential, contract up to the floor."""
    before, after = norm_sq(xbar - x_star), norm_sq(xbar_next - x_star)
    reached = Expectation(weight * after) + Expectation(drift_potential.subs(k, k + 1) * next_client_drift)
    bound = Expectation(factor * weight * before) + Expectation(factor * drift_potential * client_drift)
    return reached, "<=", bound + 2 * eta * floor


def state_error_step(point: Expr, factor: Expr, drift_potential: Expr, floor: Expr) -> tuple[Expr, str, Expr]:
    """Return the chain of a step with the error of the next average, in addition to distance and drift."""
    gap = Value(F, xbar_next) - Value(F, point)
    reached = Expectation(2 * eta * gap + norm_sq(xbar_next - point))
    reached += Expectation(drift_potential.subs(k, k + 1) * next_client_drift)
    bound = Expectation(factor * norm_sq(xbar - point)) + Expectation(factor * drift_potential * client_drift)
    return reached, "<=", bound + 2 * eta * floor


CLAIMS = (
    claim_at_optimum.proved.step(
        "strongly-convex.one-step", "One local step of strongly convex clients", "strong convexity, 1"
    )(
        chain=state_contraction(drift_potential, floor),
        place="step",
        assumptions=STRONG,
        conditions=CONDITIONS,
        note="Half of the convexity gaps contract, the other half bounds the noise and the client drift.",
    ),
    claim_at_optimum.proved.bound(
        "strongly-convex.last-model", "The last model, for strongly convex clients", "strong convexity, 2"
    )(
        chain=(final_error, "<=", factor**K * D**2 + 3 * floor / (2 * mu)),
        assumptions=STRONG,
        conditions=CONDITIONS,
        note=(
            "As the number of rounds grows, the first term vanishes.  For one local step, equal curvatures and small "
            "steps the floor is 15/8 of the stationary error."
        ),
    ),
)
