"""Local steps in closed form: each client's k-th iterate is affine in its base model, plus noise.

Coordinates are centred at the optimum and homogeneous, ``(1, x - x*)``: one
(d+1, d+1) matrix carries a mean and a second moment.  After k local steps from
a base model z,

    x_i^k = A_i^k z + noise,   cov(noise) = C_i^k,
    C_i^{k+1} = (I - eta_i H_i) C_i^k (I - eta_i H_i)' + eta_i^2 N_i^k,

where N_i^k is the oracle's noise covariance averaged over x_i^k.  Noise of
different clients and steps is uncorrelated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array, arithmetic_of, product
from fedtheory.engine.moments.powers import accumulate_noise, iterate_powers
from fedtheory.federation import LocalWork
from fedtheory.federation.oracles import Oracle
from fedtheory.federation.problem import Problem

Clients = list[int] | slice
EVERYONE = slice(None)


@dataclass(frozen=True, eq=False)
class LocalStep:
    """All clients after k local steps."""

    k: int
    maps: Array
    """A_i^k, (M, d+1, d+1)."""
    covariances: Array
    """C_i^k, (M, d, d)."""
    fresh: Array
    """N_i^k, (M, d, d): covariance of the gradient noise of the step that follows."""


def embed_covariances(covariance: Array) -> Array:
    """Return covariances (..., d, d) as contributions (..., d+1, d+1) to a second moment."""
    size = covariance.shape[-1] + 1
    padded = arithmetic_of(covariance).zeros(*covariance.shape[:-2], size, size)
    padded[..., 1:, 1:] = covariance
    return padded


def compute_step_maps(problem: Problem, work: LocalWork, clients: Clients = EVERYONE) -> Array:
    """Return the map of one local step of each of some clients, (C, d+1, d+1), for a problem centred at its optimum."""
    return build_maps_of_steps(work.step_sizes[clients], problem.linear[clients], problem.hessians[clients])


def build_maps_of_steps(sizes: Array, linear: Array, hessians: Array) -> Array:
    """Steps of `sizes` (...) on quadratics with H_i (..., d, d) and b_i (..., d), as maps (..., d+1, d+1) of (1, x)."""
    arithmetic, size = arithmetic_of(hessians), hessians.shape[-1]
    maps = arithmetic.zeros(*sizes.shape, size + 1, size + 1)
    maps[..., 0, 0] = arithmetic.number(1, "one")
    maps[..., 1:, 0] = sizes[..., None] * linear
    maps[..., 1:, 1:] = arithmetic.identity(size) - sizes[..., None, None] * hessians
    return maps


def iterate_local_maps(problem: Problem, work: LocalWork, clients: Clients = EVERYONE) -> Iterator[Array]:
    """Yield the mean of k = 0 .. max_i K_i local steps of some clients, A_i^k, (C, d+1, d+1), for a centred problem."""
    for block in iterate_powers(compute_step_maps(problem, work, clients), max(work.steps) + 1):
        yield from block


class LocalSteps:
    """The local steps k = 0 .. max_i K_i of all clients, for rounds with equal work."""

    def __init__(self, problem: Problem, work: LocalWork) -> None:
        self._oracle, self._gradients = _select_clients(problem, EVERYONE)
        self._one_step, self._sizes = compute_step_maps(problem, work), work.step_sizes[:, None, None]
        self._steps, self._identity = max(work.steps), problem.arithmetic.identity(problem.dimension + 1)
        self._nothing = problem.arithmetic.zeros(problem.clients, problem.dimension, problem.dimension)
        is_constant = not self._oracle.depends_on_model
        self._constant = self._oracle.covariances(self._one_step, self._nothing) if is_constant else None

    def start_from(self, bases: Array) -> Iterator[LocalStep]:
        """Yield each step in expectation.

        `bases` is the second moment of the model at the start, (d+1, d+1), or one for each client, (..., M, d+1, d+1),
        with a leading axis of rounds if there are several.  Covariances have that axis if the noise depends on the
        model.
        """
        contraction, covariances = self._one_step[:, 1:, 1:], self._nothing
        maps = np.broadcast_to(self._identity, self._one_step.shape)
        moments = np.broadcast_to(bases, np.broadcast_shapes(bases.shape, self._one_step.shape))
        for k in range(self._steps + 1):
            fresh = self._constant
            if fresh is None:
                crossed, squares = compute_gradient_moments(self._gradients, moments)
                fresh = self._oracle.covariances(moments, squares)
            yield LocalStep(k, maps, covariances, fresh)
            if k == self._steps:
                return
            if self._constant is None:
                moments = propagate_step(moments, self._sizes, crossed, squares + fresh)
            carried = contraction @ covariances @ contraction.transpose(0, 2, 1)
            covariances = carried + self._sizes * self._sizes * fresh
            maps = self._one_step @ maps


def propagate_noise(problem: Problem, work: LocalWork, clients: Clients = EVERYONE) -> Array:
    """Return C_i^{K_i}, (C, d, d), of some clients, if the noise does not depend on the model."""
    oracle = select_oracle(problem, clients)
    one_step, sizes = compute_step_maps(problem, work, clients), work.step_sizes[clients][:, None, None]
    contraction = one_step[:, 1:, 1:]
    fresh = oracle.covariances(one_step, problem.arithmetic.zeros(*contraction.shape))
    return accumulate_noise(contraction, sizes * sizes * fresh, np.array(work.steps)[clients])


def propagate_local_steps(problem: Problem, work: LocalWork, bases: Array, clients: Clients = EVERYONE) -> Array:
    """Second moments (C, d+1, d+1) of some clients' models after all their steps, from `bases` as in `LocalSteps`."""
    oracle, gradients = _select_clients(problem, clients)
    sizes, steps = work.step_sizes[clients][:, None, None], np.array(work.steps)[clients]
    moments = np.broadcast_to(bases, (len(gradients), *bases.shape[-2:]))
    for k in range(int(steps.max())):
        following = propagate_step(moments, sizes, *compute_step_moments(oracle, gradients, moments))
        moments = following if (steps > k).all() else np.where((steps > k)[:, None, None], following, moments)
    return moments


