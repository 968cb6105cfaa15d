"""The comparator, the minimiser y of F(y) + |x^0 - y|^2 / (2 eta tau T), and quantities at y."""

from __future__ import annotations

from typing import Any

from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average, Expr, Gradient
from fedtheory.language import assumptions as a
from fedtheory.language.quantities import problem
from fedtheory.language.quantities.measuring.axes import require_common_steps
from fedtheory.language.quantities.measuring.reductions import (
    FIRST_ROUND,
    FIRST_STEP,
    LAST_ROUND,
    LAST_STEP,
    SUM_OVER_ROUNDS,
    SUM_OVER_STEPS,
)
from fedtheory.language.quantities.measuring.symbols import (
    CLIENT_OBJECTIVE,
    NEXT_VIRTUAL,
    OBJECTIVE,
    OPTIMUM,
    SERVER,
    VIRTUAL,
    define_by,
    gap,
    square,
    variance,
)
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import (
    Over,
    RunQuantity,
    Term,
    VectorQuantity,
    constant,
    extremal_constant,
    get_symbol,
)

comparator = VectorQuantity(
    "comparator",
    "y",
    "the point that the run is compared with, the minimiser of F(y) + |x^0 - y|^2 / (2 eta tau T)",
    lambda frame: frame.constant(frame.run.comparator.point[None]),
)
COMPARATOR, _CURVATURE = get_symbol(comparator), get_symbol(problem.client_smoothness)
_APART = Gradient(CLIENT_OBJECTIVE, COMPARATOR) - Gradient(OBJECTIVE, COMPARATOR)


def _define(expression: Expr, *over: Over) -> Term:
    """Define a quantity by an expression that also depends on the comparator and the smoothness."""
    return define_by(expression, *over, also=(comparator, problem.client_smoothness))


comparator_suboptimality = RunQuantity(
    "comparator_suboptimality",
    r"F(y)-F(x^*)",
    "F(y) - F* at the comparator y",
    lambda run: run.comparator.suboptimality,
    term=_define(gap(COMPARATOR), FIRST_STEP, FIRST_ROUND),
)
comparator_distance = RunQuantity(
    "comparator_distance",
    r"\|x^{(0)}-y\|",
    "|x^0 - y|, the distance of the comparator y from the start",
    lambda run: run.comparator.distance_sq,
    root=True,
    term=_define(square(SERVER - COMPARATOR), FIRST_STEP, FIRST_ROUND),
)
comparator_noise = RunQuantity(
    "comparator_noise",
    r"\sigma_y",
    "sigma_y, sigma_y^2 = sum_i p_i E|g_i(y) - grad F_i(y)|^2 at the comparator y",
    lambda run: run.comparator.noise_sq,
    root=True,
    term=_define(Average(variance(COMPARATOR)), FIRST_STEP, FIRST_ROUND),
)
comparator_dissimilarity = RunQuantity(
    "comparator_dissimilarity",
    r"\zeta_y",
    "zeta_y, zeta_y^2 = sum_i p_i |grad F_i(y) - grad F(y)|^2 at the comparator y",
    lambda run: run.comparator.dissimilarity_sq,
    root=True,
    term=_define(Average(square(_APART)), FIRST_STEP, FIRST_ROUND),
)
comparator_curved_noise = RunQuantity(
    "comparator_curved_noise",
    r"\sigma_{y,L}",
    "its square is sum_i p_i L_i E|g_i(y) - grad F_i(y)|^2 at the comparator y, L_i the largest curvature of F_i",
    lambda run: run.comparator.noise_sq_with(run.client_smoothness),
    root=True,
    term=_define(Average(_CURVATURE * variance(COMPARATOR)), FIRST_STEP, FIRST_ROUND),
)
comparator_curved_dissimilarity = RunQuantity(
    "comparator_curved_dissimilarity",
    r"\zeta_{y,L}",
    "its square is sum_i p_i L_i |grad F_i(y) - grad F(y)|^2 at the comparator y, L_i the largest curvature of F_i",
    lambda run: run.comparator.dissimilarity_sq_with(run.client_smoothness),
    root=True,
    term=_define(Average(_CURVATURE * square(_APART)), FIRST_STEP, FIRST_ROUND),
)
noise_at_optimum = constant(
    "noise_at_optimum",
    r"\sigma_*",
    "sigma_*, sigma_*^2 = sum_i p_i E|g_i(x*) - grad F_i(x*)|^2, at the optimum",
    lambda run: run.at_optimum.noise_sq,
    root=True,
    term=define_by(Average(variance(OPTIMUM)), FIRST_STEP, FIRST_ROUND),
)
dissimilarity_at_optimum = constant(
    "dissimilarity_at_optimum",
    r"\zeta_*",
    "zeta_*, zeta_*^2 = sum_i p_i |grad F_i(x*)|^2, at the optimum",
    lambda run: run.at_optimum.dissimilarity_sq,
    root=True,
    term=define_by(Average(square(Gradient(CLIENT_OBJECTIVE, OPTIMUM))), FIRST_STEP, FIRST_ROUND),
)
noise_smoothness = extremal_constant(
    "noise_smoothness",
    r"\ell",
    "the smallest l with E|n_i(x) - n_i(y)|^2 <= 2 l (F_i(y) - F_i(x) - <grad F_i(x), y - x>), n_i = g_i - grad F_i "
    "with one draw at both points, for every client",
    lambda run: run.noise_smoothness,
    assumption=a.smooth_noise,
)


def _measure_total_progress(run: Run) -> Any:
    """Return the sum over rounds of the decrease of |x - y|^2 by local steps, y the comparator."""
    # |x - y|^2 as a form in (1, x - x*).
    point, form = run.comparator.point, run.arithmetic.identity(run.problem.dimension + 1)
    form[0, 0], form[0, 1:], form[1:, 0] = point @ point, -point, -point
    distances = require_common_steps(run, run.trajectory.evaluate_at_virtual_iterates(form[None])[..., 0])
    return (distances[:, 0] - distances[:, -1]).sum()


total_comparator_progress = RunQuantity(
    "total_comparator_progress",
    r"\sum_{t=0}^{T-1}\left(\mathbb E\|\bar x^{(t,0)}-y\|^2-\mathbb E\|\bar x^{(t,\tau)}-y\|^2\right)",
    "sum over t of E|xbar^{t,0} - y|^2 - E|xbar^{t,tau} - y|^2, from the local steps of each round",
    _measure_total_progress,
    term=_define(square(VIRTUAL - COMPARATOR) - square(NEXT_VIRTUAL - COMPARATOR), SUM_OVER_STEPS, SUM_OVER_ROUNDS),
)


final_comparator_distance_sq = define(
    "final_comparator_distance_sq",
    r"\mathbb E\|x^T-y\|^2",
    "E|x^T - y|^2, the distance of the last model from the comparator y",
    _define(square(NEXT_VIRTUAL - COMPARATOR), LAST_STEP, LAST_ROUND),
)
