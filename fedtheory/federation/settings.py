"""Named algorithms: settings of the one update rule, a few lines each.

To add one, write a function with a problem as its first argument and
decorate it; its name is then known to run files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from fedtheory.arithmetic import Array, Number
from fedtheory.federation.participation import Full, Participation
from fedtheory.federation.rule import Aggregation, Algorithm, Synchronous, local_work, same_for_all
from fedtheory.problem import Problem


class Setting(Protocol):
    """Builds an algorithm for a problem from the keys of a run file."""

    def __call__(
        self,
        problem: Problem,
        *,
        rounds: int,
        local_step_size: Number | Array,
        local_steps: int | tuple[int, ...] = 1,
        server_step_size: Number = 1,
        participation: Participation = Full(),
        round_time: Number = 1,
    ) -> Algorithm: ...


SETTINGS: dict[str, Setting] = {}


def _named(name: str) -> Callable[[Setting], Setting]:
    def register(setting: Setting) -> Setting:
        SETTINGS[name] = setting
        return setting

    return register


@_named("fedavg")
def fedavg(
    problem: Problem,
    *,
    rounds: int,
    local_step_size: Number | Array,
    local_steps: int | tuple[int, ...] = 1,
    server_step_size: Number = 1,
    participation: Participation = Full(),
    round_time: Number = 1,
) -> Algorithm:
    """Federated averaging: local SGD from the newest model, then the weighted mean of the changes.

    renard2022, Algorithm 1, is the case of equal weights, equal step sizes and
    ``server_step_size = 1``.
    """
    arithmetic = problem.arithmetic
    shared = not hasattr(local_step_size, "shape") or local_step_size.shape == ()
    sizes = same_for_all(local_step_size, problem.weights) if shared else local_step_size
    return Algorithm(
        "fedavg",
        local_work(local_steps, sizes),
        Aggregation(arithmetic.number(server_step_size, "algorithm.server_step_size"), participation),
        Synchronous(arithmetic.number(round_time, "algorithm.clock.times")),
        rounds,
    )
