"""Quantities of one noiseless round of L-smooth functions with L = 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sympy import Rational

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import RunQuantity
from verify.worst_case.one_round import NoiselessRound, Scalar, mean

Measure = Callable[[NoiselessRound], list[Scalar]]


def _compute_mean_gap(r: NoiselessRound) -> list[Scalar]:
    return [mean([r.gap(step) for step in range(1, len(r.averages))])]


def _compute_mean_gradient_sq(r: NoiselessRound) -> list[Scalar]:
    return [mean([r.gradient_sq(step) for step in range(len(r.averages) - 1)])]


def _compute_mean_drift(r: NoiselessRound) -> list[Scalar]:
    """Return the average drift after each step; it is zero at the first step."""
    return [mean([mean(r.drifts(step)) for step in range(len(r.averages) - 1)])]


def _list_drifts(r: NoiselessRound) -> list[Scalar]:
    """Return the drifts of the first client: clients are exchangeable."""
    return [r.drifts(step)[0] for step in range(1, len(r.averages))]


MEASURED: dict[RunQuantity, Measure] = {
    q.average_suboptimality: _compute_mean_gap,
    q.round_suboptimality: _compute_mean_gap,
    q.final_suboptimality: lambda r: [r.gap(-1)],
    q.best_aggregated_suboptimality: lambda r: [r.gap(-1)],
    q.total_descent: lambda r: [r.gap(0) - r.gap(-1)],
    q.average_gradient_sq: lambda r: [r.gradient_sq(0)],
    q.average_local_gradient_sq: _compute_mean_gradient_sq,
    q.server_distance_sq: lambda r: [r.distance_sq(0)],
    q.next_server_distance_sq: lambda r: [r.distance_sq(-1)],
    q.server_distance_after_sq: lambda r: [r.distance_sq(-1)],
    q.final_distance_sq: lambda r: [r.distance_sq(-1)],
    q.total_progress: lambda r: [r.distance_sq(0) - r.distance_sq(-1)],
    q.round_drift: _compute_mean_drift,
    q.average_round_drift: _compute_mean_drift,
    q.max_drift: _list_drifts,
}
"""Quantities as expressions; the value is the largest of several expressions."""


@dataclass(frozen=True)
class ScaleConstant:
    """A constant that bounds the clients' objectives or the start: 1, or 0 with the meaning `vanishing`."""

    not_positive: Measure
    """Expressions that are at most zero if the constant is 1."""
    vanishing: Literal["start at the optimum", "clients alike"] | None = None
    for_all_points: bool = False
    """Whether the assumption concerns all x, while the round has visited points only."""


def _list_gradients(r: NoiselessRound) -> list[Scalar]:
    return [norm_sq - 1 for norms_sq in r.gradients_sq() for norm_sq in norms_sq]


def _list_deviations(r: NoiselessRound) -> list[Scalar]:
    return [deviation - 1 for deviations in r.deviations_sq() for deviation in deviations]


def _bound_deviations(r: NoiselessRound) -> list[Scalar]:
    """Return bounds on deviations, at most half the sum of all norms because they sum to zero."""
    longest = len(r.objectives) / 2
    return [deviation - longest**2 for deviations in r.deviations_sq() for deviation in deviations]


SCALES: dict[RunQuantity, ScaleConstant] = {
    q.initial_distance: ScaleConstant(lambda r: [r.distance_sq(0) - 1], "start at the optimum"),
    q.initial_gap: ScaleConstant(lambda r: [r.gap(0) - 1], "start at the optimum"),
    q.nearest_start: ScaleConstant(lambda r: [r.distance_sq(0) - 1]),
    q.visited_second_moment: ScaleConstant(lambda r: [norm_sq - 1 for norm_sq in r.own_gradients_sq()]),
    q.gradient_dissimilarity: ScaleConstant(_list_deviations, "clients alike", for_all_points=True),
    q.mean_dissimilarity: ScaleConstant(lambda r: [mean(d) - 1 for d in r.deviations_sq()], "clients alike", True),
    q.mean_divergence: ScaleConstant(_bound_deviations, "clients alike", for_all_points=True),
    q.second_moment: ScaleConstant(_list_gradients, for_all_points=True),
    q.lipschitz: ScaleConstant(_list_gradients, for_all_points=True),
}

CURVATURES: dict[RunQuantity, tuple[Rational, ...]] = {q.strong_convexity: (Rational(1, 10), Rational(1, 2))}
"""Strong convexity constants that are tried, as fractions of L = 1, for claims about strongly convex clients."""

COUNTS: dict[RunQuantity, Callable[[int, int], int]] = {
    q.clients: lambda clients, _steps: clients,
    q.local_steps: lambda _clients, steps: steps,
    q.iterations: lambda _clients, steps: steps,
    q.rounds: lambda _clients, _steps: 1,
    q.smoothness: lambda _clients, _steps: 1,
    q.server_step_size: lambda _clients, _steps: 1,
    q.noise_deviation: lambda _clients, _steps: 0,
}
"""Other constants, as functions of the numbers of clients and local steps."""

OF_ONE_CLIENT: tuple[Assumption, ...] = (a.one_client, a.one_type)
"""Assumptions that every round of one client satisfies."""

MODELLED: tuple[Assumption, ...] = (
    a.convex_and_smooth,
    a.smooth,
    a.strongly_convex_clients,
    a.same_local_work,
    a.same_step_size,
    a.unit_server_step,
    a.uniform_shares,
    a.full_participation,
    a.synchronous,
    a.full_rounds,
    a.full_gradients,
    a.unbiased_bounded_variance,
    a.bounded_dissimilarity,
    a.bounded_mean_dissimilarity,
    a.bounded_second_moment,
    a.lipschitz_losses,
)
"""Assumptions that hold in the round, or are imposed with their constants."""
