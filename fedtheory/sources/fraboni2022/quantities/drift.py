"""Drift of the clients' iterates from the virtual iterate, and from the received model."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.kernel.expressions import Selected
from fedtheory.language.quantities.measuring.reductions import FIRST_STEP, LAST_STEP, SUM_BEFORE_STEP
from fedtheory.language.quantities.measuring.terms import compile_term, define
from fedtheory.language.quantities.quantity import per_round
from fedtheory.sources.fraboni2022.quantities.vectors import (
    LOCAL,
    NEXT_LOCAL,
    RECEIVED,
    SAMPLE,
    SERVER,
    SERVER_STEP,
    VIRTUAL,
    define_at_each_step,
    define_step_average,
    square,
    weigh_by_shares,
)

client_spread = define(
    "client_spread",
    r"\phi(n)",
    "phi(n): mean over k of sum_i q_i/q E|theta_i^{rho,k} - theta^{n,k}|^2",
    define_step_average(weigh_by_shares(square(LOCAL - VIRTUAL))),
)
client_distance_sq = define(
    "client_distance_sq",
    r"\mathbb E\|\theta_i^{\rho_i(n),k}-\theta^{n,k}\|^2",
    "E|theta_i^{rho,k} - theta^{n,k}|^2 of each client",
    define_at_each_step(square(LOCAL - VIRTUAL)),
)
local_change_sq = define(
    "local_change_sq",
    r"\mathbb E\|\theta_i^{\rho_i(n)+1}-\theta^{\rho_i(n)}\|^2",
    "E|theta_i^{rho,K} - theta^rho|^2, what K local steps change, of each client in each update",
    define_at_each_step(square(NEXT_LOCAL - RECEIVED), LAST_STEP),
)
_STALE_DISTANCE = define_at_each_step(square(RECEIVED - SERVER))
received_distance_sq = per_round(
    "received_distance_sq",
    r"\mathbb E\|\theta^{\rho_i(n)}-\theta^n\|^2",
    "E|theta^{rho_i(n)} - theta^n|^2 of each client",
    compile_term(replace(_STALE_DISTANCE, over=(FIRST_STEP,))),
    term=_STALE_DISTANCE,
)
distance_from_shares_sq = define(
    "distance_from_shares_sq",
    r"\mathbb E\|\theta^{n,k}-[\theta^n-\eta_l\sum_{l<k}\sum_i\tilde q_i(n)g_i]\|^2",
    "E|theta^{n,k} - theta^n + sum_i q~_i (theta^{rho_i} - theta_i^{rho,k})|^2: how far the virtual iterate is from "
    "the server's model and the local work of all clients with their shares",
    define_at_each_step(square(VIRTUAL - SERVER - weigh_by_shares(LOCAL - RECEIVED))),
)
past_gradient_spread = define(
    "past_gradient_spread",
    r"\sum_{l<k}\mathbb E\|g_i-\sum_j\tilde q_jg_j\|^2",
    "sum over l < k of E|g_i - sum_j q~_j g_j|^2 of each client, at the iterates of step l",
    define_at_each_step(square(SAMPLE - weigh_by_shares(SAMPLE)), SUM_BEFORE_STEP),
)
past_applied_spread = define(
    "past_applied_spread",
    r"\sum_{l<k}\mathbb E\|g_i-\eta_g\sum_j\omega_jg_j\|^2",
    "sum over l < k of E|g_i - eta_g sum_j w_j g_j|^2 of each client, at the iterates of step l",
    define_at_each_step(square(SAMPLE - SERVER_STEP * Selected(SAMPLE)), SUM_BEFORE_STEP),
)
