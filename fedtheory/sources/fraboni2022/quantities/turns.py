"""Clients that take turns on quadratics with unit curvature."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, Number, unanswered
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.language.quantities.quantity import RunQuantity, constant


def _progress_of(run: Run) -> Number:
    """phi = 1 - (1 - eta_l)^K, what K local steps make of the distance to a client's optimum."""
    work = run.algorithm.work
    return 1 - (1 - work.step_sizes[0]) ** work.steps[0]


def _second_order_residual(run: Run) -> Any:
    """sum_n |E[theta^{n+2} - theta^{n+1} + phi theta^n] - phi theta*|^2."""
    models, phi = run.trajectory.server_mean, _progress_of(run)
    rest = models[2:] - models[1:-1] + phi * models[:-2] - phi * run.problem.optimum
    return (rest * rest).sum()


second_order_residual = RunQuantity(
    "second_order_residual",
    r"\sum_n\|\theta^{n+2}-\theta^{n+1}+\phi\theta^n-\phi\theta^*\|^2",
    "sum over n of |theta^{n+2} - theta^{n+1} + phi theta^n - phi x*|^2, in the mean",
    _second_order_residual,
)


def _energy(run: Run, number: int) -> Number:
    """|e'|^2 - <e', e> + phi |e|^2 for the errors e, e' of the updates n, n+1."""
    errors = run.trajectory.server_mean - run.problem.optimum
    earlier, later = errors[number], errors[number + 1]
    return later @ later - later @ earlier + _progress_of(run) * (earlier @ earlier)


first_energy = RunQuantity(
    "first_energy",
    "V_0",
    "|e^1|^2 - <e^1, e^0> + phi |e^0|^2 for the errors e^n = E theta^n - x*",
    lambda run: _energy(run, 0),
)
last_energy = RunQuantity(
    "last_energy",
    "V_{N-1}",
    "|e^N|^2 - <e^N, e^{N-1}> + phi |e^{N-1}|^2 for the errors e^n = E theta^n - x*",
    lambda run: _energy(run, run.algorithm.rounds - 1),
)


def _cycle(run: Run) -> Array:
    """The points a, b of the limit cycle at even and odd updates, (2, d), measured from the surrogate's optimum.

    b = a + q_1 phi (theta_1* - b) and a = b + q_2 phi (theta_2* - a): each client
    starts from what it returned last, one update ago.
    """
    if run.clients != 2:
        raise NotApplicable("expected two clients that take turns")
    arithmetic, phi = run.arithmetic, _progress_of(run)
    first, second = run.algorithm.aggregation.weights(run.problem.weights) * phi
    one = arithmetic.identity(1)[0, 0]
    system = arithmetic.array([[-one, 1 + first], [1 + second, -one]])
    optima = run.problem.centred.client_optima - run.surrogate.optimum
    pulls = optima * np.stack([first, second])[:, None]
    try:
        return np.stack([arithmetic.solve(system, pull) for pull in pulls.T], axis=1)
    except InputError:
        raise unanswered(arithmetic, "the two clients that take turns have no stationary cycle") from None


def _cycle_residual(run: Run) -> Any:
    """sum_n |E_{n+4} - tr E_{n+2} + det E_n|^2 of the errors from the cycle: Cayley-Hamilton for two updates."""
    cycle = _cycle(run)
    first, second = run.algorithm.aggregation.weights(run.problem.weights) * _progress_of(run)
    models = run.trajectory.server_mean - run.problem.optimum - run.surrogate.optimum
    errors = models - cycle[np.arange(len(models)) % 2]
    rest = errors[4:] - (1 - first - second) * errors[2:-2] + first * second * errors[:-4]
    return (rest * rest).sum()


cycle_residual = RunQuantity(
    "cycle_residual",
    r"\sum_n\|E_{n+4}-\operatorname{tr}E_{n+2}+\det E_n\|^2",
    "by how much the errors E_n from the limit cycle fail the recursion over two updates",
    _cycle_residual,
)


def _sq(vector: Array) -> Any:
    return vector @ vector


even_cycle_distance_sq = RunQuantity(
    "even_cycle_distance_sq",
    r"\|a-\bar\theta\|^2",
    "distance of the cycle's point at even updates from the optimum of the surrogate, squared",
    lambda run: _sq(_cycle(run)[0]),
)
odd_cycle_distance_sq = RunQuantity(
    "odd_cycle_distance_sq",
    r"\|b-\bar\theta\|^2",
    "distance of the cycle's point at odd updates from the optimum of the surrogate, squared",
    lambda run: _sq(_cycle(run)[1]),
)
mean_cycle_distance_sq = RunQuantity(
    "mean_cycle_distance_sq",
    r"\|\frac{a+b}2-\bar\theta\|^2",
    "distance of the mean of the cycle's two points from the optimum of the surrogate, squared",
    lambda run: _sq(_cycle(run).sum(axis=0) / 2),
)


def _require_client(run: Run, client: int) -> None:
    run.require_single_clients("clients are distinguished by their positions")
    if run.problem.clients <= client:
        raise NotApplicable(f"there is no client number {client + 1}")


def _measure_optima_distance(run: Run) -> Any:
    """Squared distance between the minimisers of the first two clients."""
    _require_client(run, 1)
    optima = run.problem.client_optima
    return _sq(optima[0] - optima[1])


optima_apart_sq = constant(
    "optima_apart_sq",
    r"\|\theta_1^*-\theta_2^*\|^2",
    "squared distance of the first two clients' optima",
    _measure_optima_distance,
)


def _weight_of(run: Run, client: int) -> Number:
    _require_client(run, client)
    return run.algorithm.aggregation.weights(run.problem.weights)[client]


first_weight = constant(
    "first_weight",
    "q_1",
    "aggregation weight of the first client",
    lambda run: _weight_of(run, 0),
)
second_weight = constant(
    "second_weight",
    "q_2",
    "aggregation weight of the second client",
    lambda run: _weight_of(run, 1),
)
first_importance = constant(
    "first_importance",
    "p_1",
    "importance of the first client",
    lambda run: run.client_weights[0],
)
