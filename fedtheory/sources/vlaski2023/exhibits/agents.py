"""The agents of the figures: three in the plane, two of them sampled, with unequal numbers of local steps."""

from __future__ import annotations

from functools import cache

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import Uniform, fedavg
from fedtheory.federation.problem import quadratic

LOCAL_STEPS = (1, 2, 4)
"""Numbers E_k of local steps."""


@cache
def make_sampled_run(sizes: tuple[fmpq, ...]) -> Run:
    """Return two of the three agents in each round, in rationals, with local steps of the given sizes."""
    array = RATIONAL.array
    hessians = [[["1", "0"], ["0", "1/2"]], [["1/2", "1/4"], ["1/4", "1"]], [["1", "0"], ["0", "1"]]]
    minimisers = [["0", "0"], ["2", "0"], ["1", "2"]]
    linear = np.stack([array(h) @ array(w) for h, w in zip(hessians, minimisers, strict=True)])
    problem = quadratic(array(hessians), linear, array(["0", "0"]), noise=array([1] * 3))
    algorithm = fedavg(
        problem,
        rounds=1,
        local_step_size=array(list(sizes)),
        local_steps=LOCAL_STEPS,
        participation=Uniform(2),
    )
    return Run(problem, algorithm)
