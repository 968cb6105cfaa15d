"""Rounds with sampled clients: how long they last, and what a fixed choice of clients does (fraboni2022, App. C)."""

from __future__ import annotations

from typing import Any

from fedtheory.arithmetic import Array, unanswered
from fedtheory.engine.frames.outcomes import MOST_OUTCOMES
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.participation import Fixed, WeightMoments
from fedtheory.federation.problem.quadratic import weighted_sum
from fedtheory.language.quantities.notion import Quantity, constant


def enumerated_round_time(run: Run) -> Any:
    """E[max of T_i over the participants], over all outcomes of a round."""
    if run.algorithm.aggregation.participation.possibilities(run.problem.clients) > MOST_OUTCOMES:
        raise NotApplicable(f"a round has more than {MOST_OUTCOMES} outcomes")
    chances, weights = run.algorithm.aggregation.participation.outcomes(run.problem.weights)
    times = run.algorithm.clock.times
    slowest = [max(time for time, weight in zip(times, row, strict=True) if weight != 0) for row in weights]
    return chances @ run.arithmetic.array(slowest)


def _expected_end(run: Run) -> Any:
    return run.arithmetic.number(run.algorithm.times(run.problem.weights)[-1], "T")


def _fastest(run: Run) -> Fixed:
    """The law that always takes the m fastest clients, m as many as the run's law takes."""
    times = run.algorithm.clock.times
    count = min(run.algorithm.aggregation.participation.count(run.problem.clients), run.problem.clients)
    return Fixed(tuple(sorted(sorted(range(len(times)), key=times.__getitem__)[:count])))


def _fastest_moments(run: Run) -> WeightMoments:
    return _fastest(run).moments(run.problem.weights)


def _fastest_excess(run: Run) -> Any:
    """max of d_i - alpha q_i over the selected clients, with d_i = E[w_i^2] / q_i."""
    moments, selected = _fastest_moments(run), list(_fastest(run).selected)
    weights = moments.squares[selected] / moments.mean[selected]
    return (weights - moments.pairing * moments.mean[selected]).max()


def _fastest_gap(run: Run) -> Any:
    """L(thetabar) - L*, thetabar the minimiser of the selected clients' mean."""
    centred, weights = run.problem.centred, _fastest_moments(run).mean
    hessian, linear = weighted_sum(weights, centred.hessians), weighted_sum(weights, centred.linear)
    try:
        limit: Array = run.arithmetic.solve(hessian, linear)
    except InputError:
        raise unanswered(run.arithmetic, "the mean of the selected clients' objectives has no minimiser") from None
    # In centred coordinates the federated optimum is 0 and L - L* is x'Hx/2.
    return limit @ run.problem.hessian @ limit / 2


def _fastest_gradient_sq(run: Run) -> Any:
    gradient = weighted_sum(_fastest_moments(run).mean, run.problem.centred.linear)
    return gradient @ gradient


expected_round_time = constant(
    "expected_round_time",
    r"\mathbb E[\max_{i\in S_n}T_i]",
    "expected update time of the slowest participant of a round, over all outcomes",
    enumerated_round_time,
)
expected_clock_time = Quantity("expected_clock_time", "T", "expected clock time of the last round's end", _expected_end)
fastest_pairing = constant(
    "fastest_pairing",
    r"\alpha",
    "alpha with E[w_i w_j] = alpha q_i q_j when a round always takes the fastest clients",
    lambda run: _fastest_moments(run).pairing,
)
fastest_excess = constant(
    "fastest_excess",
    r"\beta",
    "max of d_i - alpha q_i over the selected clients when a round always takes the fastest ones",
    _fastest_excess,
)
fastest_gap = constant(
    "fastest_gap",
    r"\mathcal L(\bar\theta)-\mathcal L(\theta^*)",
    "L(thetabar) - L*, thetabar the minimiser of the mean of the fastest clients' objectives",
    _fastest_gap,
)
fastest_gradient = constant(
    "fastest_gradient",
    r"\|\frac1m\sum_{i\in S}\nabla\mathcal L_i(\theta^*)\|",
    "norm of the fastest clients' mean gradient at the federated optimum",
    _fastest_gradient_sq,
    root=True,
)
