"""Parallel restarted SGD: FedAvg written as one loop over iterations t = 1 .. T (liu2022; Yu et al., AAAI 2019).

The loop restarts all clients from their average whenever ``t mod K = 0``. As published, the gradient of that iteration
is computed before the restart, at the client's own iterate, and the first restart comes after K - 1 steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, Number, product, sum_with_weights
from fedtheory.arithmetic.enclosures import largest
from fedtheory.engine.frames import iterate_path_frames, read_common_steps
from fedtheory.engine.frames.path import PathFrame
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, NotApplicable

Observe = Callable[[Array], Array]
"""Function that returns one stochastic gradient of each client at its point, (M, d) from (M, d)."""


def simulate_as_published(run: Run, seed: int = 0) -> Iterator[Array]:
    """Yield the clients' centred iterates (M, d), t = 1 .. T: gradient, restart if t mod K = 0, step."""

    def step(t: int, iterates: Array, observe: Observe) -> Array:
        gradients = observe(iterates)
        restarted = _repeat_average(run, iterates) if t % read_common_steps(run) == 0 else iterates
        return np.asarray(restarted - run.algorithm.work.step_sizes[:, None] * gradients)

    return _iterate_loop(run, seed, step)


def iterate_with_early_restart(run: Run, seed: int = 0) -> Iterator[Array]:
    """Yield clients' iterates of the loop that, if (t - 1) mod K = 0, restarts before the gradient is computed."""

    def step(t: int, iterates: Array, observe: Observe) -> Array:
        restarted = _repeat_average(run, iterates) if (t - 1) % read_common_steps(run) == 0 else iterates
        return np.asarray(restarted - run.algorithm.work.step_sizes[:, None] * observe(restarted))

    return _iterate_loop(run, seed, step)


def _iterate_loop(run: Run, seed: int, step: Callable[[int, Array, Observe], Array]) -> Iterator[Array]:
    run.require_single_clients("a sampled path has the draws of single clients")
    generator = np.random.default_rng(seed)
    iterates = np.tile(run.problem.centred.start, (run.problem.clients, 1))
    for t in range(1, run.algorithm.rounds * read_common_steps(run) + 1):
        iterates = step(t, iterates, lambda points: _observe(run, points, generator))
        yield iterates


def measure_largest_deviation(run: Run, loop: Callable[[Run, int], Iterator[Array]], seed: int = 0) -> Number:
    """Return the largest squared distance, over t and clients, of a loop's iterates from FedAvg's with common samples.

    Raises `NotApplicable` unless the server averages all clients, as the loops do.
    """
    law = run.algorithm.aggregation.moments(run.problem.weights)
    averages_all = law.is_fixed and (law.mean == run.problem.weights).all()
    if not averages_all or run.algorithm.aggregation.server_step_size != 1:
        raise NotApplicable(
            "the loop over iterations averages all clients with server step size 1; this server does not"
        )
    pairs = zip(loop(run, seed), _iterate_fedavg(run, seed), strict=True)
    return largest([largest(((x - fedavg) ** 2).sum(axis=1)) for x, fedavg in pairs])


def _iterate_fedavg(run: Run, seed: int) -> Iterator[Array]:
    for frame in iterate_path_frames(run, seed):
        assert isinstance(frame, PathFrame)
        yield frame.next_local.values  # type: ignore[attr-defined]


def _repeat_average(run: Run, iterates: Array) -> Array:
    return np.tile(sum_with_weights(run.problem.weights, iterates), (len(iterates), 1))


def _observe(run: Run, iterates: Array, generator: np.random.Generator) -> Array:
    """Return one stochastic gradient of each client at its point, (M, d)."""
    centred = run.problem.centred
    noise = np.stack([centred.oracle.outcome(client, x, generator) for client, x in enumerate(iterates)])
    gradients: Array = centred.gradients(iterates) + noise
    return gradients


@dataclass(frozen=True, eq=False)
class LoopMoments:
    """Exact expectations along the published loop, with full participation.

    The joint second moment of (1, x_1, ..., x_M) obeys a linear recursion: the
    gradient noise of an iteration is independent of all iterates before it and
    between clients, and its covariance is affine in their second moments.
    """

    gradient_sq: Array
    """E|grad F(xbar^t)|^2 for t = 0 .. T-1, (T,)."""
    consensus_error: Array
    """E|x_i^t - xbar^t|^2 for t = 1 .. T, (T, M)."""
    stochastic_gradient_sq: Array
    """E|G_i^t|^2 for t = 1 .. T, (T, M)."""
    noise_sq: Array
    """E|G_i^t - grad F_i(x_i^{t-1})|^2 for t = 1 .. T, (T, M)."""


