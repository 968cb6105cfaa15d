"""Expectations inside a round as quadratic forms in the model at the start of the round.

A local step maps the second moment P of (1, x_i) linearly to that of the next
iterate, so the expectation of a form Phi in an iterate equals that of another form in the
previous iterate,

    <Phi, P^{k+1}> = <A' Phi A + eta^2 N*(Phi), P^k>,

with A the mean step and N* the adjoint of the noise.  Pulled back to the start of the round, the forms are the same in
every round: a quantity of the local steps of T rounds costs K steps, not K T.  Clients are followed block by block, so
that memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import repeat
from operator import add

import numpy as np

from fedtheory.arithmetic import Array, product, sum_with_weights
from fedtheory.engine.moments.local import (
    EVERYONE,
    Clients,
    compute_step_maps,
    embed_covariances,
    iterate_local_maps,
    select_oracle,
)
from fedtheory.engine.moments.powers import iterate_powers
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.round_maps import split_clients
from fedtheory.engine.moments.server import evaluate_functionals
from fedtheory.federation import LocalWork
from fedtheory.federation.oracles import ExactOracle
from fedtheory.federation.problem import Problem


@dataclass(frozen=True, eq=False)
class PulledBack:
    """Forms in x_i^k of C clients for some k, as forms in (1, x) at the start of the round, (B, C, d+1, d+1)."""

    carried: Array
    """Form of the mean of x_i^k."""
    noise: Array
    """Form of the noise of the first k steps."""


def pull_back_forms(
    problem: Problem, work: LocalWork, forms: Array, clients: Clients = EVERYONE
) -> Iterator[PulledBack]:
    """Yield forms in (1, x_i), (d+1, d+1) for some clients or (C, d+1, d+1), after k = 0 .. max_i K_i local steps.

    Several k form one block, (B, C, d+1, d+1), if the noise does not depend on the model.
    """
    pull_back = _pull_back_steps if problem.oracle.depends_on_model else _pull_back_together
    return pull_back(problem, work, forms, clients)


def _pull_back_together(problem: Problem, work: LocalWork, forms: Array, clients: Clients) -> Iterator[PulledBack]:
    one_step, sizes = compute_step_maps(problem, work, clients), work.step_sizes[clients]
    nothing = problem.arithmetic.zeros(*one_step[:, 1:, 1:].shape)
    covariances = (sizes * sizes)[:, None, None] * select_oracle(problem, clients).covariances(one_step, nothing)
    so_far = problem.arithmetic.zeros(1, len(one_step))
    for maps in iterate_powers(one_step, max(work.steps) + 1):
        carried = maps.swapaxes(-1, -2) @ forms @ maps
        # The noise of a step is the same for all models, and is passed on unchanged.
        added = (carried[..., 1:, 1:] * covariances).sum(axis=(-2, -1))
        sums = np.concatenate([so_far, added]).cumsum(axis=0)
        noise = carried - carried
        noise[..., 0, 0], so_far = sums[:-1], sums[-1:]
        yield PulledBack(carried, noise)


def _pull_back_steps(problem: Problem, work: LocalWork, forms: Array, clients: Clients) -> Iterator[PulledBack]:
    maps, sizes = compute_step_maps(problem, work, clients), work.step_sizes[clients][:, None, None]
    oracle, gradients, transposed = (
        select_oracle(problem, clients),
        problem.gradient_maps[clients],
        maps.transpose(0, 2, 1),
    )
    carried = np.broadcast_to(forms, (len(maps), *forms.shape[-2:]))
    noise = carried - carried
    for k in range(max(work.steps) + 1):
        yield PulledBack(carried[None], noise[None])
        if k < max(work.steps):
            seen = (carried + noise)[:, 1:, 1:]
            fresh = oracle.pull_back(seen, product(product(gradients.transpose(0, 2, 1), seen), gradients))
            noise = product(product(transposed, noise), maps) + sizes * sizes * fresh
            carried = product(product(transposed, carried), maps)


@dataclass(frozen=True, eq=False)
class RoundForms:
    """The forms of a round that all clients start from the newest model."""

    recursion: Recursion

    def build_average_form(self, form: Array) -> Array:
        """Return the forms in (1, xbar^k - c), c the centre of the problem, for k = 0 .. K: (K+1, d+1, d+1)."""
        return self._build_sum_form(form, self.recursion.squared_client_weights, self.recursion.average_maps)

    def build_difference_form(self, factors: Array) -> Array:
        """Return |sum_i c_i (x_i^k - xbar^k)|^2 for the factors c_i of the clients, for k = 0 .. K: (K+1, d+1, d+1)."""
        # The weight of each iterate, minus its weight in the average: these sum to zero.
        weights = factors - factors.sum() * self.recursion.problem.weights
        maps = _sum(
            np.stack([sum_with_weights(weights[clients], each) for each in self._iterate_maps(clients)])
            for clients in self.list_blocks()
        )
        identity = self.recursion.problem.arithmetic.identity(maps.shape[-1] - 1)
        return self._build_sum_form(
            embed_covariances(identity), weights * weights / self.recursion.multiplicities, maps
        )

    def list_blocks(self) -> Iterator[Clients]:
        """Return the clients in blocks whose arrays fit in memory."""
        return split_clients(self.recursion.centred)

    def _iterate_maps(self, clients: Clients) -> Iterator[Array]:
        """Yield the mean of the local steps k = 0 .. K of some clients, (C, d+1, d+1) each."""
        return iterate_local_maps(self.recursion.centred, self.recursion.work, clients)

    def _build_sum_form(self, form: Array, squares: Array, maps: Array) -> Array:
        """Return the form (d+1, d+1) in 1 and a weighted sum of the clients' iterates, whose means are `maps`.

        `squares` are those of the weights.
        """
        forms: Array = product(product(maps.transpose(0, 2, 1), form), maps)
        if self._is_quiet:
            return forms
        total: Array = forms + _sum(self._sum_noise(form, squares, clients) for clients in self.list_blocks())
        return total

    def _sum_noise(self, form: Array, squares: Array, clients: Clients) -> Array:
        """Add up the noise of a form in the iterates of a block of clients, times `squares`, for k = 0 .. K."""
        blocks = pull_back_forms(self.recursion.centred, self.recursion.work, form, clients)
        return np.concatenate([sum_with_weights(squares[clients], each.noise.swapaxes(0, 1)) for each in blocks])

    @property
    def _is_quiet(self) -> bool:
        """Return whether gradients have no noise."""
        return isinstance(self.recursion.problem.oracle, ExactOracle)

    def measure_drift(self, moments: Array) -> Array:
        """Return E|x_i^k - xbar^k|^2, k = 0 .. K, (N, K+1, M), in rounds from models with moments (N, d+1, d+1)."""
        first, *others = self.list_blocks()
        if not others:
            # Added as forms, own noise and noise of the average cancel exactly where there is one client.
            together = (forms + shared for forms, shared in self._list_drift_forms(first))
            return np.stack([evaluate_functionals(forms, moments) for forms in together], axis=1)
        blocks = [self._measure_drift_of(clients, moments) for clients in (first, *others)]
        drifts, shared = zip(*blocks, strict=True)
        # The average has a part of the noise of all clients.
        found: Array = np.concatenate(drifts, axis=-1) + evaluate_functionals(_sum(shared), moments)[..., None]
        return found

    def _measure_drift_of(self, clients: Clients, moments: Array) -> tuple[Array, Array]:
        """Return the drift of a block of clients, (N, K+1, C), without the noise of the average, and their part of it.

        The noise of the average is a form for k = 0 .. K, (K+1, d+1, d+1).
        """
        each = [(evaluate_functionals(forms, moments), shared) for forms, shared in self._list_drift_forms(clients)]
        found, parts = zip(*each, strict=True)
        return np.stack(found, axis=1), np.stack(parts)

    def _list_drift_forms(self, clients: Clients) -> Iterator[tuple[Array, Array]]:
        """Yield for k = 0 .. K the forms of a block's drift, (C, d+1, d+1), and its part of the noise of the average.

        The latter is a form, (d+1, d+1).
        """
        own = (1 - 2 * self.recursion.single_weights[clients])[:, None, None]
        square = embed_covariances(self.recursion.problem.arithmetic.identity(self.recursion.problem.dimension))
        noises = repeat(None) if self._is_quiet else (one.noise for one in self._pull_back(square, clients))
        # Without noise there is no end to its absence.
        for noise, maps, average in zip(noises, self._iterate_maps(clients), self.recursion.average_maps, strict=False):
            deviations = (maps - average)[:, 1:, :]
            forms = deviations.transpose(0, 2, 1) @ deviations
            if noise is None:
                yield forms, square - square
            else:
                yield forms + own * noise, sum_with_weights(self.recursion.squared_client_weights[clients], noise)

    def iterate_client_forms(self, forms: Array, clients: Clients) -> Iterator[Array]:
        """Yield the form of each of some clients, (C, d+1, d+1), in (1, x_i^k - x*), as one at the start, by step."""
        return (one.carried + one.noise for one in self._pull_back(forms, clients))

    def build_virtual_iterate_form(self, form: Array) -> Array:
        """Return the form (d+1, d+1) in (1, theta^k - x*) of fraboni2022, eq. (7), for k = 0 .. K: (K+1, d+1, d+1)."""
        blocks = (self._add_displacements(form, clients) for clients in self.list_blocks())
        displacements, added = (_sum(parts) for parts in zip(*blocks, strict=True))
        return np.stack([self._propagate_steps(form, *sums) for sums in zip(displacements, added, strict=True)])

    def _add_displacements(self, form: Array, clients: Clients) -> tuple[Array, Array]:
        """Return the contributions of a block of clients to the virtual iterate for k = 0 .. K.

        Sums of the displacements with the expected weights and with each direction of random ones, (K+1, 1 or more,
        d+1, d+1), and the form in what noise and weights add client by client, (K+1, d+1, d+1).
        """
        participation = self.recursion.participation
        vectors = [participation.mean, *(vector for _, vector in participation.directions)]
        identity, sums, added = self.recursion.problem.arithmetic.identity(len(form)), [], []
        for maps, one in zip(self._iterate_maps(clients), self._pull_back(form, clients), strict=True):
            displacements = maps - identity
            sums.append(np.stack([sum_with_weights(vector[clients], displacements) for vector in vectors]))
            added.append(sum_with_weights(participation.squares[clients], one.noise))
            if not participation.is_fixed:
                each = displacements.transpose(0, 2, 1) @ form @ displacements
                added[-1] = added[-1] + sum_with_weights(participation.diagonal[clients], each)
        return np.stack(sums), np.stack(added)

    def _propagate_steps(self, form: Array, displacements: Array, added: Array) -> Array:
        """Return the form in what the server would make of the clients' iterates, by `_add_displacements`."""
        participation, step = self.recursion.participation, self.recursion.server_step_size
        mean, *others = displacements
        carried = self.recursion.problem.arithmetic.identity(len(form)) + step * mean
        if not participation.is_fixed:
            added = added + (participation.pairing - 1) * (mean.T @ form @ mean)
            for (scale, _), together in zip(participation.directions, others, strict=True):
                added = added + scale * (together.T @ form @ together)
        after: Array = carried.T @ form @ carried + step * step * added
        return after

    def _pull_back(self, forms: Array, clients: Clients) -> Iterator[PulledBack]:
        """Yield the forms for each k separately, (C, d+1, d+1)."""
        for block in pull_back_forms(self.recursion.centred, self.recursion.work, forms, clients):
            yield from map(PulledBack, block.carried, block.noise)


def _sum(parts: Iterable[Array]) -> Array:
    """Add up arrays, of which there is at least one."""
    return reduce(add, parts)
