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
"""Relative size below which a rise of an expected loss is ignored, as a run may end slightly below its stationary
loss.
"""


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
    """Yield results for all step sizes of the search of Figure 4 at which the scheme does not diverge."""
    problem = make_digits_problem(CLIENTS, split, seed)
    runs = make_scheme_scenario(problem, "synchronous", 0, LOCAL_STEPS, rounds)
    loss = sampling.loss(problem)
    for step_size in STEP_SIZES:
        curve = runs.curve(step_size)
        if curve.diverges:
            return
        losses = np.stack([loss(model) for model in sampling.models(problem, runs.algorithm(step_size), RUNS, seed)])
        steps = np.diff(losses, axis=0)
        expected = int((np.diff(curve.loss) > NEGLIGIBLE * curve.loss[:-1]).sum())
        yield Rises(split, seed, rounds, step_size, expected, float((steps > 0).mean()), float(steps.max()))
