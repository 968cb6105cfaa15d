"""Assumptions that a run uses a certain algorithm other than the update rule of federated averaging."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from fedtheory.arithmetic import Number
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.assumptions.assumption import Assumption, Setting, expect
from fedtheory.runfile.definitions import find_definition, is_user_defined

_ROUNDING = 1e-9
"""Relative tolerance of float step sizes around the stated ones."""


@dataclass(frozen=True)
class OfAlgorithm(Setting):
    """Assumption that the run uses one of some algorithms, by their names in run files."""

    names: tuple[str, ...] = ()
    """Names of the definitions that satisfy it."""
    numbers: tuple[tuple[str, int], ...] = ()
    """Parameters with a prescribed value, by their keys in run files."""


@cache
def of_algorithm(*names: str) -> OfAlgorithm:
    """Return the assumption that a run's algorithm has one of these names."""
    words = " or ".join(names)

    def require(run: Run) -> None:
        expect(run.algorithm.name in names, f"the algorithm is {run.algorithm.name}, not {words}")
        _require_present_definition(run)

    return OfAlgorithm(words, f"the algorithm is {words}", require, names)


def _require_present_definition(run: Run) -> None:
    """Raise `NotApplicable` if the user's file defines another algorithm now than the one of the run."""
    name, defined = run.algorithm.name, run.algorithm.defined
    if defined is not None and is_user_defined(name) and Path(name.rpartition(":")[0]).is_file():
        present = find_definition(name, "algorithm.name")
        is_same = present is defined.algorithm or present.digest == defined.algorithm.digest
        expect(is_same, f"the run has another definition than {name} in the present folder")


scaffold, scaffnew, dsgd = of_algorithm("scaffold"), of_algorithm("scaffnew"), of_algorithm("dsgd")
compressed, server_momentum = of_algorithm("compressed"), of_algorithm("fedavgm")
fedprox, fednova = of_algorithm("fedprox"), of_algorithm("fednova")


def expect_common_schedule(run: Run) -> None:
    """Raise `NotApplicable` unless a run is FedAvg, with the same local steps and step sizes for all clients."""
    work = run.algorithm.work
    expect(run.algorithm.name == "fedavg", f"the algorithm is {run.algorithm.name}, not fedavg")
    expect((work.step_sizes == work.step_sizes[0]).all(), "the clients use different step sizes")
    expect(work.common_steps, "the clients take different numbers of local steps")


def find_other_size(run: Run, stated: Callable[[int, int], Number]) -> tuple[int, int] | None:
    """Return the first round n and local step k whose step size is not `stated(n, k)`, in floats up to rounding."""
    work, rounding = run.algorithm.work, 0 if run.arithmetic.is_rigorous else _ROUNDING
    for n, k in product(range(run.algorithm.rounds), range(max(work.steps))):
        size = stated(n, k)
        if not abs(work.sizes_at(n, k)[0] - size) <= rounding * abs(size):
            return n, k
    return None


def _require_decreasing_steps(run: Run) -> Number:
    """Return c, if the step sizes of round n are 2/(mu tau (n + c)); raise `NotApplicable` otherwise."""
    expect_common_schedule(run)
    work, mu = run.algorithm.work, run.strong_convexity
    expect(mu > 0, "a client's objective is not strongly convex")
    scale = mu * max(work.steps) / 2
    shift = 1 / (scale * work.step_sizes[0])
    other = find_other_size(run, lambda n, _k: 1 / (scale * (n + shift)))
    if other is not None:
        raise NotApplicable(f"the step size of round {other[0]} is not 2/(mu tau (n + c))")
    return shift


decreasing_steps = OfAlgorithm(
    "decreasing steps",
    r"the algorithm is fedavg, with steps of size $2/(\mu\tau(n+c))$ in round $n$",
    _require_decreasing_steps,
    ("fedavg",),
)


def _require_heavy_ball(run: Run) -> None:
    server_momentum.require(run)
    defined = run.algorithm.defined
    flags = [] if defined is None else [p.letter for p in defined.algorithm.parameters if p.key == "nesterov"]
    expect(defined is not None and all(defined.values[flag] == 0 for flag in flags), "the momentum is Nesterov's")


heavy_ball = OfAlgorithm(
    "heavy ball",
    "the algorithm is fedavgm, with heavy-ball momentum",
    _require_heavy_ball,
    ("fedavgm",),
    (("nesterov", 0),),
)


update_rule = OfAlgorithm(
    "update rule",
    "the algorithm is a setting of the update rule of federated averaging",
    lambda run: run.algorithm.require_update_rule("a claim without an algorithm concerns the update rule"),
    ("fedavg",),
)


def select_algorithm_assumptions(assumptions: Iterable[Assumption]) -> list[OfAlgorithm]:
    """Select assumptions that require an algorithm; user-defined assumptions are arbitrary and not selected."""
    known = (decreasing_steps, heavy_ball, update_rule)
    about = [one for one in assumptions if isinstance(one, OfAlgorithm)]
    return [one for one in about if one is of_algorithm(*one.names) or any(one is other for other in known)]