def compute_loop_moments(run: Run) -> LoopMoments:
    """Return the expectations of the published loop for the problem, local steps and step sizes of a run.

    Raises `Diverging` if they leave double precision.
    """
    run.require_single_clients("the loop keeps the iterates of all clients")
    steps, clients = read_common_steps(run), run.problem.clients
    stepping, restarting = (_build_joint_map(run, restarts) for restarts in (False, True))
    one = run.arithmetic.array([1])
    start = np.concatenate([one, *[run.problem.centred.start] * clients])
    joint = np.multiply.outer(start, start)
    before, after = [], []
    for t in range(1, run.algorithm.rounds * steps + 1):
        before.append(_compute_gradient_moments(run, joint))
        change = restarting if t % steps == 0 else stepping
        with np.errstate(over="ignore", invalid="ignore"):
            joint = product(product(change, joint), change.T) + _add_noise(run, joint)
        if run.arithmetic is FLOAT and not np.isfinite(joint).all():
            raise Diverging(f"the loop diverges at iteration {t}: its second moments leave double precision")
        after.append(_measure_consensus_error(run, joint))
    gradient_sq, stochastic, noise = (np.array(column) for column in zip(*before, strict=True))
    return LoopMoments(gradient_sq, np.array(after), stochastic, noise)


def _slice_clients(run: Run) -> Iterator[slice]:
    """Yield the slices of the clients' iterates in (1, x_1, ..., x_M)."""
    size = run.problem.dimension
    return (slice(1 + size * client, 1 + size * (client + 1)) for client in range(run.problem.clients))


def _build_joint_map(run: Run, restarts: bool) -> Array:
    """Return an expected iteration as a map of (1, x_1, ..., x_M); with `restarts` it starts from the average."""
    problem, arithmetic = run.problem, run.arithmetic
    blocks, identity = [*_slice_clients(run)], arithmetic.identity(problem.dimension)
    found = arithmetic.identity(1 + problem.clients * problem.dimension)
    for client, block in enumerate(blocks):
        if restarts:
            for other, weight in zip(blocks, problem.weights, strict=True):
                found[block, other] = weight * identity
        gradient = run.algorithm.work.step_sizes[client] * run.gradient_forms.maps[client]
        found[block, 0] = found[block, 0] - gradient[:, 0]
        found[block, block] = found[block, block] - gradient[:, 1:]
    return found


def _select_client_moments(run: Run, joint: Array) -> Array:
    """Return the second moments of (1, x_i), (M, d+1, d+1)."""
    chosen = ([0, *range(block.start, block.stop)] for block in _slice_clients(run))
    return np.stack([joint[np.ix_(rows, rows)] for rows in chosen])


def _add_noise(run: Run, joint: Array) -> Array:
    """Return the contribution of an iteration's gradient noise to the joint second moment."""
    moments, maps = _select_client_moments(run, joint), run.gradient_forms.maps
    gradients = product(product(maps, moments), maps.swapaxes(1, 2))
    covariances = run.problem.centred.oracle.covariances(moments, gradients)
    added = run.arithmetic.zeros(*joint.shape)
    for block, size, covariance in zip(_slice_clients(run), run.algorithm.work.step_sizes, covariances, strict=True):
        added[block, block] = size * size * covariance
    return added


def _compute_gradient_moments(run: Run, joint: Array) -> tuple[Number, Array, Array]:
    """Return E|grad F(xbar)|^2, and E|G_i|^2 and E|G_i - grad F_i|^2 of each client, from the joint moment."""
    moments, forms = _select_client_moments(run, joint), run.gradient_forms
    gradient_map = product(run.problem.hessian, _build_average_map(run))
    gradient_map[:, 0] = run.problem.gradient_map[:, 0]
    mean = product(product(gradient_map, joint), gradient_map.T).trace()
    return mean, _expect_form(forms.stochastic, moments), _expect_form(forms.noise, moments)


def _expect_form(forms: Array, moments: Array) -> Array:
    """Return the expectation of the quadratic form of each client, (M,)."""
    values: Array = (forms * moments).sum(axis=(1, 2))
    return values


def _build_average_map(run: Run) -> Array:
    """Return xbar as a map of (1, x_1, ..., x_M), (d, 1 + M d)."""
    problem = run.problem
    found = run.arithmetic.zeros(problem.dimension, 1 + problem.clients * problem.dimension)
    for block, weight in zip(_slice_clients(run), problem.weights, strict=True):
        found[:, block] = weight * run.arithmetic.identity(problem.dimension)
    return found


def _measure_consensus_error(run: Run, joint: Array) -> list[Number]:
    """Return E|x_i - xbar|^2 of each client."""
    average, found = _build_average_map(run), []
    for block in _slice_clients(run):
        difference = -average
        difference[:, block] = difference[:, block] + run.arithmetic.identity(run.problem.dimension)
        found.append(product(product(difference, joint), difference.T).trace())
    return found
