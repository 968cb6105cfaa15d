"""Symbols of bounds on FedAvg, and the quantities that they stand for."""

from __future__ import annotations

import sympy as sp

from fedtheory import quantities as q

eta, tau, T, M, L, mu = sp.symbols("eta tau T M L mu", positive=True)
D, sigma, zeta = sp.symbols("D sigma zeta", nonnegative=True)
WHERE = {
    eta: q.local_step_size,
    tau: q.local_steps,
    T: q.rounds,
    M: q.clients,
    L: q.smoothness,
    mu: q.strong_convexity,
    D: q.initial_distance,
    sigma: q.noise_deviation,
    zeta: q.gradient_dissimilarity,
}
