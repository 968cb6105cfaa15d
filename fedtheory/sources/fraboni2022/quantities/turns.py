"""Examples 1 and 2: clients that take turns on quadratics with unit curvature, and their limit cycle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, Number, refuse_test
from fedtheory.engine.frames import Frame, Vector
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.kernel.expressions import Expectation, Expr
from fedtheory.language.quantities import local_work
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, LAST_ROUND, LAST_STEP
from fedtheory.language.quantities.measuring.terms import define, define_in_numbers
from fedtheory.language.quantities.quantity import Over, Term, VectorQuantity, constant, get_symbol
from fedtheory.sources.fraboni2022.quantities.vectors import (
    NEXT_VIRTUAL,
    OPTIMUM,
    SERVER,
    SURROGATE_OPTIMUM,
    define_at_each_step,
    product,
    square,
)

_phi = define_in_numbers(
    "turn_progress",
    r"\phi",
    "phi = 1 - (1 - eta_l)^K, what K local steps make of the distance to a client's optimum",
    1 - (1 - local_work.local_step_size.symbol) ** local_work.local_steps.symbol,
    of=[local_work.local_step_size, local_work.local_steps],
)


def _define_expected_model(updates: int, latex: str) -> VectorQuantity:
    """Define E theta^{n-u}, u updates before the present one; before the start it is theta^0."""

    def build(frame: Frame) -> Vector:
        means = frame.run.trajectory.server_mean - frame.run.problem.centre
        before = np.maximum(np.arange(len(means) - 1) - updates, 0)
        return frame.constant(frame.select_round(means[before][:, None]))

    return VectorQuantity(f"expected_model_{updates}_before", latex, f"E theta^{{n-{updates}}}", build)


def _define_cycle_point(name: str, latex: str, meaning: str, point: Callable[[Frame], Array]) -> VectorQuantity:
    """Define a point of the limit cycle from its displacement from the surrogate's optimum, (1, d) or (N, 1, d)."""
    return VectorQuantity(
        name, latex, meaning, lambda frame: frame.constant(frame.run.surrogate.optimum[None] + point(frame))
    )


_one_before, _three_before = (
    _define_expected_model(1, r"\mathbb E\theta^{n-1}"),
    _define_expected_model(3, r"\mathbb E\theta^{n-3}"),
)
_even = _define_cycle_point(
    "even_cycle_point", "a", "the cycle's point at even updates", lambda frame: _solve_cycle(frame.run)[:1]
)
_odd = _define_cycle_point(
    "odd_cycle_point", "b", "the cycle's point at odd updates", lambda frame: _solve_cycle(frame.run)[1:]
)


def _find_next_point(frame: Frame) -> Array:
    """Return the cycle's point after each update, relative to the surrogate's optimum."""
    rounds = np.arange(frame.run.algorithm.rounds)
    return frame.select_round(_solve_cycle(frame.run)[(rounds + 1) % 2][:, None])


_next = _define_cycle_point("next_cycle_point", "c^{n+1}", "the cycle's point after the update", _find_next_point)
EARLIER, THREE_BEFORE = get_symbol(_one_before), get_symbol(_three_before)
EVEN, ODD, NEXT = map(get_symbol, (_even, _odd, _next))


def _define(expression: Expr, *over: Over) -> Term:
    """Define a number by its values after the local steps of each update."""
    others = (_phi, first_weight, second_weight, _one_before, _three_before, _even, _odd, _next)
    return define_at_each_step(expression, LAST_STEP, *over, also=others)


_NEXT_ERROR, _ERROR = Expectation(NEXT_VIRTUAL) - OPTIMUM, Expectation(SERVER) - OPTIMUM
_ENERGY = square(_NEXT_ERROR) - product(_NEXT_ERROR, _ERROR) + _phi.symbol * square(_ERROR)
first_weight = constant(
    "first_weight",
    "q_1",
    "aggregation weight of the first client",
    lambda run: _read_weight(run, 0),
    primitive="setting",
)
second_weight = constant(
    "second_weight",
    "q_2",
    "aggregation weight of the second client",
    lambda run: _read_weight(run, 1),
    primitive="setting",
)
second_order_residual = define(
    "second_order_residual",
    r"\sum_n\|\theta^{n+2}-\theta^{n+1}+\phi\theta^n-\phi\theta^*\|^2",
    "sum over n of |theta^{n+2} - theta^{n+1} + phi theta^n - phi x*|^2, in expectation",
    _define(square(_NEXT_ERROR - _ERROR + _phi.symbol * (EARLIER - OPTIMUM)), Over("rounds", "sum", begin=1)),
)
first_energy = define(
    "first_energy",
    "V_0",
    "|e^1|^2 - <e^1, e^0> + phi |e^0|^2 for the errors e^n = E theta^n - x*",
    _define(_ENERGY, FIRST_ROUND),
)
last_energy = define(
    "last_energy",
    "V_{N-1}",
    "|e^N|^2 - <e^N, e^{N-1}> + phi |e^{N-1}|^2 for the errors e^n = E theta^n - x*",
    _define(_ENERGY, LAST_ROUND),
)


