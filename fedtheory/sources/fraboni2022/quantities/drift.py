"""Drift of the clients' iterates from the virtual iterate, and from the received model."""

from __future__ import annotations

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, Vector
from fedtheory.language.quantities.measuring.expectations import (
    mean_gradient,
    mean_over_steps,
    measure_at_each_step,
    measure_at_step,
    measure_before_each_step,
    minus,
    once,
    selected_gradient,
    shares_at,
    square,
    sum_over_shares,
)
from fedtheory.language.quantities.quantity import per_round, per_step


@once
def _apart(frame: Frame) -> Vector:
    """theta_i^{rho,k} - theta^{n,k}."""
    return minus(frame.local, frame.virtual, frame)


def _client_spread(frame: Frame) -> Array:
    return sum_over_shares(frame, square(frame, _apart(frame)))


client_spread = per_round(
    "client_spread",
    r"\phi(n)",
    "phi(n): mean over k of sum_i q_i/q E|theta_i^{rho,k} - theta^{n,k}|^2",
    mean_over_steps(_client_spread),
)


client_distance_sq = per_step(
    "client_distance_sq",
    r"\mathbb E\|\theta_i^{\rho_i(n),k}-\theta^{n,k}\|^2",
    "E|theta_i^{rho,k} - theta^{n,k}|^2 of each client",
    measure_at_each_step(lambda frame: square(frame, _apart(frame))),
)


local_change_sq = per_round(
    "local_change_sq",
    r"\mathbb E\|\theta_i^{\rho_i(n)+1}-\theta^{\rho_i(n)}\|^2",
    "E|theta_i^{rho,K} - theta^rho|^2, what K local steps change, of each client in each update",
    measure_at_step(-1, lambda frame: square(frame, minus(frame.next_local, frame.received, frame))),
)


def _age_sq(frame: Frame) -> Array:
    return square(frame, minus(frame.received, frame.server, frame))


received_distance_sq = per_round(
    "received_distance_sq",
    r"\mathbb E\|\theta^{\rho_i(n)}-\theta^n\|^2",
    "E|theta^{rho_i(n)} - theta^n|^2 of each client",
    measure_at_step(0, _age_sq),
)


def _shares_apart(frame: Frame) -> Array:
    """E|theta^{n,k} - theta^n + sum_i q~_i (theta^{rho_i} - theta_i^{rho,k})|^2."""
    moved = minus(frame.local, frame.received, frame).averaged(shares_at(frame))
    return square(frame, minus(frame.virtual, frame.server + moved, frame))


distance_from_shares_sq = per_step(
    "distance_from_shares_sq",
    r"\mathbb E\|\theta^{n,k}-[\theta^n-\eta_l\sum_{l<k}\sum_i\tilde q_i(n)g_i]\|^2",
    "E|theta^{n,k} - theta^n + sum_i q~_i (theta^{rho_i} - theta_i^{rho,k})|^2: how far the virtual iterate is from "
    "the server's model and the local work of all clients with their shares",
    measure_at_each_step(_shares_apart),
)


def _gradient_spread(frame: Frame) -> Array:
    return square(frame, minus(frame.gradient, mean_gradient(frame), frame))


past_gradient_spread = per_step(
    "past_gradient_spread",
    r"\sum_{l<k}\mathbb E\|g_i-\sum_j\tilde q_jg_j\|^2",
    "sum over l < k of E|g_i - sum_j q~_j g_j|^2 of each client, at the iterates of step l",
    measure_before_each_step(_gradient_spread),
)


def _applied_spread(frame: Frame) -> Array:
    return square(frame, minus(frame.gradient, selected_gradient(frame).scaled(frame.server_step_size), frame))


past_applied_spread = per_step(
    "past_applied_spread",
    r"\sum_{l<k}\mathbb E\|g_i-\eta_g\sum_j\omega_jg_j\|^2",
    "sum over l < k of E|g_i - eta_g sum_j w_j g_j|^2 of each client, at the iterates of step l",
    measure_before_each_step(_applied_spread),
)
