"""Named algorithms: settings of the update rule, which run files know by their names in `SETTINGS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedtheory.arithmetic import Array, Number
from fedtheory.errors import InputError
from fedtheory.federation.clock import Clock, synchronous
from fedtheory.federation.oracles import ExactOracle
from fedtheory.federation.participation import Full, Participation
from fedtheory.federation.policies import Aggregation, LocalWork
from fedtheory.federation.problem import Problem
from fedtheory.federation.update_rule import Algorithm, repeat_for_clients


def fedavg(
    problem: Problem,
    *,
    rounds: int,
    local_step_size: Number | Array,
    local_steps: int | tuple[int, ...] = 1,
    server_step_size: Number = 1,
    participation: Participation = Full(),
    clock: Clock | None = None,
    aggregation: Array | None = None,
) -> Algorithm:
    """Return federated averaging: local SGD from a model of the server, then a weighted sum of the changes.

    renard2022, Algorithm 1, is the case of equal weights, equal step sizes, ``server_step_size = 1`` and the
    synchronous clock (the default).  Other clocks and `aggregation` weights d_i (M,), default p_i, make it Algorithm 1
    of fraboni2022.
    """
    arithmetic = problem.arithmetic
    shared = not hasattr(local_step_size, "shape") or local_step_size.shape == ()
    sizes = repeat_for_clients(local_step_size, problem.weights) if shared else local_step_size
    steps = (local_steps,) * len(sizes) if isinstance(local_steps, int) else local_steps
    if len(steps) != len(sizes):
        raise InputError("algorithm.local_steps", f"expected one number or {len(sizes)}, got {len(steps)}")
    return Algorithm(
        "fedavg",
        LocalWork(steps, sizes),
        Aggregation(
            arithmetic.number(server_step_size, "algorithm.server_step_size"),
            participation,
            None if aggregation is None else tuple(aggregation),
        ),
        synchronous(problem.clients) if clock is None else clock,
        rounds,
    )


def sgd(problem: Problem, **keys: Any) -> Algorithm:
    """Return mini-batch SGD distributed over workers: one step of each, then the average (liu2022, p. 3)."""
    return _fix_keys("sgd", problem, keys, local_steps=1)


def two_sided_fedavg(problem: Problem, **keys: Any) -> Algorithm:
    """Return FedAvg with a server step s next to the clients' s_L (liu2022, G-FedAvg-TSLR)."""
    return _fix_keys("two-sided-fedavg", problem, keys)


def parallel_restarted_sgd(problem: Problem, **keys: Any) -> Algorithm:
    """Return local SGD of all clients, restarted from their average every K steps (liu2022; Yu et al., AAAI 2019)."""
    return _fix_keys("parallel-restarted-sgd", problem, keys, server_step_size=1, participation=Full())


def distributed_gd(problem: Problem, **keys: Any) -> Algorithm:
    """Return distributed gradient descent with full gradients and all workers (lecture27, p. 1; Wang et al. 2019)."""
    if not isinstance(problem.oracle, ExactOracle):
        raise InputError("problem", "distributed-gd uses full gradients: leave out noise and batch")
    return _fix_keys("distributed-gd", problem, keys, server_step_size=1, participation=Full())


SETTINGS: dict[str, Callable[..., Algorithm]] = {
    "fedavg": fedavg,
    "sgd": sgd,
    "two-sided-fedavg": two_sided_fedavg,
    "parallel-restarted-sgd": parallel_restarted_sgd,
    "distributed-gd": distributed_gd,
}
"""Algorithms by their names in run files."""


def _fix_keys(name: str, problem: Problem, keys: dict[str, Any], **fixed: Any) -> Algorithm:
    """Return FedAvg in which some keys are fixed by the name; raise `InputError` if they are given another value."""
    meant = replace(fedavg(problem, **(keys | fixed)), name=name)
    for key, value in fixed.items():
        given = {key: keys[key]} if key in keys else {}
        if not _is_equivalent(problem, meant, fedavg(problem, **(keys | fixed | given))):
            raise InputError(f"algorithm.{key}", f"expected {value} with {name}, got {keys[key]}")
    return meant


def _is_equivalent(problem: Problem, one: Algorithm, other: Algorithm) -> bool:
    """Return whether two algorithms have the same local work and aggregation."""
    laws = [algorithm.aggregation.moments(problem.weights) for algorithm in (one, other)]
    same_law = laws[0].is_fixed and laws[1].is_fixed and bool((laws[0].mean == laws[1].mean).all())
    same_law = same_law or one.aggregation.participation == other.aggregation.participation
    same_step = one.aggregation.server_step_size == other.aggregation.server_step_size
    return one.work.steps == other.work.steps and same_step and same_law
