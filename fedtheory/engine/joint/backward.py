"""The model's moments from its end: what matters of the vectors at the start of a round, round by round backwards.

The model after n rounds is linear in where all vectors start and in the noise
of the rounds.  Where all rounds are alike and nothing but gradient noise is
random, the noise j rounds before the end does to the model what R_j says,
R_{j+1} being R_j pulled back through one more round:

    E x^n x^n' = (R_n z^0)(R_n z^0)' + sum_{j<n} R_j N R_j'.

That costs a few numbers for each client in a round, where the moments between
all clients cost a few for each two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.joint.transition import Transition


@dataclass(frozen=True, eq=False)
class Rows:
    """Vectors as ``shared @ (1, s) + sum_i clients_i @ c_i``."""

    shared: Array
    """(rows, a)."""
    clients: Array
    """Of one client of each kind, (G, rows, b)."""


def model_moments(transition: Transition, model: Rows, start: Rows, noise: Array, rounds: int) -> Iterator[Array]:
    """E (1, x^n)(1, x^n)', n = 0 .. T, for a model of so many rows; the start is one row of values."""
    counts = transition.group.counts
    added = None
    for n in range(rounds + 1):
        value = model.shared @ start.shared[0]
        each = model.clients @ start.clients[:, 0, :, None]
        value = value + np.tensordot(counts, each[..., 0], axes=1)
        carried = np.outer(value, value)
        yield carried if added is None else carried + added
        if n == rounds:
            return
        model, gains = pulled_back(transition, model)
        fresh = np.tensordot(counts, gains @ noise @ gains.transpose(0, 2, 1), axes=1)
        added = fresh if added is None else added + fresh


def pulled_back(transition: Transition, rows: Rows) -> tuple[Rows, Array]:
    """What vectors after a round are before it, and what its noise adds to them for a client of each kind."""
    maps, counts, size = transition.maps, transition.group.counts, transition.shared
    ends = rows.shared @ maps.server
    shared, of_sums = ends[:, :size], ends[:, size:]
    if maps.broadcast is not None:
        of_sums = of_sums + np.tensordot(counts, rows.clients @ maps.broadcast, axes=1)
    said = _said(transition, rows.clients)
    expected, new = transition.expected, transition.present * transition.change.noise
    shared = shared + np.tensordot(counts, said @ expected.shared, axes=1)
    clients, gains = said @ expected.own, said @ new
    for sums in transition.sums:
        shared = shared + of_sums @ sums.shared
        clients = clients + of_sums @ sums.split.own
        gains = gains + of_sums @ sums.forms.noise
    return Rows(shared, clients), gains


def _said(transition: Transition, clients: Array) -> Array:
    """What matters of the clients' vectors and, where there is a graph, of what they say to their neighbours."""
    if transition.maps.mixed is None:
        return clients
    heard = np.tensordot(transition.group.graph, clients @ transition.maps.mixed[1], axes=(0, 0))
    return np.concatenate([clients, heard], axis=2)


def model_rows(shared: Array, own: Array, shares: Array) -> Rows:
    """The model with the number 1 above it, (d+1 rows): from (1, s), (d, a), and the average of what clients have."""
    first = shared[:1] - shared[:1]
    first[0, 0] = first[0, 0] + 1
    clients = shares[:, None, None] * own
    return Rows(np.concatenate([first, shared]), np.concatenate([clients[:, :1] - clients[:, :1], clients], axis=1))
