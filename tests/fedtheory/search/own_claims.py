"""User-defined claims about runs of plain FedAvg, true and false ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.targets import resolve

eta, tau, T, M, zeta, sigma, L, D, mu = sp.symbols("eta tau T M zeta sigma L D mu", positive=True)
WHERE = {
    eta: q.local_step_size,
    tau: q.local_steps,
    T: q.rounds,
    M: q.clients,
    zeta: q.gradient_dissimilarity,
    sigma: q.noise_deviation,
    L: q.smoothness,
    D: q.initial_distance,
}
SMALL_STEPS = (eta <= 1 / (4 * L),)
START = D**2 / (2 * eta * tau * T)


def error_bound(rest: Any, conditions: Sequence[Any] = SMALL_STEPS, **changed: Any) -> Claim:
    """A bound on the averaged error, as a user-defined file would state it."""
    stated = {"lhs": q.average_suboptimality, "rhs": START + rest, "where": WHERE, **changed}
    return resolve(Claim(id="mine:bound", conditions=list(conditions), **stated))


LOOSE = eta * sigma**2 + 18 * tau**2 * eta**2 * L * zeta**2 + 4 * (tau - 1) * eta**2 * L * sigma**2
"""A bound above the published one at every step size that it allows."""
TOO_FAST = eta * sigma**2 / M**2 + 18 * tau**2 * eta**2 * L * zeta**2 + 4 * (tau - 1) * eta**2 * L * sigma**2
"""A false bound, in which noise decreases with the square of the number of clients."""
CONVEX = (*(a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step), a.convex_and_smooth)
