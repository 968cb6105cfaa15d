"""Parallel restarted SGD: FedAvg written as one loop over iterations t = 1 .. T (liu2022; Yu et al., AAAI 2019).

The loop restarts all clients from their average whenever ``t mod K = 0``.  As
printed, the gradient of that iteration is observed before the restart, at the
client's own iterate, and the first restart comes after K - 1 steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.arithmetic.enclosures import largest
from fedtheory.engine.frames import common_steps, path_frames
from fedtheory.engine.frames.path import PathFrame
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.problem.quadratic import weighted_sum

Observe = Callable[[Array], Array]
"""One stochastic gradient of each client at its point, (M, d) from (M, d)."""


def as_printed(run: Run, seed: int = 0) -> Iterator[Array]:
    """Clients' iterates (M, d), centred, for t = 1 .. T: observe, then restart where t mod K = 0, then step."""

    def step(t: int, iterates: Array, observe: Observe) -> Array:
        gradients = observe(iterates)
        restarted = _averaged(run, iterates) if t % common_steps(run) == 0 else iterates
        return np.asarray(restarted - _sizes(run) * gradients)

    return _loop(run, seed, step)


def restarting_first(run: Run, seed: int = 0) -> Iterator[Array]:
    """The same, but where (t - 1) mod K = 0 the restart comes first and the gradient is observed at the average."""

    def step(t: int, iterates: Array, observe: Observe) -> Array:
        restarted = _averaged(run, iterates) if (t - 1) % common_steps(run) == 0 else iterates
        return np.asarray(restarted - _sizes(run) * observe(restarted))

    return _loop(run, seed, step)


def _loop(run: Run, seed: int, step: Callable[[int, Array, Observe], Array]) -> Iterator[Array]:
    generator = np.random.default_rng(seed)
    iterates = np.tile(run.problem.centred.start, (run.problem.clients, 1))
    for t in range(1, run.algorithm.rounds * common_steps(run) + 1):
        iterates = step(t, iterates, lambda points: _observed(run, points, generator))
        yield iterates


def largest_deviation_sq(run: Run, loop: Callable[[Run, int], Iterator[Array]], seed: int = 0) -> Number:
    """Largest squared distance, over t and clients, of a loop's iterates from FedAvg's with the same draws.

    Raises `NotApplicable` where the server does more than average all clients,
    which the loops do.
    """
    everyone = run.algorithm.aggregation.moments(run.problem.weights)
    plain = everyone.is_fixed and (everyone.mean == run.problem.weights).all()
    if not plain or run.algorithm.aggregation.server_step_size != 1:
        raise NotApplicable("the loop over iterations averages all clients; this server does something else")
    pairs = zip(loop(run, seed), _of_fedavg(run, seed), strict=True)
    return largest([largest(((x - fedavg) ** 2).sum(axis=1)) for x, fedavg in pairs])


def _of_fedavg(run: Run, seed: int) -> Iterator[Array]:
    for frame in path_frames(run, seed):
        assert isinstance(frame, PathFrame)
        yield frame.next_local.values  # type: ignore[attr-defined]


def _sizes(run: Run) -> Array:
    return run.algorithm.work.step_sizes[:, None]


def _averaged(run: Run, iterates: Array) -> Array:
    return np.tile(weighted_sum(run.problem.weights, iterates), (len(iterates), 1))


def _observed(run: Run, iterates: Array, generator: np.random.Generator) -> Array:
    """One stochastic gradient of each client at its point, (M, d)."""
    centred = run.problem.centred
    noise = np.stack([centred.oracle.outcome(client, x, generator) for client, x in enumerate(iterates)])
    gradients: Array = centred.gradients(iterates) + noise
    return gradients
