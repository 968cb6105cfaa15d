"""Updates at which the loss of synchronous FedAvg rises, in expectation and in sampled runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedtheory.engine import sampling
from fedtheory.sources.fraboni2022.experiments.digits import Split, make_digits_problem
from fedtheory.sources.fraboni2022.experiments.figure_4 import CLIENTS, LOCAL_STEPS, STEP_SIZES, make_scheme_scenario

RUNS = 20
"""Number of sampled runs per step size."""
NEGLIGIBLE = 1e-6
"""Relative size of a rise of an expected loss that is ignored: a run can pass slightly below its stationary loss."""


@dataclass(frozen=True)
class Rises:
    """Synchronous FedAvg on one split with one stable step size."""

    split: Split
    seed: int
    rounds: int
    step_size: float
    expected: int
    """Number of rounds in which E L(theta^n) rises by more than a millionth."""
    sampled: float
    """Fraction of the rounds of sampled runs in which L(theta^n) rises."""
    largest: float
    """Largest L(theta^{n+1}) - L(theta^n) of the sampled runs."""


def count_rises(split: Split, seed: int, rounds: int) -> Iterator[Rises]:
    """Yield the rises for ascending step sizes of Figure 4, up to the first at which the scheme diverges."""
    problem = make_digits_problem(CLIENTS, split, seed)
    scenario = make_scheme_scenario(problem, "synchronous", 0, LOCAL_STEPS, rounds)
    loss = sampling.loss(problem)
    for step_size in STEP_SIZES:
        curve = scenario.compute_curve(step_size)
        if curve.diverges:
            return
        models = sampling.models(problem, scenario.make_algorithm(step_size), RUNS, seed)
        changes = np.diff(np.stack([loss(model) for model in models]), axis=0)
        expected = int((np.diff(curve.loss) > NEGLIGIBLE * curve.loss[:-1]).sum())
        yield Rises(split, seed, rounds, step_size, expected, float((changes > 0).mean()), float(changes.max()))
