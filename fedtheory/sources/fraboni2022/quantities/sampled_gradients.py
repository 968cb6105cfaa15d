"""Differences of sampled gradients between points, with common random numbers.

A client's sampled objective has a random curvature A_i, so that the two
gradients of one draw at u and v differ by A_i (u - v); the draw is
independent of both points.
"""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Gradient
from fedtheory.language.quantities.measuring.axes import place_on_clients, place_on_rounds_and_clients
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import RunQuantity, per_round
from fedtheory.sources.fraboni2022.quantities.vectors import (
    AT_VIRTUAL,
    OBJECTIVE,
    SAMPLE_AT_LOCAL,
    SAMPLE_AT_ROUND_OPTIMUM,
    SAMPLE_AT_SURROGATE_OPTIMUM,
    SAMPLE_AT_VIRTUAL,
    VIRTUAL,
    define_at_each_step,
    square,
    weigh_by_shares,
)

stale_gradient_change = define(
    "stale_gradient_change",
    r"\mathbb E\|g_i(\theta_i^{\rho_i(n),k})-\nabla\mathcal L_i(\theta^{n,k},\xi_i)\|^2",
    "E|grad L_i(theta_i^{rho,k}, xi) - grad L_i(theta^{n,k}, xi)|^2 of each client, the same draw at both points",
    define_at_each_step(square(SAMPLE_AT_LOCAL - SAMPLE_AT_VIRTUAL)),
)
mixed_gradient_change = define(
    "mixed_gradient_change",
    r"\mathbb E\|\sum_i\tilde q_i(n)[g_i(\theta_i^{\rho_i(n),k})-\nabla\mathcal L_i(\theta^{n,k},\xi_i)]\|^2",
    "E|sum_i q~_i [grad L_i(theta_i^{rho,k}, xi_i) - grad L_i(theta^{n,k}, xi_i)]|^2, the same draw at both points",
    define_at_each_step(square(weigh_by_shares(SAMPLE_AT_LOCAL - SAMPLE_AT_VIRTUAL))),
)
change_from_round_optimum = define(
    "change_from_round_optimum",
    r"\mathbb E\|\nabla\mathcal L_i(\theta^{n,k},\xi_i)-\nabla\mathcal L_i(\bar\theta^n,\xi_i)\|^2",
    "E|grad L_i(theta^{n,k}, xi) - grad L_i(thetabar^n, xi)|^2 of each client, the same draw at both points",
    define_at_each_step(square(SAMPLE_AT_VIRTUAL - SAMPLE_AT_ROUND_OPTIMUM)),
)
virtual_second_moment = define(
    "virtual_second_moment",
    r"\mathbb E\|\nabla\mathcal L_i(\theta^{n,k},\xi_i)\|^2",
    "E|grad L_i(theta^{n,k}, xi)|^2 of each client",
    define_at_each_step(square(SAMPLE_AT_VIRTUAL)),
)
mixed_noise_at_virtual = define(
    "mixed_noise_at_virtual",
    r"\mathbb E\|\sum_i\tilde q_i(n)[\nabla\mathcal L_i(\theta^{n,k},\xi_i)-\nabla\mathcal L_i(\theta^{n,k})]\|^2",
    "E|sum_i q~_i [grad L_i(theta^{n,k}, xi_i) - grad L_i(theta^{n,k})]|^2, independent draws",
    define_at_each_step(square(weigh_by_shares(SAMPLE_AT_VIRTUAL - AT_VIRTUAL))),
)
mean_gradient_at_virtual_sq = define(
    "mean_gradient_at_virtual_sq",
    r"\mathbb E\|\sum_i\tilde q_i(n)\nabla\mathcal L_i(\theta^{n,k})\|^2",
    "E|sum_i q~_i grad L_i(theta^{n,k})|^2",
    define_at_each_step(square(weigh_by_shares(AT_VIRTUAL))),
)
virtual_gradient_lengths = define(
    "virtual_gradient_lengths",
    r"\mathbb E\|\nabla\mathcal L_i(\theta^{n,k})\|^2",
    "E|grad L_i(theta^{n,k})|^2 of each client",
    define_at_each_step(square(AT_VIRTUAL)),
)
objective_gradient_sq = define(
    "objective_gradient_sq",
    r"\mathbb E\|\nabla\mathcal L(\theta^{n,k})\|^2",
    "E|grad L(theta^{n,k})|^2, L the objective of the federated problem",
    define_at_each_step(square(Gradient(OBJECTIVE, VIRTUAL))),
)
gradient_deviation_sq = define(
    "gradient_deviation_sq",
    r"\mathbb E\|\nabla\mathcal L(\theta^{n,k})-\nabla\tilde{\mathcal L}^n(\theta^{n,k})\|^2",
    "E|grad L(theta^{n,k}) - grad L~^n(theta^{n,k})|^2, L~^n = L^n / q(n)",
    define_at_each_step(square(Gradient(OBJECTIVE, VIRTUAL) - weigh_by_shares(AT_VIRTUAL))),
)
second_moment_at_round_optimum = per_round(
    "second_moment_at_round_optimum",
    r"\mathbb E\|\nabla\mathcal L_i(\bar\theta^n,\xi_i)\|^2",
    "E|grad L_i(thetabar^n, xi)|^2 of each client",
    lambda run: place_on_rounds_and_clients(run.second_moments_at(run.surrogate.update_optima)),
    term=define_at_each_step(square(SAMPLE_AT_ROUND_OPTIMUM), FIRST_STEP),
)
second_moment_at_surrogate_optimum = RunQuantity(
    "second_moment_at_surrogate_optimum",
    r"\mathbb E\|\nabla\mathcal L_i(\bar\theta,\xi_i)\|^2",
    "E|grad L_i(thetabar, xi)|^2 of each client",
    lambda run: place_on_clients(np.asarray(run.second_moments_at(run.surrogate.optimum))),
    term=define_at_each_step(square(SAMPLE_AT_SURROGATE_OPTIMUM), FIRST_STEP, FIRST_ROUND),
)


def _measure_change_between_optima(run: Run) -> Array:
    """Return E|grad L_i(thetabar^n, xi) - grad L_i(thetabar, xi)|^2, (N, M), or (1, M) for equal updates."""
    clients = range(run.problem.clients)
    points, fixed = (
        np.repeat(at[..., None, :], len(clients), axis=-2)
        for at in (run.surrogate.update_optima, run.surrogate.optimum)
    )
    objectives, displacements = run.client_objectives, points - fixed
    change = objectives.gradients(clients, points) - objectives.gradients(clients, fixed)
    noise_change = (run.noise_forms[:, 1:, 1:] @ displacements[..., None])[..., 0]
    squares: Array = (change * change + noise_change * displacements).sum(axis=-1)
    return squares


change_between_optima = per_round(
    "change_between_optima",
    r"\mathbb E\|\nabla\mathcal L_i(\bar\theta^n,\xi_i)-\nabla\mathcal L_i(\bar\theta,\xi_i)\|^2",
    "E|grad L_i(thetabar^n, xi) - grad L_i(thetabar, xi)|^2 of each client, the same draw at both points",
    lambda run: place_on_rounds_and_clients(_measure_change_between_optima(run)),
    term=define_at_each_step(square(SAMPLE_AT_ROUND_OPTIMUM - SAMPLE_AT_SURROGATE_OPTIMUM), FIRST_STEP),
)
