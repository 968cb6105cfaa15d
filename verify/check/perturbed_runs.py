"""Perturbed runs: they differ from a float run by little more than rounding. A result on which they disagree depends on
rounding.

All lengths, curvatures, variances and step sizes are multiplied by factors close to one. Equal entries stay equal, and
flat directions stay flat, so that true statements stay true. But every operation rounds differently, so cancellation
and bad conditioning become visible.
"""

from __future__ import annotations

from dataclasses import replace

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.losses import LossRun
from fedtheory.engine.run import Run
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.losses import LossProblem
from fedtheory.federation.losses.noise import TwoPointNoise
from fedtheory.federation.oracles import AdditiveNoise, MiniBatch, Oracle
from fedtheory.federation.problem import Problem

_NUDGE = 1e-13
"""Size of a perturbation: far above the rounding of one operation, far below the size of a near tie."""
_NUDGES = ((3, -5, 7, -2), (-4, 6, 1, 5), (1, 2, -8, -3))
"""Perturbations of curvatures, lengths, variances and step sizes, in multiples of `_NUDGE`, with different signs."""


def perturb(run: Run) -> tuple[Run, ...]:
    """Return a few runs close to a float run, with fixed factors; none if the run is exact or estimated."""
    if run.arithmetic is not FLOAT or run.is_estimated:
        return ()
    return tuple(_move(run, *(1 + _NUDGE * nudge for nudge in nudges)) for nudges in _NUDGES)


def _move(run: Run, curvature: float, length: float, variance: float, step: float) -> Run:
    algorithm = run.with_step_factor(step).algorithm
    if isinstance(run, LinearModelRun):
        return replace(run, problem=run.problem.perturb(curvature, length), algorithm=algorithm)
    if isinstance(run.problem, LossProblem):
        return LossRun(_perturb_losses(run.problem, curvature, length, variance), algorithm)
    return Run(_perturb_quadratics(run.problem, curvature, length, variance), algorithm)


def _perturb_losses(problem: LossProblem, curvature: float, length: float, variance: float) -> LossProblem:
    given = problem.terms
    terms = replace(
        given, weights=given.weights * curvature, centres=given.centres * length, widths=given.widths * length
    )
    return LossProblem(terms, problem.weights, problem.start * length, _perturb_oracle(problem.oracle, None, variance))


def _perturb_quadratics(problem: Problem, curvature: float, length: float, variance: float) -> Problem:
    data = None if problem.data is None else _perturb_data(problem.data, curvature, length)
    return replace(
        problem,
        hessians=problem.hessians * curvature,
        linear=problem.linear * (curvature * length),
        constants=problem.constants * (curvature * length * length),
        start=problem.start * length,
        oracle=_perturb_oracle(problem.oracle, data, variance),
        data=data,
    )


def _perturb_data(data: ClientData, curvature: float, length: float) -> ClientData:
    """Return the data of the perturbed objectives, up to rounding: x'x is a curvature, y/x a length."""
    root = curvature**0.5
    inputs, outputs = tuple(x * root for x in data.inputs), tuple(y * (root * length) for y in data.outputs)
    return replace(data, inputs=inputs, outputs=outputs, ridge=data.ridge * curvature)


def _perturb_oracle(oracle: Oracle, data: ClientData | None, variance: float) -> Oracle:
    if isinstance(oracle, AdditiveNoise):
        return AdditiveNoise(oracle.variances * variance)
    if isinstance(oracle, TwoPointNoise):
        return TwoPointNoise(oracle.sizes * variance**0.5)
    if isinstance(oracle, MiniBatch) and data is not None:
        return replace(oracle, data=data)
    return oracle
