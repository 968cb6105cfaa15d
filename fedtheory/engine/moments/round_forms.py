"""Expectations inside a round as quadratic forms in the model at the start of the round.

A local step maps the second moment P of (1, x_i) linearly to that of the next
iterate, so the expectation of a form Phi in an iterate equals that of another form in the
previous iterate,

    <Phi, P^{k+1}> = <A' Phi A + eta^2 N*(Phi), P^k>,

with A the mean step and N* the adjoint of the noise.  Pulled back to the start of the round, the forms are the same in
every round: a quantity of the local steps of T rounds costs K steps, not K T.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from fedtheory.arithmetic import Array, product
from fedtheory.engine.moments.local import Clients, homogeneous, local_maps, oracle_of, step_maps
from fedtheory.engine.moments.powers import powers
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.round_maps import split_clients
from fedtheory.federation import LocalWork
from fedtheory.federation.oracles import ExactOracle, Oracle
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.quadratic import weighted_sum


@dataclass(frozen=True, eq=False)
class PulledBack:
    """Forms in x_i^k for some k, as forms in (1, x) at the start of the round, (B, M, d+1, d+1)."""

    carried: Array
    """Form of the mean of x_i^k."""
    noise: Array
    """Form of the noise of the first k steps."""


def pulled_back(problem: Problem, work: LocalWork, forms: Array) -> Iterator[PulledBack]:
    """Yield forms in (1, x_i), (d+1, d+1) for all clients or (M, d+1, d+1), after k = 0 .. max_i K_i local steps.

    Several k form one block, (B, M, d+1, d+1), if the noise does not depend on the model.
    """
    return (_one_by_one if problem.oracle.depends_on_model else _split_in_blocks)(problem, work, forms)


def _split_in_blocks(problem: Problem, work: LocalWork, forms: Array) -> Iterator[PulledBack]:
    one_step = step_maps(problem, work)
    nothing = problem.arithmetic.zeros(*one_step[:, 1:, 1:].shape)
    covariances = (work.step_sizes * work.step_sizes)[:, None, None] * problem.oracle.covariances(one_step, nothing)
    so_far = problem.arithmetic.zeros(1, problem.clients)
    for maps in powers(one_step, max(work.steps) + 1):
        carried = maps.swapaxes(-1, -2) @ forms @ maps
        # The noise of a step is the same for all models, and is passed on unchanged.
        added = (carried[..., 1:, 1:] * covariances).sum(axis=(-2, -1))
        sums = np.concatenate([so_far, added]).cumsum(axis=0)
        noise = carried - carried
        noise[..., 0, 0], so_far = sums[:-1], sums[-1:]
        yield PulledBack(carried, noise)


def _one_by_one(problem: Problem, work: LocalWork, forms: Array) -> Iterator[PulledBack]:
    carried = np.broadcast_to(forms, (problem.clients, *forms.shape[-2:]))
    noise = carried - carried
    blocks = [(clients, oracle_of(problem, clients)) for clients in split_clients(problem)]
    for k in range(max(work.steps) + 1):
        yield PulledBack(carried[None], noise[None])
        if k < max(work.steps):
            before = [_pull_back_step(problem, work, block, carried, noise) for block in blocks]
            carried, noise = (_join_blocks(parts) for parts in zip(*before, strict=True))


def _pull_back_step(
    problem: Problem, work: LocalWork, block: tuple[Clients, Oracle], carried: Array, noise: Array
) -> tuple[Array, Array]:
    """Pull the forms of a block of clients back through one step: return the new forms, and the noise."""
    clients, oracle = block
    carried, noise, gradients = carried[clients], noise[clients], problem.gradient_maps[clients]
    maps, sizes = step_maps(problem, work, clients), work.step_sizes[clients]
    transposed, seen = maps.transpose(0, 2, 1), (carried + noise)[:, 1:, 1:]
    fresh = oracle.pulled_back(seen, product(product(gradients.transpose(0, 2, 1), seen), gradients))
    following = product(product(transposed, noise), maps) + (sizes * sizes)[:, None, None] * fresh
    return product(product(transposed, carried), maps), following


def _join_blocks(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class RoundForms:
    """The forms of a round that all clients start from the newest model."""

    recursion: Recursion

    def build_average_form(self, form: Array) -> Array:
        """Return the form (d+1, d+1) in (1, xbar^k - c), c the centre of the problem, for k = 0 ..

        K: (K+1, d+1, d+1).
        """
        return self._build_sum_form(form, self.recursion.squared_importances, self.recursion.average_maps)

    def build_difference_form(self, factors: Array) -> Array:
        """Return |sum_i c_i (x_i^k - xbar^k)|^2 for the factors c_i of the clients, for k = 0 .. K: (K+1, d+1, d+1)."""
        # The weight of each iterate, minus its weight in the average: these sum to zero.
        weights = factors - factors.sum() * self.recursion.problem.weights
        steps = local_maps(self.recursion.centred, self.recursion.work)
        maps = np.stack([weighted_sum(weights, each) for each in steps])
        identity = self.recursion.problem.arithmetic.identity(maps.shape[-1] - 1)
        return self._build_sum_form(homogeneous(identity), weights * weights / self.recursion.multiplicities, maps)

    def _build_sum_form(self, form: Array, squares: Array, maps: Array) -> Array:
        """Return the form (d+1, d+1) in 1 and a weighted sum of the clients' iterates, whose means are `maps`.

        `squares` are those of the weights.
        """
        forms: Array = product(product(maps.transpose(0, 2, 1), form), maps)
        if self._is_quiet:
            return forms
        blocks = pulled_back(self.recursion.centred, self.recursion.work, form)
        noise = [weighted_sum(squares, each.noise.swapaxes(0, 1)) for each in blocks]
        total: Array = forms + np.concatenate(noise)
        return total

    @property
    def _is_quiet(self) -> bool:
        """Return whether gradients have no noise."""
        return isinstance(self.recursion.problem.oracle, ExactOracle)

    def build_drift_form(self) -> Iterator[Array]:
        """Yield |x_i^k - xbar^k|^2 of each client, for k = 0 .. K: (M, d+1, d+1)."""
        identity = self.recursion.problem.arithmetic.identity
        square = homogeneous(identity(self.recursion.problem.dimension))
        steps = local_maps(self.recursion.centred, self.recursion.work)
        noises = repeat(None) if self._is_quiet else (one.noise for one in self._pull_back(square))
        # Without noise, the iterator of zeros is endless.
        for noise, maps, average in zip(noises, steps, self.recursion.average_maps, strict=False):
            apart = (maps - average)[:, 1:, :]
            carried: Array = apart.transpose(0, 2, 1) @ apart
            if noise is None:
                yield carried
            else:
                own = (1 - 2 * self.recursion.own_importances)[:, None, None] * noise
                yield carried + own + weighted_sum(self.recursion.squared_importances, noise)

    def of_clients(self, forms: Array) -> Iterator[Array]:
        """Yield each client's form in (1, x_i^k - x*), (M, d+1, d+1), for k = 0 .. K."""
        return (one.carried + one.noise for one in self._pull_back(forms))

    def build_virtual_iterate_form(self, form: Array) -> Iterator[Array]:
        """Yield the form (d+1, d+1) in (1, theta^k - x*) of fraboni2022, eq. (7), for k = 0 .. K."""
        return (self._propagate_steps(form, maps, one) for maps, one in self._maps_with(form))

    def _maps_with(self, form: Array) -> Iterator[tuple[Array, PulledBack]]:
        steps = local_maps(self.recursion.centred, self.recursion.work)
        return zip(steps, self._pull_back(form), strict=True)

    def _propagate_steps(self, form: Array, maps: Array, one: PulledBack) -> Array:
        """Return the form in the virtual iterate, which aggregates the clients' iterates."""
        participation, step = self.recursion.participation, self.recursion.server_step_size
        identity = self.recursion.problem.arithmetic.identity(len(form))
        displacements = maps - identity
        mean = weighted_sum(participation.mean, displacements)
        carried = identity + step * mean
        added = weighted_sum(participation.squares, one.noise)
        if not participation.is_fixed:
            each = displacements.transpose(0, 2, 1) @ form @ displacements
            added = added + weighted_sum(participation.diagonal, each)
            added = added + (participation.pairing - 1) * (mean.T @ form @ mean)
            for scale, vector in participation.directions:
                together = weighted_sum(vector, displacements)
                added = added + scale * (together.T @ form @ together)
        after: Array = carried.T @ form @ carried + step * step * added
        return after

    def _pull_back(self, forms: Array) -> Iterator[PulledBack]:
        """Yield the forms for each k separately, (M, d+1, d+1)."""
        for block in pulled_back(self.recursion.centred, self.recursion.work, forms):
            yield from map(PulledBack, block.carried, block.noise)
