"""Where a run settles: the exact mean-square deviation over the step size, its expansion, and a bound."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Number, plain_float
from fedtheory.engine.moments.stationary import stationary_distance_sq
from fedtheory.engine.run import Run
from fedtheory.engine.small_steps import distance_sq_expansion
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.quantities import effective_step_size
from report.figures.style import BLACK, BLUE, GREEN, ORANGE, Figure, drawing, finish
from report.numbers import decimal, exact

_DIVISIONS = tuple(2**power for power in range(9))
_TERMS = 3


def over_step_sizes(claim: Claim, bound: Expr, run: Run, setting: str) -> Figure:
    """Exact steady state, its expansion to one and three terms, and the leading term of a bound; log-log.

    `run` is in rationals; `bound` is an expression in the claim's notation.
    """
    coefficients = distance_sq_expansion(run, run.arithmetic.number(effective_step_size.measure(run), "mu"), _TERMS)
    unit = plain_float(effective_step_size.measure(run))
    ladder = [run.with_step_factor(run.arithmetic.number(1, "one") / division) for division in _DIVISIONS]
    sizes = np.array([unit / division for division in _DIVISIONS])
    settled = [plain_float(stationary_distance_sq(at.trajectory.recursion)) for at in ladder]
    evaluate = compile_expression(bound, claim.where)
    bounds = [plain_float(evaluate(whole_run(at)).item()) for at in ladder]
    powers = (
        np.array([plain_float(c) for c in coefficients])[:, None] * sizes[None] ** np.arange(1, _TERMS + 1)[:, None]
    )
    with drawing() as (canvas, axes):
        axes.loglog(sizes, bounds, "--", color=BLACK, label="term of the claim")
        axes.loglog(sizes, powers[0], "-.", color=ORANGE, label="exact leading term")
        axes.loglog(sizes, powers.sum(axis=0), ":", color=GREEN, label="expansion, three terms")
        axes.loglog(sizes, settled, "o", color=BLUE, markersize=4, label="exact steady state")
        axes.set_xlabel(r"step size $\mu$")
        axes.set_ylabel(r"$\lim_i\ \mathbb{E}\,|w^o-w_i|^2$")
        axes.legend()
    series = "+".join(rf"{_coefficient(c)}\,\mu^{n}" for n, c in enumerate(coefficients, 1))
    ratio = bounds[-1] / settled[-1]
    caption = (
        f"Exact steady-state mean-square deviation against the step size. {setting} Its expansion, from exact "
        rf"rationals: ${series}+O(\mu^{_TERMS + 1})$.  At the smallest step the term of the "
        f"claim is {ratio:.3g} times the exact value."
    )
    return finish(canvas, f"{claim.slug}-steady-state", caption)


def _coefficient(value: Number) -> str:
    """LaTeX of a rational, as a decimal where it is long."""
    text = exact(value)
    numerator, _, denominator = text.partition("/")
    if not denominator:
        return text if text.lstrip("-").isdigit() else decimal(value)
    return rf"\frac{{{numerator}}}{{{denominator}}}"
