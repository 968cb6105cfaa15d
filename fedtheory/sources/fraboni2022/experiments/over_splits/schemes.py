"""Synchronous FedAvg, FedFix-0.5 and asynchronous FedAvg, each at its best step size, over several splits.

Every split of the digits is one seed.  A run lasts until the longest time budget, and its losses serve the shorter
budgets too.  The final loss is the average of E L(theta^n) over the last 5% of the time budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from fedtheory.federation.problem import Problem
from fedtheory.sources.fraboni2022.experiments.curves import FINAL_FRACTION, Curve, Scenario
from fedtheory.sources.fraboni2022.experiments.digits import Split, make_digits_problem
from fedtheory.sources.fraboni2022.experiments.figure_4 import LOCAL_STEPS, SCENARIOS, make_scheme_scenario
from fedtheory.sources.fraboni2022.experiments.over_splits.search import choose_best, compute_step_size, search

_ROUNDING = 1e-9
"""Relative tolerance for rounding, as clock times and losses are floats."""


@dataclass(frozen=True)
class SchemeCase:
    """A scheme with one hardware and one server step size."""

    scheme: str
    slower: int
    """X of the hardware FX."""
    is_scaled: bool = False
    """Whether the server step size is the number of clients, instead of one."""


@dataclass(frozen=True)
class CaseGroup:
    """Cases that are searched together, because they share the noise of local steps."""

    cases: tuple[SchemeCase, ...]
    largest: int
    """Grid point of the largest step size that is searched."""
    smallest: int


_SCALED = True
GROUPS = (
    CaseGroup((SchemeCase("synchronous", 0), SchemeCase("FedFix-0.5", 0), SchemeCase("FedFix-0.5", 80)), -4, -32),
    CaseGroup(
        (
            SchemeCase("asynchronous", 0),
            SchemeCase("asynchronous", 80),
            SchemeCase("synchronous", 0, _SCALED),
            SchemeCase("FedFix-0.5", 0, _SCALED),
            SchemeCase("FedFix-0.5", 80, _SCALED),
        ),
        -24,
        -48,
    ),
)
"""Step sizes from 2^-1 to 2^-8 for averages of clients, and from 2^-6 to 2^-12 if a client has M times the weight."""


@dataclass(frozen=True)
class BestScheme:
    """One scheme on one split with one hardware, at the best step size for one time budget."""

    clients: int
    split: Split
    seed: int
    slower: int
    """X of the hardware FX."""
    server_step_size: int
    time: int
    """Time budget, in client times of the slowest client."""
    scheme: str
    step_size: float
    excess: float
    """Final loss minus the smallest loss of (2)."""
    is_interior: bool
    """Whether step sizes below and above the best one were tried."""


def compute_best_schemes(
    split: Split, seed: int, *, clients: int, times: Sequence[int], local_steps: int = LOCAL_STEPS
) -> Iterator[BestScheme]:
    """Yield each scheme at its best step size for each of the ascending time budgets `times`, on one split.

    Synchronous FedAvg is run with one hardware only; `repeat_for_hardware` adds the others.
    """
    problem = make_digits_problem(clients, split, seed)
    minimum = float(problem.optimal_value)
    for group in GROUPS:
        scenarios = [_make_scenario(problem, case, local_steps, times[-1]) for case in group.cases]

        def compute_losses(point: int, scenarios: Sequence[Scenario] = scenarios) -> list[float]:
            curves = [scenario.compute_curve(compute_step_size(point)) for scenario in scenarios]
            return [average_final_loss(curve, time, minimum) for curve in curves for time in times]

        found = search(compute_losses, group.largest, group.smallest)
        for number, (case, time) in enumerate(product(group.cases, times)):
            best = choose_best(found, number)
            yield BestScheme(
                clients,
                split,
                seed,
                case.slower,
                clients if case.is_scaled else 1,
                time,
                case.scheme,
                best.step_size,
                best.loss - minimum,
                best.is_interior,
            )


def repeat_for_hardware(records: Iterable[BestScheme]) -> Iterator[BestScheme]:
    """Yield the records of synchronous rounds for each hardware, and the others once.

    Synchronous rounds wait for the slowest client, which is the same in all hardware.
    """
    for record in records:
        if record.scheme == "synchronous":
            yield from (replace(record, slower=slower) for slower in SCENARIOS)
        else:
            yield record


def _make_scenario(problem: Problem, case: SchemeCase, local_steps: int, horizon: int) -> Scenario:
    scenario = make_scheme_scenario(problem, case.scheme, case.slower, local_steps, horizon)
    return replace(scenario, server_step_size=problem.clients) if case.is_scaled else scenario


def average_final_loss(curve: Curve, time: float, minimum: float) -> float:
    """Return the average of E L(theta^n) over the last 5% of a time budget; infinite if the run diverges.

    A run with a loss below the minimum diverges as well: its moments are so large that the loss is rounding error.
    """
    if curve.diverges or (curve.loss < minimum - _ROUNDING).any():
        return float("inf")
    chosen = (curve.times > (1 - FINAL_FRACTION) * time + _ROUNDING) & (curve.times <= time + _ROUNDING)
    return float(curve.loss[chosen].mean())
