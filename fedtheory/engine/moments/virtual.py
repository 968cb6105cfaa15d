"""The virtual iterates of every update, for any clock and any law of participation.

    theta^{n,k} = theta^n + eta_g sum_i w_i(n) (x_i^{rho_i(n),k} - theta^{rho_i(n)})

(fraboni2022, eq. 7): what the first k local steps of those who report would make
of the server's model.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.local import LocalStep, homogeneous, unroll
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.federation.clock import Update
from fedtheory.federation.problem.quadratic import weighted_sum


def virtual_moments(recursion: Recursion, rounds: Iterable[tuple[Update, LiveModels]]) -> Array:
    """E (1, theta^{n,k} - x*)(1, theta^{n,k} - x*)', (T, K+1, d+1, d+1)."""
    of_round = _synchronous if recursion.is_synchronous else _stale
    return np.stack([of_round(recursion, update, live) for update, live in rounds])


def _synchronous(recursion: Recursion, _update: Update, live: LiveModels) -> Array:
    moment, steps = live.newest_moment, unroll(recursion.centred, recursion.work, live.newest_moment)
    return np.stack([recursion.after_steps(moment, local) for local in steps])


def _stale(recursion: Recursion, update: Update, live: LiveModels) -> Array:
    bases = live.moments([live.newest - age for age in update.staleness])
    steps = unroll(recursion.centred, recursion.work, bases)
    return np.stack([_stale_step(recursion, update, live, local) for local in steps])


def _stale_step(recursion: Recursion, update: Update, live: LiveModels, local: LocalStep) -> Array:
    displacements = local.maps - recursion.problem.arithmetic.identity(local.maps.shape[-1])
    _, second = live.combine(recursion.maps_after(displacements, live, update))
    reports = list(update.reports)
    weights = recursion.iterate_weights[reports]
    noise = weighted_sum(weights * weights, local.covariances[reports])
    return second + homogeneous(noise)
