"""Strongly convex clients: the last model of a long run, with a linear rate up to a floor without mu.

The proof extends that for the last round: errors accumulate over the steps of a round, because a short step of smooth
clients increases the error at most by the costs of drift and noise.
"""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Expectation, Expr, Value, norm_sq
from fedtheory.sources.comparator.statements.last_rounds import STRONG, StepCosts, factor, gain
from fedtheory.sources.comparator.statements.notation import *

drift_factor = 1 + L * eta * tau
COSTS = StepCosts(p_max * eta * drift_factor / 2, drift_factor)
"""Costs as for the last round, with the factor 1 + L eta tau on noise and drift."""
kept_fraction = 1 - eta * mu * (tau - 1) / 2
"""Fraction of a step's error that is kept until the end of the round, as errors contract too."""
floor = 25 * COSTS.floor / (24 * kept_fraction)
accumulated = k * kept_fraction
"""Number of errors that have accumulated after k steps of a round."""


def write_potential(average: Expr, local: Expr, steps: Expr) -> Expr:
    """Return the potential after some steps: distance from the optimum, accumulated errors, client drift."""
    error = Value(F, average) - Value(F, x_star)
    drift = Expectation(COSTS.drift_potential.subs(k, steps) * Average(norm_sq(local - average)))
    return Expectation(norm_sq(average - x_star) + gain * accumulated.subs(k, steps) * error) + drift


CLAIMS = (
    claim_at_optimum.proved.step(
        "last-model.one-step", "One local step of strongly convex clients, with accumulated errors", "last models, 1"
    )(
        lhs=write_potential(xbar_next, x_i_next, k + 1),
        rhs=factor * write_potential(xbar, x_i, k) + gain * COSTS.step_floor,
        place="step",
        assumptions=STRONG,
        conditions=COSTS.conditions,
        note="After the last step of a round the accumulated errors are those of the next model.",
    ),
    claim_at_optimum.proved.bound(
        "last-model.error", "The last model, for strongly convex clients and long runs", "last models, 2"
    )(
        lhs=last_model_error,
        rhs=floor + COSTS.start,
        assumptions=STRONG,
        conditions=COSTS.conditions,
        note=(
            "The server's model after the last round.  Participants may be sampled, and clients may have unequal "
            "weights and curvatures; for full participation rho is zero.  The floor is at most 1 + L eta tau over 1 - "
            "eta mu (tau - 1)/2 times that of the last round."
        ),
    ),
)
