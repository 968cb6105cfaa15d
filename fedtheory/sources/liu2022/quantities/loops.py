"""Quantities of the loop over iterations as published in the slides, compared with FedAvg."""

from __future__ import annotations

from fedtheory.arithmetic.enclosures import largest
from fedtheory.language.quantities.quantity import RunQuantity
from fedtheory.sources.liu2022.quantities.published_loop import (
    compute_loop_moments,
    iterate_with_early_restart,
    measure_largest_deviation,
    simulate_as_published,
)

restarted_deviation = RunQuantity(
    "restarted_deviation",
    r"\max_{t,i}\|x_i^t-x_i^{\mathrm{FedAvg},t}\|",
    "largest distance between the iterates of the printed loop over t and those of FedAvg, with the same draws",
    lambda run: measure_largest_deviation(run, simulate_as_published),
    root=True,
    primitive="process",
)
restarting_first_deviation = RunQuantity(
    "restarting_first_deviation",
    r"\max_{t,i}\|x_i^t-x_i^{\mathrm{FedAvg},t}\|",
    "largest distance from FedAvg of the loop that restarts where (t-1) mod K = 0, before the gradient is observed",
    lambda run: measure_largest_deviation(run, iterate_with_early_restart),
    root=True,
    primitive="process",
)
loop_gradient_sq = RunQuantity(
    "loop_gradient_sq",
    r"\frac1T\sum_{t=1}^T\mathbb E\|\nabla f(\bar x^{t-1})\|^2",
    "(1/T) sum_{t=1..T} E|grad F(xbar^{t-1})|^2 of the printed loop over t: gradients are observed before a restart",
    lambda run: run.compute_once(compute_loop_moments).gradient_sq.mean(),
    primitive="process",
)
loop_consensus_error = RunQuantity(
    "loop_consensus_error",
    r"\max_{t,i}\mathbb E\|\bar x^t-x_i^t\|^2",
    "max over t = 1..T and i of E|xbar^t - x_i^t|^2 of the printed loop over t",
    lambda run: largest(run.compute_once(compute_loop_moments).consensus_error),
    primitive="process",
)
loop_second_moment = RunQuantity(
    "loop_second_moment",
    "G",
    "G, G^2 = max over t and i of E|G_i^t|^2 along the printed loop over t",
    lambda run: largest(run.compute_once(compute_loop_moments).stochastic_gradient_sq),
    root=True,
    primitive="process",
)
loop_noise_deviation = RunQuantity(
    "loop_noise_deviation",
    r"\sigma",
    "sigma, sigma^2 = max over t and i of E|G_i^t - grad F_i(x_i^{t-1})|^2 along the printed loop over t",
    lambda run: largest(run.compute_once(compute_loop_moments).noise_sq),
    root=True,
    primitive="process",
)
