"""Propagates the moments through a round.

With b_i the indicator of participation, and f_i the factor of a sum q,

    c_i' = c_i + b_i (new_i - c_i),    q = sum_i f_i e_i,    s' = linear in s and q,

where participation is independent of all vectors.  If the same clients participate
in every round, their factors are numbers and part of the matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np

from fedtheory.arithmetic import Array, arithmetic_of
from fedtheory.engine.joint.forms import Forms, stack_forms
from fedtheory.engine.joint.moments import (
    ClientVectors,
    Joint,
    compute_excess,
    correlate_pairs,
    correlate_random_sum,
    correlate_sum,
    correlate_with_server,
)
from fedtheory.engine.joint.round import OutcomeMaps
from fedtheory.engine.memo import Memo
from fedtheory.federation.participation_moments import Factor, ParticipationMoments


@dataclass(frozen=True, eq=False)
class Population:
    """The clients: classes with their counts, participation moments, and the graph between them."""

    counts: Array
    """Number of clients of each class, (G,), in the run's arithmetic."""
    participation_moments: ParticipationMoments
    """Participation moments of one client of each class."""
    mixing: Array | None
    """Mixing matrix W, (G, G); then every client is its own class."""

    @property
    def graph(self) -> Array:
        """The matrix W, for definitions with mixing."""
        assert self.mixing is not None
        return self.mixing

    def totals(self, one: Factor, other: Factor) -> Array:
        """Return E of a factor summed over class g times a factor of a client of class h, (G, G)."""
        pairs = self.participation_moments.pairs(one, other)
        totals = pairs * self.counts[:, None]
        same = np.arange(len(self.counts))
        totals[same, same] = totals[same, same] - pairs[same, same] + self.squares(one, other)
        return totals

    def squares(self, one: Factor, other: Factor) -> Array:
        """Expectation of the product of two factors of the same client, (G,)."""
        return self.participation_moments.squares[frozenset({one, other})]


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over clients with a common factor, stacked."""

    factor: Factor
    forms: Forms
    split: ClientVectors
    totals: Array
    """E of the sum of f_i over the clients of each class, (G,)."""

    @cached_property
    def shared(self) -> Array:
        """Expected coefficients of (1, s) in the sums, (rows, a)."""
        found: Array = np.tensordot(self.totals, self.split.shared, axes=1)
        return found


class Transition:
    """A round with fixed matrices, which maps moments to moments."""

    def __init__(self, maps: OutcomeMaps, group: Population, shared: int) -> None:
        self.maps = maps
        self.group = group
        self.shared = shared
        new = maps.clients if maps.mixed is None else stack_forms([maps.clients, maps.mixed[0]])
        self.kept = self._keep_vectors(new)
        self.broadcast = None if maps.broadcast is None else self.present * maps.broadcast
        """Coefficients of q in the clients' new vectors, for participants."""
        self.change = Forms(new.state - self.kept.state, new.noise)
        self.sums = list(self._stack_sums())

    @property
    def is_fixed(self) -> bool:
        """Whether the same clients participate in every round."""
        return self.group.participation_moments.is_fixed

    @cached_property
    def present(self) -> Array:
        """E b_i, (G, 1, 1)."""
        return self.group.participation_moments.means["presence"][:, None, None]

    @cached_property
    def expected(self) -> ClientVectors:
        """Expected new values of the clients' vectors over participation."""
        return ClientVectors.from_state(self.kept.state + self.present * self.change.state, self.shared)

    def _keep_vectors(self, new: Forms) -> Forms:
        """Return the forms of unchanged clients' vectors, (G, b), and zeros for messages to neighbours."""
        state = arithmetic_of(new.state).zeros(*new.state.shape)
        rows = np.arange(state.shape[2] - self.shared)
        state[:, rows, self.shared + rows] = arithmetic_of(state).number(1, "one")
        return Forms(state, new.noise - new.noise)

    def _stack_sums(self) -> Iterator[Sums]:
        """Yield the sums of each factor; a single group with factor one if participation is fixed."""
        means, counts = self.group.participation_moments.means, self.group.counts
        if self.is_fixed and self.maps.reports:
            forms = stack_forms([report.forms.scale(means[report.factor]) for report in self.maps.reports])
            yield Sums("one", forms, ClientVectors.from_state(forms.state, self.shared), counts * means["one"])
            return
        for factor, reports in groupby(self.maps.reports, key=lambda report: report.factor):
            forms = stack_forms([report.forms for report in reports])
            yield Sums(factor, forms, ClientVectors.from_state(forms.state, self.shared), counts * means[factor])

    @cached_property
    def steady_covariance(self) -> Array | None:
        """The covariances (G, entries, entries) of the round's noise, if they do not depend on the models."""
        if self.maps.depends_on_models:
            return None
        entries = self.shared + self.maps.clients.state.shape[1]
        return self.maps.noise(arithmetic_of(self.maps.server).zeros(1, entries, entries))

    @cached_property
    def _steady(self) -> NoiseOfRound | None:
        """The noise, if it does not depend on the models."""
        return None if self.steady_covariance is None else NoiseOfRound(self, self.steady_covariance)

    def mean_map(self) -> Array:
        """Return the map of the expectations of (1, s) and of one client's vectors of each class in a round."""
        kinds, rows, own = self.expected.own.shape
        clients = arithmetic_of(self.maps.server).zeros(kinds, rows, self.shared + kinds * own)
        clients[:, :, : self.shared] = self.expected.shared
        for kind in range(kinds):
            place = slice(self.shared + kind * own, self.shared + (kind + 1) * own)
            clients[kind, :, place] = self.expected.own[kind]
        columns = [(s.totals[:, None, None] * s.split.own).transpose(1, 0, 2) for s in self.sums]
        sums = [
            np.concatenate([s.shared, c.reshape(len(s.shared), -1)], axis=1)
            for s, c in zip(self.sums, columns, strict=True)
        ]
        shared = arithmetic_of(clients).zeros(self.shared, clients.shape[2])
        shared[:, : self.shared] = arithmetic_of(clients).identity(self.shared)
        everything = np.concatenate([shared, *sums], axis=0)
        if self.maps.mixed is not None:
            sent = np.tensordot(self.group.graph, clients[:, own:], axes=1)
            clients = clients[:, :own] + self.maps.mixed[1] @ sent
        if self.broadcast is not None:
            clients = clients + self.broadcast @ everything[self.shared :]
        return np.concatenate(
            [self.maps.server @ everything, clients.reshape(kinds * own, everything.shape[1])], axis=0
        )

    def apply(self, joint: Joint) -> Joint:
        """Return the moments after the round."""
        noise = self._steady or NoiseOfRound(self, self.maps.noise(joint.known()))
        passage = Passage(self, joint, noise)
        if not joint.excess.size:
            # Clients keep no vectors: the cost of a round does not depend on their number.
            return replace(joint, shared=self.maps.server @ passage.sums() @ self.maps.server.T)
        clients = self._mix(passage.clients(), passage.correlate_all())
        return self._end_round(clients, passage.sums())

    def _mix(self, clients: Joint, with_all: Array) -> Joint:
        """Return the clients' vectors after mixing with their neighbours'; `with_all` is E c_i' (1, s, q)'."""
        if self.maps.mixed is None:
            return Joint(clients.shared, with_all, clients.pair, clients.excess)
        gains = self.maps.mixed[1]
        own, kinds = gains.shape[1], np.arange(clients.kinds)
        pair = clients.pair.copy()
        pair[kinds, :, kinds, :] = pair[kinds, :, kinds, :] + clients.excess

        def mix_received(values: Array) -> Array:
            """Return c_i plus coefficients times the received sum_j W_ij m_j, along the first two axes."""
            sent = np.tensordot(self.group.graph, values[:, own:], axes=1)
            made = gains @ sent.reshape(*sent.shape[:2], -1)
            result: Array = values[:, :own] + made.reshape(*made.shape[:2], *values.shape[2:])
            return result

        once = mix_received(pair).transpose(2, 3, 0, 1)
        twice = mix_received(once).transpose(2, 3, 0, 1)
        excess = clients.excess[:, :own, :own]
        return Joint(clients.shared, mix_received(with_all), twice, excess - excess)

    def _end_round(self, clients: Joint, sums: Array) -> Joint:
        """Return the moments at the end of the round, after the broadcast and the server's update."""
        broadcast, pair, cross = self.broadcast, clients.pair, clients.cross
        if broadcast is not None:
            kinds, rows, _ = broadcast.shape
            flat = broadcast.reshape(kinds * rows, -1)
            once = cross[:, :, self.shared :].reshape(kinds * rows, -1) @ flat.T
            added = once + once.T + flat @ sums[self.shared :, self.shared :] @ flat.T
            pair = pair + added.reshape(kinds, rows, kinds, rows)
            cross = cross + broadcast @ sums[self.shared :]
        server = self.maps.server
        return Joint(server @ sums @ server.T, cross @ server.T, pair, clients.excess)


