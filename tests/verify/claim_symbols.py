"""Symbols for claims in tests, with their meanings."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import quantities as q

eta, tau, T, M, L, D, sigma, zeta = sp.symbols("eta tau T M L D sigma zeta", positive=True)

WHERE: dict[sp.Symbol, q.Quantity] = {
    eta: q.local_step_size,
    tau: q.local_steps,
    T: q.rounds,
    M: q.clients,
    L: q.smoothness,
    D: q.initial_distance,
    sigma: q.noise_deviation,
    zeta: q.gradient_dissimilarity,
}
