"""Clients of unequal curvatures: each contributes with its own smoothness L_i instead of the largest one.

The cost of the common step has the average of the L_i. The cost of drift has the clients' distances, each with its own
L_i, and their weighted sum, which is zero for equal curvatures.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.statements import Statements
from fedtheory.sources.comparator.statements.full_rounds import SHORT_STEP as SHORT_STEP_OF_ALL
from fedtheory.sources.comparator.statements.full_rounds import mean_progress, remaining_cost, start
from fedtheory.sources.comparator.statements.notation import *

L_i = sp.Symbol("L_i", nonnegative=True)
L_bar = Average(L_i)
sigma_curved, zeta_curved = sp.symbols("sigma_yL zeta_yL", nonnegative=True)
curvature_drift, imbalance = q.curvature_drift.symbol, q.curvature_imbalance.symbol

_OWN = {
    L_i: q.client_smoothness,
    curvature_drift: q.curvature_drift,
    imbalance: q.curvature_imbalance,
    sigma_curved: q.comparator_curved_noise,
    zeta_curved: q.comparator_curved_dissimilarity,
}
claim_with_curvatures = Statements("comparator", AT_COMPARATOR | _OWN)

SHORT_STEP = sp.Lt(eta * L_bar, 1)
"""Condition that the average curvature is small enough for the step."""
batch_noise = p_max * eta * (1 + eta * L_bar) * sigma_y**2
GAPS_EXCEED_NOISE = 2 * p_max * ell * eta * (1 + eta * L_bar) <= 1
"""Condition that the convexity gaps exceed the terms of the noise; it allows rounds of any length."""
CONDITIONS = [SHORT_STEP, GAPS_EXCEED_NOISE]


def sum_drift_costs(drift: Expr, imbalance_sq: Expr) -> Expr:
    """Return the cost of client drift, from the drift weighted by curvatures and from the imbalance."""
    return drift / 2 + eta * imbalance_sq / (2 * (1 - eta * L_bar))


CURVATURE_DRIFT = Average(L_i * norm_sq(x_i - xbar))
IMBALANCE = norm_sq(Average(L_i * (x_i - xbar)))

growth = 1 / (1 - eta * L_bar)
"""Factor by which the clients' differences grow because the common step depends on them."""
potential = growth * (tau - k) * (tau + k + 1) / (4 * (k + 1))
"""Cost of a client's squared distance from the average after k steps of a round, divided by L_i."""
SHORT_ROUND = (
    growth * eta**2 * (tau - 1) * (tau + 2) * (L**2 + ell * (L + p_max * L_bar) / 2)
    + 2 * p_max * ell * eta * (1 + eta * L_bar)
    <= 1
)
"""Condition that the convexity gaps bound noise and gradients, also for the client with the largest curvature."""
ROUND_CONDITIONS = [SHORT_STEP, SHORT_STEP_OF_ALL, SHORT_ROUND]

spread_noise = sigma_curved**2 + p_max * L_bar * sigma_y**2
"""Squared noise of the clients' deviations, weighted by their curvatures."""
step_cost = growth * eta**2 * ((tau - 1 - k) * (tau + 2) * spread_noise / 4 + remaining_cost * zeta_curved**2 / 2)
mean_spread_noise = growth * eta**2 * (tau - 1) * (tau + 2) * spread_noise / 8
mean_cost = mean_spread_noise + growth * eta**2 * (tau**2 - 1) * zeta_curved**2 / 3

_NEXT_DRIFT = Average(L_i * norm_sq(x_i_next - xbar_next))
_DRIFT_CHANGE = Expectation(potential * CURVATURE_DRIFT) - Expectation(potential.subs(k, k + 1) * _NEXT_DRIFT)

CLAIMS = (
    claim_with_curvatures.proved.step(
        "curvatures.one-step", "One local step of clients with their own curvatures", "curvatures, 1"
    )(
        lhs=step_error,
        rhs=step_progress + sum_drift_costs(Expectation(CURVATURE_DRIFT), Expectation(IMBALANCE)) + batch_noise,
        place="step",
        assumptions=WEIGHTED_SETTING,
        conditions=CONDITIONS,
        note=(
            "The rest of the common step bounds the imbalance: the sum of the clients' differences from the average, "
            "weighted by their curvatures. It is zero for equal curvatures. Neither constant can be a tenth smaller."
        ),
    ),
    claim_with_curvatures.proved.step(
        "curvatures.all-steps", "All local steps of clients with their own curvatures", "curvatures, 2"
    )(
        lhs=average_error,
        rhs=comparator_gap + mean_progress + sum_drift_costs(curvature_drift, imbalance) + batch_noise,
        assumptions=WEIGHTED_SETTING,
        conditions=CONDITIONS,
    ),
    claim_with_curvatures.proved.bound(
        "curvatures.average-error",
        "Convergence of FedAvg against any point, each client with its own curvature",
        "curvatures, 3",
    )(
        chain=(average_error, "<=", comparator_gap + start + sum_drift_costs(curvature_drift, imbalance) + batch_noise),
        assumptions=WEIGHTED_SETTING,
        conditions=CONDITIONS,
        note=(
            "Clients may have unequal weights. Rounds may have any length. The step may be longer than 1/L for the "
            "largest curvature L, as only the average curvature limits it. Where both apply, it is at most the bound "
            "with L/2 times the mean drift, which has L in place of each L_i. With one steep client that stays at its "
            "optimum among seven flat ones it is 31 times smaller."
        ),
    ),
    claim_with_curvatures.proved.step(
        "curvatures.rounds.one-step", "One local step of clients with their own curvatures, in a round", "curvatures, 4"
    )(
        lhs=step_error,
        rhs=step_progress + _DRIFT_CHANGE + batch_noise + step_cost,
        place="step",
        assumptions=WEIGHTED_SETTING,
        conditions=ROUND_CONDITIONS,
    ),
    claim_with_curvatures.proved.step(
        "curvatures.rounds.all-steps",
        "All local steps of clients with their own curvatures, in rounds",
        "curvatures, 5",
    )(
        lhs=average_error,
        rhs=comparator_gap + mean_progress + batch_noise + mean_cost,
        assumptions=WEIGHTED_SETTING,
        conditions=ROUND_CONDITIONS,
    ),
    claim_with_curvatures.proved.bound(
        "curvatures.rounds",
        "Convergence of FedAvg against any point, with curvatures and dissimilarities of the clients together",
        "curvatures, 6",
    )(
        chain=(average_error, "<=", comparator_gap + start + batch_noise + mean_cost),
        assumptions=WEIGHTED_SETTING,
        conditions=ROUND_CONDITIONS,
        note=(
            "Clients may have unequal weights. The largest curvature occurs in the conditions only. The drift of each "
            "client is weighted by its own curvature, over 1 minus eta times the average curvature: for equal ones and "
            "long steps this is more than the bound with one L."
        ),
    ),
)
