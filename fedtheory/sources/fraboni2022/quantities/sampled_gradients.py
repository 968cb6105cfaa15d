"""Differences of sampled gradients between points, with common random numbers.

A client's sampled objective has a random curvature A_i, so that the two
gradients of one draw at u and v differ by A_i (u - v); the draw is
independent of both points.
"""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, Vector
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import LinearMaps
from fedtheory.kernel.expressions import Gradient
from fedtheory.language.quantities.measuring.axes import place_on_clients, place_on_rounds_and_clients
from fedtheory.language.quantities.measuring.expectations import (
    expected,
    measure_at_each_step,
    minus,
    once,
    shares_at,
    square,
    sum_over_clients,
)
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import RunQuantity, per_round, per_step
from fedtheory.sources.fraboni2022.quantities.vectors import (
    AT_VIRTUAL,
    FULL_OBJECTIVE,
    VIRTUAL,
    define_at_each_step,
    weigh_by_shares,
)
from fedtheory.sources.fraboni2022.quantities.vectors import square as square_of


def _gradient_change(frame: Frame, at: Vector, other: Vector) -> Vector:
    """grad L_i(u) - grad L_i(v) of each client."""
    objectives = frame.client_objectives
    return minus(objectives.gradient(frame, at), objectives.gradient(frame, other), frame)


def _random_change(frame: Frame, at: Vector, other: Vector) -> Array:
    """Compute the sampling part of E|A_i (u - v)|^2 of each client, for points independent of the draw, (M,)."""
    away = minus(at, other, frame)
    return expected(frame, away, away.mapped(frame.run.once(_noise_curvatures)))


def _noise_curvatures(run: Run) -> LinearMaps:
    """The quadratic part of the noise's variance at a point, of each client."""
    return LinearMaps(run.noise_forms[:, 1:, 1:])


def _change(frame: Frame, at: Vector, other: Vector) -> Array:
    """E|grad L_i(u, xi) - grad L_i(v, xi)|^2 of each client, (M,)."""
    return square(frame, _gradient_change(frame, at, other)) + _random_change(frame, at, other)


def _stale_change(frame: Frame) -> Array:
    return _change(frame, frame.local, frame.virtual)


stale_gradient_change = per_step(
    "stale_gradient_change",
    r"\mathbb E\|g_i(\theta_i^{\rho_i(n),k})-\nabla\mathcal L_i(\theta^{n,k},\xi_i)\|^2",
    "E|grad L_i(theta_i^{rho,k}, xi) - grad L_i(theta^{n,k}, xi)|^2 of each client, the same draw at both points",
    measure_at_each_step(_stale_change),
)


def _mixed_stale_change(frame: Frame) -> Array:
    """E|sum_i q~_i A_i u_i|^2: the mean curvatures mix, what is random of them is independent from client to client."""
    shares, points = shares_at(frame), (frame.local, frame.virtual)
    mixed = square(frame, _gradient_change(frame, *points).averaged(shares))
    random = _random_change(frame, *points)
    return mixed + sum_over_clients(shares * shares, random)


mixed_gradient_change = per_step(
    "mixed_gradient_change",
    r"\mathbb E\|\sum_i\tilde q_i(n)[g_i(\theta_i^{\rho_i(n),k})-\nabla\mathcal L_i(\theta^{n,k},\xi_i)]\|^2",
    "E|sum_i q~_i [grad L_i(theta_i^{rho,k}, xi_i) - grad L_i(theta^{n,k}, xi_i)]|^2, the same draw at both points",
    measure_at_each_step(_mixed_stale_change),
)


def _round_optimum(frame: Frame) -> Vector:
    return frame.constant(frame.of_round(frame.run.surrogate.round_optima[:, None]))


change_from_round_optimum = per_step(
    "change_from_round_optimum",
    r"\mathbb E\|\nabla\mathcal L_i(\theta^{n,k},\xi_i)-\nabla\mathcal L_i(\bar\theta^n,\xi_i)\|^2",
    "E|grad L_i(theta^{n,k}, xi) - grad L_i(thetabar^n, xi)|^2 of each client, the same draw at both points",
    measure_at_each_step(lambda frame: _change(frame, frame.virtual, _round_optimum(frame))),
)


@once
def _virtual_noise(frame: Frame) -> Array:
    """E|grad L_i(theta^{n,k}, xi) - grad L_i(theta^{n,k})|^2 of each client, (M,)."""
    forms, point = frame.run.noise_forms, frame.virtual
    linear = expected(frame, frame.constant(forms[:, 0, 1:]), point)
    curved = expected(frame, point, point.mapped(frame.run.once(_noise_curvatures)))
    values: Array = curved + 2 * linear + forms[:, 0, 0]
    return values


