"""Moments inside rounds with stale models: the virtual iterate, and the distance of each client from it.

    theta^{n,k} = theta^n + eta_g sum_i w_i(n) (x_i^{rho_i(n),k} - theta^{rho_i(n)})

(fraboni2022, eq. 7), with ``theta^{n,0} = theta^n`` and ``theta^{n,K} = theta^{n+1}``.
Clients that do not report in round n are at local step k as well.  Rounds whose update
involves equally many models are evaluated together, with a leading axis of rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array, product
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.local import LocalStep, LocalSteps, embed_covariances
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.federation.clock import Update

_MOST = 2**20
"""Limit on the joint moments of rounds that are stored at a time."""


@dataclass(frozen=True, eq=False)
class StaleRounds:
    """Expectations inside the rounds n = 0 .. T-1, for k = 0 .. K."""

    recursion: Recursion
    rounds: Callable[[], Iterable[tuple[Update, LiveModels]]]
    """Each update with the models that are live before it, from the first one on."""
    require_finite: Callable[[Array], Array]
    """Check that returns its argument, or raises `Diverging`."""

    @cached_property
    def moments(self) -> Array:
        """E (1, theta^{n,k} - x*)(1, theta^{n,k} - x*)', (T, K+1, d+1, d+1)."""
        return self._measure(lambda alike, step: alike.moments(step))

    @cached_property
    def drift(self) -> Array:
        """E|x_i^{rho_i(n),k} - theta^{n,k}|^2, (T, K+1, M)."""
        return self._measure(lambda alike, step: alike.drift(step))

    def _measure(self, measure: Callable[[_Rounds, LocalStep], Array]) -> Array:
        """Evaluate `measure` in each round after each number of local steps, (T, K+1, ...)."""
        local_steps = LocalSteps(self.recursion.centred, self.recursion.work)
        found: dict[int, Array] = {}
        with np.errstate(over="ignore", invalid="ignore"):
            for alike in _gather(self.recursion, self.rounds()):
                values = np.stack([measure(alike, step) for step in local_steps.start_from(alike.bases)], axis=1)
                found.update(zip(alike.numbers, values, strict=True))
        return self.require_finite(np.stack([found[number] for number in range(len(found))]))


@dataclass(frozen=True, eq=False)
class _Round:
    """A round before its update: the V live models, and the S of them that enter the virtual iterate."""

    number: int
    weights: Array
    """v_i, (M,)."""
    reports: tuple[int, ...]
    base_places: tuple[int, ...]
    """Index among the live models of the one that each client works on, (M,)."""
    sources: tuple[int, ...]
    """Indices of the S models, the server's first."""
    rows: Array
    """Joint second moments of the S models with the live ones, (S, V, d+1, d+1)."""
    bases: Array
    """Second moments of the models that clients work on, (M, d+1, d+1)."""

    @classmethod
    def from_update(cls, recursion: Recursion, number: int, update: Update, live: LiveModels) -> _Round:
        """Return the weights, models and moments of the round that ends with an update."""
        versions = [live.newest - age for age in update.staleness]
        made_of = [*dict.fromkeys((live.newest, *(versions[client] for client in update.reports)))]
        base_places, sources = (tuple(map(live.place, some)) for some in (versions, made_of))
        weights, rows = recursion.iterate_weights(update), live.rows(made_of)
        return cls(number, weights, update.reports, base_places, sources, rows, live.moments(versions))


def _gather(recursion: Recursion, rounds: Iterable[tuple[Update, LiveModels]]) -> Iterator[_Rounds]:
    """Yield groups of rounds with equally many models, of bounded memory."""
    waiting: dict[tuple[int, ...], list[_Round]] = {}
    numbers = 0
    for number, (update, live) in enumerate(rounds):
        one = _Round.from_update(recursion, number, update, live)
        waiting.setdefault(one.rows.shape, []).append(one)
        numbers += one.rows.size + one.bases.size
        if numbers > _MOST:
            yield from (_Rounds(recursion, alike) for alike in waiting.values())
            waiting, numbers = {}, 0
    yield from (_Rounds(recursion, alike) for alike in waiting.values())


