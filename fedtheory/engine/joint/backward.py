"""Moments of the model by a backward recursion from the last round.

The model after n rounds is linear in the vectors at the start and in the noise
of the rounds.  If all rounds are alike and only the gradient noise is random,
the matrix R_j maps the noise j rounds before the end to the model, and
R_{j+1} is R_j composed with one more round:

    E x^n x^n' = (R_n z^0)(R_n z^0)' + sum_{j<n} R_j N R_j'.

This costs a few numbers per client and round, whereas the moments between
all clients cost a few for each pair.  All arrays may have a leading axis
over runs of equal shape (R,), written as dots below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.joint.transition import Transition


@dataclass(frozen=True, eq=False)
class Rows:
    """Vectors as ``shared @ (1, s) + sum_i clients_i @ c_i``."""

    shared: Array
    """(..., rows, a)."""
    clients: Array
    """Coefficients of one client of each class, (..., G, rows, b)."""


@dataclass(frozen=True, eq=False)
class BackwardMaps:
    """The maps that all rounds of a run share, and its start; or those of R runs."""

    counts: Array
    """Number of clients of each class, (..., G)."""
    server: Array
    """From (1, s, q) to (1, s'), (..., a, a+q)."""
    broadcast: Array | None
    """From q to the clients' vectors, (..., G, b, q), if q is broadcast."""
    graph: Array | None
    """The mixing matrix W, (..., G, G), if there is a graph."""
    heard: Array | None
    """Coefficients of the neighbours' messages in the clients' vectors, (..., G, b, heard)."""
    shared: Array
    """Coefficients of (1, s) in the clients' vectors, (..., G, b + heard, a)."""
    own: Array
    """Coefficients of their previous values in the clients' vectors, (..., G, b + heard, b)."""
    gains: Array
    """Coefficients of the noise in the clients' vectors, (..., G, b + heard, entries)."""
    sums_shared: Array
    """Coefficients of (1, s) in q, (..., q, a)."""
    sums_own: Array
    """Coefficients of each client's vectors in q, (..., G, q, b)."""
    sums_gains: Array
    """Coefficients of each client's noise in q, (..., G, q, entries)."""
    noise: Array
    """Covariances of a round's noise, (..., G, entries, entries)."""
    start: Array
    """(1, s) at the start of the run, (..., a)."""
    clients: Array
    """The vectors of one client of each class at the start, (..., G, b)."""
    model: Array
    """Coefficients of (1, s) in (1, model), (..., d+1, a)."""
    averaged: Array
    """Coefficients of the vectors of a client of each class in (1, model), (..., G, d+1, b)."""

    @property
    def shape(self) -> tuple[object, ...]:
        """The key shared by runs that are computed together."""
        return tuple(None if array is None else array.shape for array in self._arrays)

    @property
    def _arrays(self) -> list[Array | None]:
        """Return the values of all fields."""
        return [getattr(self, field.name) for field in fields(self)]

    @classmethod
    def stacked(cls, several: Sequence[BackwardMaps]) -> BackwardMaps:
        """Stack R runs of equal shape along a leading axis."""
        columns = zip(*(one._arrays for one in several), strict=True)
        return cls(*(None if column[0] is None else np.stack(column) for column in columns))  # type: ignore[arg-type]


def build_backward_maps(transition: Transition, noise: Array, begin: tuple[Array, Array], model: Rows) -> BackwardMaps:
    """Return the maps of rounds with fixed participants; `begin` holds (1, s) and the clients' vectors."""
    maps, expected, sums = transition.maps, transition.expected, transition.sums
    kinds, _, entries = transition.change.noise.shape
    none, size, own = maps.server[:0], transition.shared, expected.own.shape[2]
    nothing = np.broadcast_to(none[:, :1], (kinds, 0, 1))
    return BackwardMaps(
        transition.group.counts,
        maps.server,
        transition.broadcast,
        None if maps.mixed is None else transition.group.graph,
        None if maps.mixed is None else maps.mixed[1],
        expected.shared,
        expected.own,
        transition.present * transition.change.noise,
        sums[0].shared if sums else none[:, :size],
        sums[0].split.own if sums else np.repeat(nothing, own, axis=2),
        sums[0].forms.noise if sums else np.repeat(nothing, entries, axis=2),
        noise,
        *begin,
        model.shared,
        model.clients,
    )


def iterate_model_moments(run: BackwardMaps, rounds: int) -> Iterator[Array]:
    """Yield E (1, x^n)(1, x^n)', n = 0 .. T, (..., d+1, d+1)."""
    rows, added = Rows(run.model, run.averaged), None
    for n in range(rounds + 1):
        value = rows.shared @ run.start[..., None]
        value = value + _sum_over_kinds(run.counts, rows.clients @ run.clients[..., None])
        carried = value @ _transpose(value)
        yield carried if added is None else carried + added
        if n == rounds:
            return
        rows, gains = pull_back(run, rows)
        fresh = _sum_over_kinds(run.counts, gains @ run.noise @ _transpose(gains))
        added = fresh if added is None else added + fresh


def pull_back(run: BackwardMaps, rows: Rows) -> tuple[Rows, Array]:
    """Compose vectors with one more round; return them, and the covariance that its noise adds."""
    ends, size = rows.shared @ run.server, run.start.shape[-1]
    shared, of_sums = ends[..., :size], ends[..., size:]
    if run.broadcast is not None:
        of_sums = of_sums + _sum_over_kinds(run.counts, rows.clients @ run.broadcast)
    sent, each = _select_rows(run, rows.clients), of_sums[..., None, :, :]
    shared = shared + _sum_over_kinds(run.counts, sent @ run.shared) + of_sums @ run.sums_shared
    clients = sent @ run.own + each @ run.sums_own
    return Rows(shared, clients), sent @ run.gains + each @ run.sums_gains


def _select_rows(run: BackwardMaps, clients: Array) -> Array:
    """Return the relevant rows of the clients' vectors and, with a graph, of their messages to neighbours."""
    if run.graph is None or run.heard is None:
        return clients
    made = clients @ run.heard
    sent = _transpose(run.graph) @ made.reshape(*made.shape[:-2], -1)
    return np.concatenate([clients, sent.reshape(made.shape)], axis=-1)


def _sum_over_kinds(counts: Array, values: Array) -> Array:
    """Sum values of one client per class, (..., G, rows, columns), over all clients: (..., rows, columns)."""
    total: Array = (counts[..., None, None] * values).sum(axis=-3)
    return total


def _transpose(matrices: Array) -> Array:
    return matrices.swapaxes(-1, -2)


def build_model_rows(shared: Array, own: Array, shares: Array) -> Rows:
    """Return the rows of (1, model), (d+1 rows): coefficients of (1, s), (d, a), and of the clients' average."""
    first = shared[:1] - shared[:1]
    first[0, 0] = first[0, 0] + 1
    clients = shares[:, None, None] * own
    return Rows(np.concatenate([first, shared]), np.concatenate([clients[:, :1] - clients[:, :1], clients], axis=1))
