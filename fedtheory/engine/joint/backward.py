"""The model's moments from its end: what matters of the vectors at the start of a round, round by round backwards.

The model after n rounds is linear in where all vectors start and in the noise
of the rounds.  Where all rounds are alike and nothing but gradient noise is
random, the noise j rounds before the end does to the model what R_j says,
R_{j+1} being R_j pulled back through one more round:

    E x^n x^n' = (R_n z^0)(R_n z^0)' + sum_{j<n} R_j N R_j'.

That costs a few numbers for each client in a round, where the moments between
all clients cost a few for each two of them.  All arrays may have a leading axis
over runs of one shape (R,), written as dots below.
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
    """Coefficients of one client of each kind, (..., G, rows, b)."""


@dataclass(frozen=True, eq=False)
class BackwardMaps:
    """The maps that all rounds of a run share, and its start; or those of R runs."""

    counts: Array
    """(..., G)."""
    server: Array
    """From (1, s, q) to (1, s'), (..., a, a+q)."""
    broadcast: Array | None
    """From q to the clients' vectors, (..., G, b, q), where they hear of it."""
    graph: Array | None
    """The weights W, (..., G, G), if there are any."""
    heard: Array | None
    """Coefficients of the neighbours' messages in the clients' vectors, (..., G, b, heard)."""
    shared: Array
    """Coefficients of (1, s) in the clients' vectors, (..., G, b + heard, a)."""
    own: Array
    """And of their own, (..., G, b + heard, b)."""
    gains: Array
    """And of the noise, (..., G, b + heard, entries)."""
    sums_shared: Array
    """Coefficients of (1, s) in q, (..., q, a)."""
    sums_own: Array
    """And from each client's vectors, (..., G, q, b)."""
    sums_gains: Array
    """And from its noise, (..., G, q, entries)."""
    noise: Array
    """Covariances of a round's noise, (..., G, entries, entries)."""
    start: Array
    """(1, s) when the run starts, (..., a)."""
    clients: Array
    """And the vectors of one client of each kind, (..., G, b)."""
    model: Array
    """1 and the model, from (1, s), (..., d+1, a)."""
    averaged: Array
    """And from the vectors of a client of each kind, (..., G, d+1, b)."""

    @property
    def shape(self) -> tuple[object, ...]:
        """The key shared by runs that are computed together."""
        return tuple(None if array is None else array.shape for array in self._arrays)

    @property
    def _arrays(self) -> list[Array | None]:
        return [getattr(self, field.name) for field in fields(self)]

    @classmethod
    def stacked(cls, several: Sequence[BackwardMaps]) -> BackwardMaps:
        """R runs of one shape as one, with a leading axis."""
        columns = zip(*(one._arrays for one in several), strict=True)
        return cls(*(None if column[0] is None else np.stack(column) for column in columns))  # type: ignore[arg-type]


def rounds_of(transition: Transition, noise: Array, begin: tuple[Array, Array], model: Rows) -> BackwardMaps:
    """Return the rounds of a run in which the same clients take part; `begin` holds (1, s) and the clients' vectors."""
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


def model_moments(run: BackwardMaps, rounds: int) -> Iterator[Array]:
    """E (1, x^n)(1, x^n)', n = 0 .. T, (..., d+1, d+1)."""
    rows, added = Rows(run.model, run.averaged), None
    for n in range(rounds + 1):
        value = rows.shared @ run.start[..., None]
        value = value + _sum_over_kinds(run.counts, rows.clients @ run.clients[..., None])
        carried = value @ _transpose(value)
        yield carried if added is None else carried + added
        if n == rounds:
            return
        rows, gains = pulled_back(run, rows)
        fresh = _sum_over_kinds(run.counts, gains @ run.noise @ _transpose(gains))
        added = fresh if added is None else added + fresh


def pulled_back(run: BackwardMaps, rows: Rows) -> tuple[Rows, Array]:
    """Pull vectors back through a round, and add its noise for a client of each kind."""
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
    """The sum over all clients of what one of each kind has, (..., rows, columns) from (..., G, rows, columns)."""
    total: Array = (counts[..., None, None] * values).sum(axis=-3)
    return total


def _transpose(matrices: Array) -> Array:
    return matrices.swapaxes(-1, -2)


def model_rows(shared: Array, own: Array, shares: Array) -> Rows:
    """The model with the number 1 above it, (d+1 rows): from (1, s), (d, a), and the average of what clients have."""
    first = shared[:1] - shared[:1]
    first[0, 0] = first[0, 0] + 1
    clients = shares[:, None, None] * own
    return Rows(np.concatenate([first, shared]), np.concatenate([clients[:, :1] - clients[:, :1], clients], axis=1))