@once
def _virtual_gradients(frame: Frame) -> Vector:
    """grad L_i(theta^{n,k})."""
    return frame.client_objectives.gradient(frame, frame.virtual)


def _virtual_second_moments(frame: Frame) -> Array:
    return square(frame, _virtual_gradients(frame)) + _virtual_noise(frame)


virtual_second_moment = per_step(
    "virtual_second_moment",
    r"\mathbb E\|\nabla\mathcal L_i(\theta^{n,k},\xi_i)\|^2",
    "E|grad L_i(theta^{n,k}, xi)|^2 of each client",
    measure_at_each_step(_virtual_second_moments),
)


def _mixed_noise(frame: Frame) -> Array:
    shares = shares_at(frame)
    return sum_over_clients(shares * shares, _virtual_noise(frame))


mixed_noise_at_virtual = per_step(
    "mixed_noise_at_virtual",
    r"\mathbb E\|\sum_i\tilde q_i(n)[\nabla\mathcal L_i(\theta^{n,k},\xi_i)-\nabla\mathcal L_i(\theta^{n,k})]\|^2",
    "E|sum_i q~_i [grad L_i(theta^{n,k}, xi_i) - grad L_i(theta^{n,k})]|^2, independent draws",
    measure_at_each_step(_mixed_noise),
)


mean_gradient_at_virtual_sq = define(
    "mean_gradient_at_virtual_sq",
    r"\mathbb E\|\sum_i\tilde q_i(n)\nabla\mathcal L_i(\theta^{n,k})\|^2",
    "E|sum_i q~_i grad L_i(theta^{n,k})|^2",
    define_at_each_step(square_of(weigh_by_shares(AT_VIRTUAL))),
)
virtual_gradient_lengths = define(
    "virtual_gradient_lengths",
    r"\mathbb E\|\nabla\mathcal L_i(\theta^{n,k})\|^2",
    "E|grad L_i(theta^{n,k})|^2 of each client",
    define_at_each_step(square_of(AT_VIRTUAL)),
)
objective_gradient_sq = define(
    "objective_gradient_sq",
    r"\mathbb E\|\nabla\mathcal L(\theta^{n,k})\|^2",
    "E|grad L(theta^{n,k})|^2, L the objective of the federated problem",
    define_at_each_step(square_of(Gradient(FULL_OBJECTIVE, VIRTUAL))),
)
gradient_deviation_sq = define(
    "gradient_deviation_sq",
    r"\mathbb E\|\nabla\mathcal L(\theta^{n,k})-\nabla\tilde{\mathcal L}^n(\theta^{n,k})\|^2",
    "E|grad L(theta^{n,k}) - grad L~^n(theta^{n,k})|^2, L~^n = L^n / q(n)",
    define_at_each_step(square_of(Gradient(FULL_OBJECTIVE, VIRTUAL) - weigh_by_shares(AT_VIRTUAL))),
)
second_moment_at_round_optimum = per_round(
    "second_moment_at_round_optimum",
    r"\mathbb E\|\nabla\mathcal L_i(\bar\theta^n,\xi_i)\|^2",
    "E|grad L_i(thetabar^n, xi)|^2 of each client",
    lambda run: place_on_rounds_and_clients(run.second_moments_at(run.surrogate.round_optima)),
)
second_moment_at_surrogate_optimum = RunQuantity(
    "second_moment_at_surrogate_optimum",
    r"\mathbb E\|\nabla\mathcal L_i(\bar\theta,\xi_i)\|^2",
    "E|grad L_i(thetabar, xi)|^2 of each client",
    lambda run: place_on_clients(np.asarray(run.second_moments_at(run.surrogate.optimum))),
)


def _measure_change_between_optima(run: Run) -> Array:
    """E|grad L_i(thetabar^n, xi) - grad L_i(thetabar, xi)|^2, (N, M)."""
    clients = range(run.problem.clients)
    points, fixed = (
        np.repeat(at[..., None, :], len(clients), axis=-2) for at in (run.surrogate.round_optima, run.surrogate.optimum)
    )
    objectives, away = run.client_objectives, points - fixed
    change = objectives.gradients(clients, points) - objectives.gradients(clients, fixed)
    random = (run.noise_forms[:, 1:, 1:] @ away[..., None])[..., 0]
    lengths: Array = (change * change + random * away).sum(axis=-1)
    return lengths


change_between_optima = per_round(
    "change_between_optima",
    r"\mathbb E\|\nabla\mathcal L_i(\bar\theta^n,\xi_i)-\nabla\mathcal L_i(\bar\theta,\xi_i)\|^2",
    "E|grad L_i(thetabar^n, xi) - grad L_i(thetabar, xi)|^2 of each client, the same draw at both points",
    lambda run: place_on_rounds_and_clients(_measure_change_between_optima(run)),
)
