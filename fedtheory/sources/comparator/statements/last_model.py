"""Strongly convex clients: the last model of a long run, with a linear rate up to a floor without mu.

The proof extends that for the last round: errors accumulate over the steps of a round, because a short step of smooth
clients increases the error at most by the costs of drift and noise.
"""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Expectation, Expr, Value, norm_sq
from fedtheory.sources.comparator.statements.last_rounds import STRONG, Costs, factor, gain
from fedtheory.sources.comparator.statements.notation import *

stretch = 1 + L * eta * tau
COSTS = Costs(p_max * eta * stretch / 2, stretch)
"""Costs as for the last round, for one local step without sampling."""
whole = 1 - eta * mu * (tau - 1) / 2
"""Part of the errors of a round's steps that accumulates; these errors contract as well."""
floor = 25 * COSTS.floor / (24 * whole)
kept = k * whole
"""Number of errors accumulated after k steps of a round."""


def potential(average: Expr, local: Expr, steps: Expr) -> Expr:
    """Return the potential after some steps of a round: distance from the optimum, errors, client drift."""
    error = Value(F, average) - Value(F, x_star)
    apart = Expectation(COSTS.drift_potential.subs(k, steps) * Average(norm_sq(local - average)))
    return Expectation(norm_sq(average - x_star) + gain * kept.subs(k, steps) * error) + apart


CLAIMS = (
    claim_at_optimum.proved.step(
        "last-model.one-step", "One local step of strongly convex clients that keeps the error", "last models, 1"
    )(
        lhs=potential(xbar_next, x_i_next, k + 1),
        rhs=factor * potential(xbar, x_i, k) + gain * COSTS.step_floor,
        place="step",
        assumptions=STRONG,
        conditions=COSTS.conditions,
        note="After the last step of a round it is the model's own error that is kept.",
    ),
    claim_at_optimum.proved.bound(
        "last-model.error", "The last model, for strongly convex clients and long runs", "last models, 2"
    )(
        lhs=last_model_error,
        rhs=floor + COSTS.start,
        assumptions=STRONG,
        conditions=COSTS.conditions,
        note=(
            "The server's own model, after as many rounds as were run.  Participants may be drawn, and clients may "
            "have unequal importances and curvatures; for full participation rho is zero.  The floor is at most "
            "1 + L eta tau over 1 - eta mu (tau - 1)/2 times that of the last round."
        ),
    ),
)
