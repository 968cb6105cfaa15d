"""Theorem 2.1 relative to any point v in place of x*, as a distant optimum may hardly lower F."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Value, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.language.statements import Statements
from fedtheory.sources.renard2022.statements.lemma_2_2_smoothness import client_distance_sq
from fedtheory.sources.renard2022.statements.notation import *
from fedtheory.sources.renard2022.statements.tightened import mean_drift_bound, noise

v, D_v = sp.Symbol("v", real=True), sp.Symbol("D_v", nonnegative=True)
gap, progress = q.comparator_suboptimality.symbol, q.total_comparator_progress.symbol
start_term = D_v**2 / (2 * eta * tau * T)

_POINT: dict[sp.Symbol, Quantity] = {
    v: q.comparator,
    D_v: q.comparator_distance,
    gap: q.comparator_suboptimality,
    progress: q.total_comparator_progress,
}
claim = Statements("renard2022", {**NOTATION, **_POINT})

CLAIMS = [
    claim.proved.step(
        "thm-2.1.any-point.step",
        "One local step, against any point",
        "Lemma 2.2, (5), sharpened, one step, for any point",
    )(
        lhs=Expectation(Value(F, xbar_next) - Value(F, v)),
        rhs=noise
        + L * Expectation(Average(client_distance_sq)) / 2
        + Expectation(norm_sq(xbar - v) - norm_sq(xbar_next - v)) / (2 * eta),
        place="step",
        assumptions=NOISE_ASSUMPTIONS,
        conditions=[UNIT_STEP],
        note="Nothing in the proof for x* uses that it is a minimiser.",
    ),
    claim.proved.step(
        "thm-2.1.any-point.steps",
        "All local steps, against any point",
        "Theorem 2.1, (4), for any point, before the drift is bounded",
    )(
        chain=(average_error, "<=", gap + progress / (2 * eta * tau * T) + noise + L * mean_drift / 2),
        assumptions=NOISE_ASSUMPTIONS,
        conditions=[UNIT_STEP],
    ),
    claim.proved.bound(
        "thm-2.1.any-point",
        "Convergence of FedAvg on convex functions, against any point",
        "Theorem 2.1, (4), sharpened, for any point",
    )(
        chain=(average_error, "<=", gap + start_term + noise + L * mean_drift_bound / 2),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[UNIT_STEP],
        note=(
            "For every v; a run is compared with the minimiser of F(v) + |x^0 - v|^2/(2 eta tau T).  With v = x* the "
            "first term vanishes, and the others are those of the theorem."
        ),
        sharpens="renard2022:thm-2.1",
    ),
]
