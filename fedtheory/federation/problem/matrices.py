"""Quadratics given by their matrices."""

from __future__ import annotations

from fedtheory.arithmetic import Array, arithmetic_of
from fedtheory.federation.oracles import AdditiveNoise, ExactOracle
from fedtheory.federation.problem.checks import uniform_weights
from fedtheory.federation.problem.quadratic import Problem, require_well_conditioned


def quadratic(
    hessians: Array,
    linear: Array,
    start: Array,
    *,
    constants: Array | None = None,
    weights: Array | None = None,
    noise: Array | None = None,
) -> Problem:
    """Return a validated problem with exact gradients or isotropic noise.

    Shapes are as in `Problem`; `noise` holds the variances, (M,).  Missing
    constants are zero, missing weights uniform.  Raises `InputError` if all
    clients are convex and F has no minimiser.
    """
    arithmetic = arithmetic_of(hessians)
    clients = len(hessians)
    constants = arithmetic.zeros(clients) if constants is None else constants
    weights = uniform_weights(arithmetic, clients) if weights is None else weights
    oracle = ExactOracle() if noise is None or not any(value != 0 for value in noise) else AdditiveNoise(noise)
    problem = Problem(hessians, linear, constants, weights, start, oracle)
    require_well_conditioned(problem, "problem.hessians")
    if problem.has_convex_clients:
        _ = problem.optimum
    return problem