def propagate_step(moments: Array, sizes: Array, crossed: Array, squares: Array) -> Array:
    """Return second moments (..., C, d+1, d+1) of models after a step of sizes (C, 1, 1), by `compute_step_moments`."""
    following = moments.copy()
    following[..., 1:, :] -= sizes * crossed
    following[..., :, 1:] -= sizes * crossed.swapaxes(-1, -2)
    following[..., 1:, 1:] += sizes * sizes * squares
    return following


def compute_step_moments(oracle: Oracle, gradients: Array, moments: Array) -> tuple[Array, Array]:
    """E g z' (..., C, d, d+1) and E g g' (..., C, d, d) of stochastic gradients g at models z = (1, x) of C clients.

    With `moments`, the E z z' (..., C, d+1, d+1), they determine the second moment of a step z - eta (0, g).
    """
    crossed, squares = compute_gradient_moments(gradients, moments)
    return crossed, squares + oracle.covariances(moments, squares)


def compute_gradient_moments(gradients: Array, moments: Array) -> tuple[Array, Array]:
    """Return E g z' and E g g' of the exact gradients g at models z = (1, x)."""
    crossed = product(gradients, moments)
    squares = product(crossed, gradients.swapaxes(-1, -2))
    return crossed, (squares + squares.swapaxes(-1, -2)) / 2


def _select_clients(problem: Problem, clients: Clients) -> tuple[Oracle, Array]:
    """Return the oracle and the gradients, as maps of (1, x), of some clients."""
    return select_oracle(problem, clients), problem.gradient_maps[clients]


def select_oracle(problem: Problem, clients: Clients) -> Oracle:
    """Return the oracle of some clients."""
    if clients == EVERYONE:
        return problem.oracle
    return problem.oracle.select_clients(range(problem.clients)[clients] if isinstance(clients, slice) else clients)
