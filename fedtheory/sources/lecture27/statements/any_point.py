"""Theorem 2 relative to any point y in place of w^*: no nearest start, no smallest gap, no Lipschitz losses."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.language.statements import Statements
from fedtheory.sources.lecture27.statements.notation import *

y = sp.Symbol("y")
sigma_G, D_y = sp.symbols("sigma_G D_y", nonnegative=True)
average_error, mean_drift = q.average_suboptimality.symbol, q.average_round_drift.symbol
gap, progress = q.comparator_suboptimality.symbol, q.total_comparator_progress.symbol
drift_bound = (tau - 1) * (2 * tau - 1) * eta**2 * sigma_G**2 / 6

_POINT: dict[sp.Symbol, Quantity] = {
    y: q.comparator,
    D_y: q.comparator_distance,
    sigma_G: q.mean_dissimilarity,
    gap: q.comparator_suboptimality,
    progress: q.total_comparator_progress,
    average_error: q.average_suboptimality,
    mean_drift: q.average_round_drift,
}
claim = Statements("lecture27", {**NOTATION, **_POINT})

_DIVERSE = (*CONVEX_GD, a.bounded_mean_dissimilarity)

CLAIMS = [
    claim.proved.step(
        "thm-2.any-point.step", "One local step of all clients, against any point", "Theorem 2, any y, 1"
    )(
        lhs=Expectation(Value(F, w_t_next) - Value(F, y)),
        rhs=Expectation(norm_sq(w_t - y) - norm_sq(w_t_next - y)) / (2 * eta)
        + beta / 2 * Expectation(Average(norm_sq(w_t - w_i))),
        place="step",
        assumptions=CONVEX_GD,
        conditions=[SMALL_STEP],
        note="Not in the notes.  The proof uses the average of the clients, not centralised gradient descent.",
    ),
    claim.proved.bound("thm-2.any-point.drift", "The mean drift of a run", "Theorem 1, mean, any step")(
        chain=(mean_drift, "<=", drift_bound),
        assumptions=_DIVERSE,
        conditions=[LONG_STEP],
        note=(
            "Not in the notes.  A gradient step of a convex client does not increase the distance of two points, so "
            "that the drift grows by eta times the divergence in each step, and not by a factor."
        ),
    ),
    claim.proved.step("thm-2.any-point.steps", "All local steps, against any point", "Theorem 2, any y, 2")(
        chain=(average_error, "<=", gap + progress / (2 * eta * tau * K) + beta * mean_drift / 2),
        assumptions=CONVEX_GD,
        conditions=[SMALL_STEP],
    ),
    claim.proved.bound(
        "thm-2.any-point", "Convergence of distributed gradient descent, against any point", "Theorem 2, any y"
    )(
        chain=(average_error, "<=", gap + D_y**2 / (2 * eta * tau * K) + beta * drift_bound / 2),
        assumptions=_DIVERSE,
        conditions=[SMALL_STEP],
        note=(
            "Not in the notes.  For every point y; a run is compared with the minimiser of F(y) + |w(0) - y|^2/(2 eta "
            "tau K).  sigma_G^2 is the mean of the clients' squared divergences, at most that of delta_i^2; no "
            "smallest gap, nearest start or Lipschitz constant is needed, and tau may be any number.  The mean is over "
            "w(1), ..., w(T)."
        ),
    ),
]
