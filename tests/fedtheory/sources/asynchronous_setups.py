"""Set-ups of two asynchronous clients in one dimension, with errors computed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Participation, fedavg
from fedtheory.federation.clock import Clock, Policy, Synchronous
from fedtheory.federation.problem import quadratic
from fedtheory.sources.fraboni2022.statements import (
    gradient_lemmas,
    lemma_3,
    lemma_3_proof,
    lemma_4,
    step_size_conditions,
    theorem_1_bound,
    theorem_1_proof,
    theorem_2_proof,
    weights_lemmas,
)

PROOFS = (
    weights_lemmas,
    lemma_3,
    lemma_3_proof,
    lemma_4,
    gradient_lemmas,
    theorem_1_proof,
    theorem_1_bound,
    step_size_conditions,
    theorem_2_proof,
)


@dataclass(frozen=True)
class Setup:
    """Clients (x - m_i)^2 / 2 in one dimension."""

    minimisers: Sequence[int] = (0,)
    start: int = 1
    weights: Sequence[str] | None = None
    variance: int = 0
    local_steps: int = 1
    step_size: str = "1/4"
    server_step: int = 1
    rounds: int = 1
    participation: Participation | None = None
    policy: Policy | None = None
    times: Sequence[int] | None = None

    def run(self) -> Run:
        """Return the run in rationals."""
        array, clients = RATIONAL.array, len(self.minimisers)
        problem = quadratic(
            array([[[1]]] * clients),
            array([[m] for m in self.minimisers]),
            array([self.start]),
            noise=array([self.variance] * clients),
        )
        times = tuple(fmpq(time) for time in self.times or [1] * clients)
        algorithm = fedavg(
            problem,
            rounds=self.rounds,
            local_step_size=fmpq(*map(int, self.step_size.split("/"))),
            local_steps=self.local_steps,
            server_step_size=fmpq(self.server_step),
            participation=self.participation or Full(),
            clock=Clock(self.policy or Synchronous(), times),
            aggregation=None if self.weights is None else array(list(self.weights)),
        )
        return Run(problem, algorithm)