class NoiseOfRound:
    """Second moments added by the noise of a round, per factor."""

    def __init__(self, transition: Transition, covariance: Array) -> None:
        self._transition = transition
        self._covariance = covariance
        self._memo = Memo()

    @cached_property
    def of_clients(self) -> Array:
        """Return second moments of new_i, (G, b, b)."""
        return self._transition.change.covariance(self._covariance)

    def with_clients(self, number: int) -> Array:
        """Return mixed moments of e_i with new_i, (G, rows, b)."""
        left, right = self._transition.sums[number].forms, self._transition.change
        return self._memo.compute_once(number, lambda: left.noise @ self._covariance @ right.noise.transpose(0, 2, 1))

    def of_sums(self, a: int, b: int) -> Array:
        """Return mixed moments of two sums over all clients, (rows, rows')."""
        left, right, group = self._transition.sums[a], self._transition.sums[b], self._transition.group

        def multiply() -> Array:
            """Add up the products of the noises of each client."""
            each = left.forms.noise @ self._covariance @ right.forms.noise.transpose(0, 2, 1)
            return np.tensordot(group.counts * group.squares(left.factor, right.factor), each, axes=1)

        return self._memo.compute_once((a, b), multiply)


class Passage:
    """The computation of one round from given moments."""

    def __init__(self, transition: Transition, joint: Joint, noise: NoiseOfRound) -> None:
        self.transition = transition
        self.joint = joint
        self.noise = noise
        self.group = transition.group
        self._means = [correlate_sum(joint, sums.split, sums.totals, sums.shared) for sums in transition.sums]

    def sums(self) -> Array:
        """Return E (1, s, q)(1, s, q)'."""
        if not self._means:
            return self.joint.shared
        count = range(len(self._means))
        beside = np.concatenate([mean.shared[0] for mean in self._means], axis=0)
        own = np.concatenate(
            [np.concatenate([self._compute_products(a, b) for b in count], axis=1) for a in count], axis=0
        )
        upper = np.concatenate([self.joint.shared, beside.T], axis=1)
        return np.concatenate([upper, np.concatenate([beside, own], axis=1)], axis=0)

    def _compute_products(self, a: int, b: int) -> Array:
        """Return E q_a q_b'."""
        left, right = self.transition.sums[a], self.transition.sums[b]
        total = self.noise.of_sums(a, b)
        if self.transition.is_fixed:
            sums, weights = self._means[a], right.totals
            total = total + sums.shared[0] @ right.shared.T
        else:
            totals, weights = self.group.totals(left.factor, right.factor), self.group.counts
            sums = correlate_random_sum(self.joint, left.split, totals)
            total = total + np.tensordot(weights, sums.shared @ right.split.shared.transpose(0, 2, 1), axes=1)
        if not self.joint.excess.size:
            return total
        total = total + np.tensordot(weights, sums.own @ right.split.own.transpose(0, 2, 1), axes=1)
        own = compute_excess(self.joint, left.split.own, right.split.own)
        squares = self.group.counts * self.group.squares(left.factor, right.factor)
        return total + np.tensordot(squares, own, axes=1)

    def clients(self) -> Joint:
        """Return moments of the clients' vectors, without received messages."""
        transition, joint, present = self.transition, self.joint, self.transition.present
        expected = transition.expected
        pair = correlate_pairs(joint, expected)
        excess = compute_excess(joint, expected.own, expected.own) + present * self.noise.of_clients
        if not transition.is_fixed:
            together = self.group.participation_moments.pairs("presence", "presence")
            together = together - np.multiply.outer(present[:, 0, 0], present[:, 0, 0])
            change = ClientVectors.from_state(transition.change.state, transition.shared)
            moved = correlate_pairs(joint, change)
            pair = pair + together[:, None, :, None] * moved
            own, kinds = present * (1 - present), np.arange(joint.kinds)
            excess = excess + own * compute_excess(joint, change.own, change.own)
            excess = excess + (own - together[kinds, kinds][:, None, None]) * moved[kinds, :, kinds, :]
        return Joint(joint.shared, joint.cross, pair, excess)

    def correlate_all(self) -> Array:
        """Return E c_i' (1, s, q)', (G, b, a + sums)."""
        columns = [self._correlate_with_sum(number) for number in range(len(self._means))]
        return np.concatenate([correlate_with_server(self.joint, self.transition.expected), *columns], axis=2)

    def _correlate_with_sum(self, number: int) -> Array:
        """Return E c_i' q', (G, b, rows)."""
        transition, sums, mean = self.transition, self.transition.sums[number], self._means[number]
        kept = ClientVectors.from_state(transition.kept.state, transition.shared).own
        change = ClientVectors.from_state(transition.change.state, transition.shared)
        squares = self.group.squares(sums.factor, "presence")[:, None, None]
        total = squares * self.noise.with_clients(number)
        if transition.is_fixed:
            expected = transition.expected
            total = total + mean.shared @ expected.shared.transpose(0, 2, 1)
            total = total + mean.own @ expected.own.transpose(0, 2, 1)
        else:
            drawn = correlate_random_sum(self.joint, sums.split, self.group.totals(sums.factor, "presence"))
            total = total + mean.own @ kept.transpose(0, 2, 1)
            total = total + drawn.shared @ change.shared.transpose(0, 2, 1) + drawn.own @ change.own.transpose(0, 2, 1)
        means = self.group.participation_moments.means[sums.factor][:, None, None]
        total = total + means * compute_excess(self.joint, sums.split.own, kept)
        total = total + squares * compute_excess(self.joint, sums.split.own, change.own)
        found: Array = total.transpose(0, 2, 1)
        return found