class _Rounds:
    """N rounds with equally many models."""

    def __init__(self, recursion: Recursion, rounds: Sequence[_Round]) -> None:
        self.numbers = [one.number for one in rounds]
        self.bases = np.stack([one.bases for one in rounds])
        """Second moments of the models that clients work on, (N, M, d+1, d+1)."""
        self._identity = recursion.problem.arithmetic.identity(recursion.problem.dimension + 1)
        self._weights = np.stack([one.weights for one in rounds])
        self._rows = np.stack([one.rows for one in rounds])
        self._base_places = np.array([one.base_places for one in rounds])
        self._sources = np.array([one.sources for one in rounds])
        self._placed = self._distribute_weights([one.reports for one in rounds])

    def _distribute_weights(self, reports: Sequence[tuple[int, ...]]) -> Array:
        """Return the weights of the reporting clients, each at the model that it started from, (N, S, M)."""
        is_reporting = np.zeros(self._base_places.shape, dtype=bool)
        for row, clients in zip(is_reporting, reports, strict=True):
            row[list(clients)] = True
        is_placed = (self._sources[:, :, None] == self._base_places[:, None, :]) & is_reporting[:, None, :]
        return np.where(is_placed, self._weights[:, None, :], self._weights[0, 0] * 0)

    def _collect_joint(self, columns: Array) -> Array:
        """Return joint second moments of the S models with C of the live ones, (N, S(d+1), C(d+1))."""
        rounds, sources, _, size, _ = self._rows.shape
        every, each = np.arange(rounds)[:, None, None], np.arange(sources)[None, :, None]
        joint: Array = self._rows[every, each, columns[:, None, :]].swapaxes(2, 3)
        return joint.reshape(rounds, sources * size, columns.shape[1] * size)

    @cached_property
    def _with_sources(self) -> Array:
        """Return the joint moments of the models that updates start from."""
        return self._collect_joint(self._sources)

    @cached_property
    def _with_bases(self) -> Array:
        """Return the joint moments of the models that reports began from."""
        return self._collect_joint(self._base_places)

    def _collect_maps(self, step: LocalStep) -> Array:
        """Return maps from the S models to the virtual iterate, (N, d+1, S(d+1))."""
        rounds, sources, clients = self._placed.shape
        displacements = (step.maps - self._identity).reshape(clients, -1)
        maps = (self._placed @ displacements).reshape(rounds, sources, *self._identity.shape)
        maps[:, 0] += self._identity
        side_by_side: Array = maps.swapaxes(1, 2).reshape(rounds, len(self._identity), -1)
        return side_by_side

    def moments(self, step: LocalStep) -> Array:
        """Return second moments of the virtual iterates after a local step, (N, d+1, d+1)."""
        maps = self._collect_maps(step)
        carried = product(product(maps, self._with_sources), maps.swapaxes(-1, -2))
        noise = (self._weights * self._weights)[..., None, None] * step.covariances
        moments: Array = carried + embed_covariances(noise.sum(axis=1))
        return moments

    def drift(self, step: LocalStep) -> Array:
        """Return expected squared distances of the clients' iterates from the virtual ones, (N, M)."""
        maps, moments = self._collect_maps(step), self.moments(step)
        rounds, clients = self._weights.shape
        shared = product(maps, self._with_bases).reshape(rounds, len(self._identity), clients, -1).swapaxes(1, 2)
        own = ((step.maps @ self.bases - 2 * shared) * step.maps)[:, :, 1:].sum(axis=(2, 3))
        # The noise of a reporting client is in the virtual iterate as well.
        noise = step.covariances.trace(axis1=-2, axis2=-1) * (1 - 2 * self._weights)
        drift: Array = own + noise + moments[:, 1:, 1:].trace(axis1=1, axis2=2)[:, None]
        return drift
