"""Inside rounds with stale models: the virtual iterate, and how far each client is from it.

    theta^{n,k} = theta^n + eta_g sum_i w_i(n) (x_i^{rho_i(n),k} - theta^{rho_i(n)})

(fraboni2022, eq. 7), with ``theta^{n,0} = theta^n`` and ``theta^{n,K} = theta^{n+1}``.
The clients that do not report in round n are on their way as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.local import LocalStep, LocalSteps, homogeneous
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.federation.clock import Update
from fedtheory.federation.problem.quadratic import weighted_sum


@dataclass(frozen=True, eq=False)
class StaleRounds:
    """Expectations inside the rounds n = 0 .. T-1, for k = 0 .. K."""

    moments: Array
    """E (1, theta^{n,k} - x*)(1, theta^{n,k} - x*)', (T, K+1, d+1, d+1)."""
    drift: Array
    """E|x_i^{rho_i(n),k} - theta^{n,k}|^2, (T, K+1, M)."""

    @classmethod
    def of(cls, recursion: Recursion, rounds: Iterable[tuple[Update, LiveModels]]) -> StaleRounds:
        """All rounds, one after the other."""
        local_steps = LocalSteps(recursion.centred, recursion.work)
        found = [_round(recursion, update, live, local_steps) for update, live in rounds]
        moments, drift = zip(*found, strict=True)
        return cls(np.stack(moments), np.stack(drift))


def _round(recursion: Recursion, update: Update, live: LiveModels, local_steps: LocalSteps) -> tuple[Array, Array]:
    bases = live.moments([live.newest - age for age in update.staleness])
    steps = [_step(recursion, update, live, bases, local) for local in local_steps.begun_at(bases)]
    moments, drift = zip(*steps, strict=True)
    return np.stack(moments), np.stack(drift)


def _step(
    recursion: Recursion, update: Update, live: LiveModels, bases: Array, local: LocalStep
) -> tuple[Array, Array]:
    """Second moment of the virtual iterate (d+1, d+1), and its distance from each client (M,)."""
    displacements = local.maps - recursion.problem.arithmetic.identity(local.maps.shape[-1])
    cross, second = live.combine(recursion.maps_after(displacements, live, update))
    weights = recursion.iterate_weights(update)
    noise = weighted_sum(weights * weights, local.covariances)
    moment = second + homogeneous(noise)
    own = local.maps @ bases @ local.maps.transpose(0, 2, 1)
    with_base = [cross[:, live.columns(live.newest - age)] for age in update.staleness]
    shared = np.stack(with_base) @ local.maps.transpose(0, 2, 1)
    carried = _squares(own) - 2 * _squares(shared) + moment[1:, 1:].trace()
    # The noise of a client that reports is in the virtual iterate as well.
    return moment, carried + local.covariances.trace(axis1=1, axis2=2) * (1 - 2 * weights)


def _squares(moments: Array) -> Array:
    """Traces of the (d, d) blocks of moments (M, d+1, d+1)."""
    traces: Array = moments[:, 1:, 1:].trace(axis1=1, axis2=2)
    return traces