def _solve_cycle(run: Run) -> Array:
    """Return the points a, b of the limit cycle at even and odd updates, (2, d), relative to the surrogate's optimum.

    b = a + q_1 phi (theta_1* - b) and a = b + q_2 phi (theta_2* - a): each client starts from the model that its last
    report produced.
    """
    if run.clients != 2:
        raise NotApplicable("expected two clients that take turns")
    arithmetic, phi = run.arithmetic, _phi.on(run)
    first, second = run.algorithm.aggregation.weights(run.problem.weights) * phi
    one = arithmetic.identity(1)[0, 0]
    system = arithmetic.array([[-one, 1 + first], [1 + second, -one]])
    optima = run.problem.centred.client_optima - run.surrogate.optimum
    right_sides = optima * np.stack([first, second])[:, None]
    try:
        return np.stack([arithmetic.solve(system, column) for column in right_sides.T], axis=1)
    except InputError:
        raise refuse_test(arithmetic, "the two clients that take turns have no stationary cycle") from None


_FIRST_FACTOR, _SECOND_FACTOR = first_weight.symbol * _phi.symbol, second_weight.symbol * _phi.symbol
cycle_residual = define(
    "cycle_residual",
    r"\sum_n\|E_{n+4}-\operatorname{tr}E_{n+2}+\det E_n\|^2",
    "by how much the errors E_n from the limit cycle fail the recursion over two updates",
    _define(
        # The map of two updates satisfies its characteristic equation, with this trace and determinant.
        square(
            (Expectation(NEXT_VIRTUAL) - NEXT)
            - (1 - _FIRST_FACTOR - _SECOND_FACTOR) * (EARLIER - NEXT)
            + _FIRST_FACTOR * _SECOND_FACTOR * (THREE_BEFORE - NEXT)
        ),
        Over("rounds", "sum", begin=3),
    ),
)
even_cycle_distance_sq = define(
    "even_cycle_distance_sq",
    r"\|a-\bar\theta\|^2",
    "distance of the cycle's point at even updates from the optimum of the surrogate, squared",
    _define(square(EVEN - SURROGATE_OPTIMUM), FIRST_ROUND),
)
odd_cycle_distance_sq = define(
    "odd_cycle_distance_sq",
    r"\|b-\bar\theta\|^2",
    "distance of the cycle's point at odd updates from the optimum of the surrogate, squared",
    _define(square(ODD - SURROGATE_OPTIMUM), FIRST_ROUND),
)
mean_cycle_distance_sq = define(
    "mean_cycle_distance_sq",
    r"\|\frac{a+b}2-\bar\theta\|^2",
    "distance of the mean of the cycle's two points from the optimum of the surrogate, squared",
    _define(square((EVEN + ODD) / 2 - SURROGATE_OPTIMUM), FIRST_ROUND),
)


def _require_client(run: Run, client: int) -> None:
    run.require_single_clients("clients are distinguished by their positions")
    if run.problem.clients <= client:
        raise NotApplicable(f"there is no client number {client + 1}")


def _measure_optima_distance_sq(run: Run) -> Any:
    """Return the squared distance between the minimisers of the first two clients."""
    _require_client(run, 1)
    optima = run.problem.client_optima
    difference = optima[0] - optima[1]
    return difference @ difference


optima_apart_sq = constant(
    "optima_apart_sq",
    r"\|\theta_1^*-\theta_2^*\|^2",
    "squared distance of the first two clients' optima",
    _measure_optima_distance_sq,
    primitive="minimiser",
)


def _read_weight(run: Run, client: int) -> Number:
    _require_client(run, client)
    return run.algorithm.aggregation.weights(run.problem.weights)[client]


first_importance = constant(
    "first_importance",
    "p_1",
    "importance of the first client",
    lambda run: run.client_weights[0],
    primitive="setting",
)
