"""Instances of FedFix whose interval is half the common client time (fraboni2022, Section 5.2.3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.clock import Clock, FedFix
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import assumptions as a
from fedtheory.language.families import CURVATURES, NOISES, SPREADS, family, pick

_STEP_SIZES = (fmpq(1, 8), fmpq(1, 64), fmpq(1, 2))


@family("half intervals", 220, meant_for=a.half_of_one_time)
def half_intervals(number: int) -> Run:
    """One to four clients with client time one, an interval of 1/2, one to three reports of each."""
    generator = np.random.default_rng([18, number])
    clients, dimension = 1 + number % 4, 1 + number % 9 // 8
    spectra = [[pick(generator, CURVATURES) for _ in range(dimension)] for _ in range(clients)]
    noise, spread = pick(generator, NOISES), pick(generator, SPREADS)
    problem = draw_quadratics(generator, spectra, shared=False, heterogeneity=spread, noise=noise)
    if number % 3 == 0:
        shares = RATIONAL.array(generator.integers(1, 4, clients))
        problem = replace(problem, weights=shares / shares.sum())
    clock = Clock(FedFix(fmpq(1, 2)), (fmpq(1),) * clients)
    algorithm = fedavg(
        problem,
        rounds=2 * (1 + int(generator.integers(3))),
        local_step_size=pick(generator, _STEP_SIZES),
        local_steps=1 + int(generator.integers(3)),
        server_step_size=pick(generator, (fmpq(1), fmpq(1), fmpq(1, 2))),
        clock=clock,
        aggregation=compute_time_based_weights(clock, problem.weights),
    )
    return Run(problem, algorithm)
