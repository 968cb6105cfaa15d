"""Steady state of a run: the exact mean-square deviation over the step size, its expansion, and a claim's term."""

from __future__ import annotations

import numpy as np
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import Number, plain_float
from fedtheory.engine.moments.stationary import compute_stationary_distance_sq
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expr
from fedtheory.language import exhibits as ex
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.numbers import format_decimal, format_exactly
from fedtheory.sources.vlaski2023.exhibits.agents import LOCAL_STEPS, make_sampled_run
from fedtheory.sources.vlaski2023.small_steps import expand_distance_sq

_DIVISIONS = tuple(2**power for power in range(9))
_TERMS = 3


def has_steady_state(claim: Claim) -> bool:
    """Return whether a claim states the difference of the stationary error from some term."""
    return _compare_with(claim) is not None


def _compare_with(claim: Claim) -> Expr | None:
    """Return the term x of a rate on the stationary error minus x."""
    if claim.rate is None:
        return None
    for difference in claim.rate.measured.atoms(sp.Add):
        for term in difference.args:
            if claim.notation.get(term) is q.limiting_distance_sq:
                return term - difference
    return None


def draw_steady_state(claim: Claim) -> ex.Display:
    """Draw the exact stationary error, its expansion to one and three terms, and the term of the claim; log-log."""
    run = make_sampled_run(tuple(fmpq(1, 4 * count) for count in LOCAL_STEPS))
    largest_size = q.effective_step_size.measure(run)
    sizes = np.array([plain_float(largest_size) / division for division in _DIVISIONS])
    coefficients = expand_distance_sq(run, run.arithmetic.number(largest_size, "mu"), _TERMS)
    ladder = [run.with_step_factor(run.arithmetic.number(1, "one") / division) for division in _DIVISIONS]
    limits = [plain_float(compute_stationary_distance_sq(at.trajectory.recursion)) for at in ladder]
    claimed = _evaluate_claim(claim, ladder)
    terms = np.array([plain_float(c) for c in coefficients])[:, None] * sizes[None] ** np.arange(1, _TERMS + 1)[:, None]
    series = "+".join(rf"{_format_coefficient(c)}\,\mu^{n}" for n, c in enumerate(coefficients, 1))
    chart = ex.Chart(
        name="steady-state",
        x=ex.Axis(r"step size $\mu$", "log"),
        y=ex.Axis(r"$\lim_i\ \mathbb{E}\,|w^o-w_i|^2$", "log"),
        parts=[
            ex.Line(sizes, claimed, "term of the claim", ex.BLACK, ex.DASHED),
            ex.Line(sizes, terms[0], "exact leading term", ex.ORANGE, ex.DASH_DOTTED),
            ex.Line(sizes, terms.sum(axis=0), "expansion, three terms", ex.GREEN, ex.DOTTED),
            ex.Line(sizes, limits, "exact steady state", ex.BLUE, dash=None, marker="o", size=4),
        ],
        caption=(
            "Exact steady-state mean-square deviation against the step size. Three agents in the plane, two of them "
            "sampled, $E_k=1,2,4$, noise of variance 1. Its expansion, from exact "
            rf"rationals: ${series}+O(\mu^{_TERMS + 1})$.  At the smallest step the term of the "
            f"claim is {claimed[-1] / limits[-1]:.3g} times the exact value."
        ),
    )
    return ex.Display([chart])


def _evaluate_claim(claim: Claim, ladder: list[Run]) -> list[float]:
    evaluate = compile_expression(_compare_with(claim), claim.where)
    return [plain_float(evaluate(whole_run(at)).item()) for at in ladder]


def _format_coefficient(value: Number) -> str:
    """Return LaTeX of a rational, as a decimal if it is long."""
    text = format_exactly(value)
    numerator, _, denominator = text.partition("/")
    if not denominator:
        return text if text.lstrip("-").isdigit() else format_decimal(value)
    return rf"\frac{{{numerator}}}{{{denominator}}}"
