"""Figure 3 over several splits: local work at one step size, at the best one, and with mitigating changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log2, nan

from fedtheory.federation.clock import Asynchronous, Policy
from fedtheory.federation.oracles import ExactOracle
from fedtheory.federation.problem import Problem
from fedtheory.sources.fraboni2022.experiments.curves import (
    WEIGHTINGS,
    Scenario,
    Weighting,
    average_last,
    make_scenario,
)
from fedtheory.sources.fraboni2022.experiments.digits import Split, make_digits_problem
from fedtheory.sources.fraboni2022.experiments.figure_3 import CLIENTS, HORIZON, SLOWER
from fedtheory.sources.fraboni2022.experiments.figure_4 import POLICIES
from fedtheory.sources.fraboni2022.experiments.moves import compute_squared_moves
from fedtheory.sources.fraboni2022.experiments.over_splits.search import (
    COARSE,
    FINE,
    choose_best,
    compute_step_size,
    search,
)


@dataclass(frozen=True)
class LocalWorkOnSplit:
    """Both weightings with one number of local steps on one split, averaged over the last 5% of the updates."""

    split: Split
    seed: int
    step_size: float
    """The best step size for identical weights and one local step."""
    local_steps: int
    identical_excess: float
    """Excess loss of problem (2); infinite if the run diverges."""
    time_based_excess: float
    identical_deviation: float
    """Standard deviation of the expected loss over these updates; infinite if the run diverges."""
    time_based_deviation: float
    larger_moves: float
    """Fraction of updates of slow clients at which E|theta^{n+1} - theta^n|^2 is larger with time-based weights."""
    move_ratio: float
    """Ratio of the root mean squared moves at these updates, time-based to identical; nan if a run diverges."""


def compute_local_work(
    split: Split, seed: int, step_size: float, local_steps: Sequence[int]
) -> Iterator[LocalWorkOnSplit]:
    """Yield both weightings for ascending numbers of local steps at one step size, until both diverge."""
    problem = make_digits_problem(CLIENTS, split, seed)
    minimum = float(problem.optimal_value)
    for steps in local_steps:
        scenarios = [_make_asynchronous(problem, weighting, steps) for weighting in WEIGHTINGS]
        identical, time_based = (scenario.compute_curve(step_size) for scenario in scenarios)
        converges = not (identical.diverges or time_based.diverges)
        larger, ratio = _measure_slow_moves(scenarios, step_size) if converges else (nan, nan)
        yield LocalWorkOnSplit(
            split,
            seed,
            step_size,
            steps,
            identical.final_loss - minimum,
            time_based.final_loss - minimum,
            identical.fluctuation,
            time_based.fluctuation,
            larger,
            ratio,
        )
        if identical.diverges and time_based.diverges:
            return


def _make_asynchronous(problem: Problem, weighting: Weighting, local_steps: int) -> Scenario:
    policy = Asynchronous("one-by-one")
    return make_scenario(problem, policy, SLOWER, weighting, local_steps=local_steps, horizon=HORIZON)


def _measure_slow_moves(scenarios: Sequence[Scenario], step_size: float) -> tuple[float, float]:
    """Return `larger_moves` and `move_ratio` of `LocalWorkOnSplit`; a client is slow if its time-based weight is above
    one.
    """
    identical, time_based = (scenario.compute_trajectory(step_size) for scenario in scenarios)
    is_slow = scenarios[1].weights > 1
    by_slow = [bool(is_slow[update.reports[0]]) for update in identical.algorithm.updates()]
    moves = [compute_squared_moves(trajectory)[by_slow] for trajectory in (identical, time_based)]
    return float((moves[1] > moves[0]).mean()), (average_last(moves[1]) / average_last(moves[0])) ** 0.5


@dataclass(frozen=True)
class TunedLocalWork:
    """Both weightings with one number of local steps on one split, each at its own best step size."""

    split: Split
    seed: int
    local_steps: int
    identical_step_size: float
    time_based_step_size: float
    identical_excess: float
    time_based_excess: float
    is_interior: bool
    """Whether step sizes below and above both best ones were tried."""


def tune_local_work(split: Split, seed: int, local_steps: Sequence[int]) -> Iterator[TunedLocalWork]:
    """Yield both weightings at their best step sizes on a grid, for each number of local steps."""
    problem = make_digits_problem(CLIENTS, split, seed)
    minimum = float(problem.optimal_value)
    for steps in local_steps:
        scenarios = [_make_asynchronous(problem, weighting, steps) for weighting in WEIGHTINGS]
        largest = -COARSE * round(FINE * log2(8 * steps) / COARSE)

        def compute_losses(point: int, scenarios: Sequence[Scenario] = scenarios) -> list[float]:
            return [scenario.compute_curve(compute_step_size(point)).final_loss for scenario in scenarios]

        found = search(compute_losses, largest, largest - 6 * FINE)
        identical, time_based = (choose_best(found, number) for number in range(len(scenarios)))
        yield TunedLocalWork(
            split,
            seed,
            steps,
            identical.step_size,
            time_based.step_size,
            identical.loss - minimum,
            time_based.loss - minimum,
            identical.is_interior and time_based.is_interior,
        )


CHANGES = (
    "none",
    "a quarter of the server step size",
    "a quarter of the local step size",
    "a quarter of the local steps",
    "FedFix-0.5",
    "full gradients",
)


@dataclass(frozen=True)
class Mitigation:
    """Time-based weights with one change of the run on one split, over the last 5% of the updates."""

    split: Split
    seed: int
    local_steps: int
    step_size: float
    change: str
    excess: float
    deviation: float
    """Standard deviation of the expected loss over these updates."""


def compute_mitigations(split: Split, seed: int, step_size: float, local_steps: int) -> Iterator[Mitigation]:
    """Yield the run with each of `CHANGES`, one change at a time."""
    problem = make_digits_problem(CLIENTS, split, seed)
    for change in CHANGES:
        size = step_size / 4 if change == "a quarter of the local step size" else step_size
        curve = _change_scenario(problem, local_steps, change).compute_curve(size)
        yield Mitigation(
            split,
            seed,
            local_steps,
            step_size,
            change,
            curve.final_loss - float(problem.optimal_value),
            curve.fluctuation,
        )


def _change_scenario(problem: Problem, local_steps: int, change: str) -> Scenario:
    """Return the scenario with one of `CHANGES`, except that of the local step size."""
    policy: Policy = POLICIES["FedFix-0.5" if change == "FedFix-0.5" else "asynchronous"]
    steps = local_steps // 4 if change == "a quarter of the local steps" else local_steps
    chosen = replace(problem, oracle=ExactOracle()) if change == "full gradients" else problem
    scenario = make_scenario(chosen, policy, SLOWER, "Time-based", local_steps=steps, horizon=HORIZON)
    return replace(scenario, server_step_size=0.25) if change == "a quarter of the server step size" else scenario
