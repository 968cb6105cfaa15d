"""Figures 4 to 7: synchronous FedAvg, FedFix and asynchronous FedAvg over clock time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from fedtheory.engine.run import Run
from fedtheory.federation.clock import Asynchronous, FedFix, Synchronous
from fedtheory.federation.problem import Problem
from fedtheory.language.quantities import doubled_server_gap
from fedtheory.sources.fraboni2022.experiments.curves import CurvesByStepSize, Scenario, make_scenario
from fedtheory.sources.fraboni2022.experiments.digits import Split, make_digits_problem

POLICIES = {
    "synchronous": Synchronous(),
    "FedFix-0.5": FedFix(fmpq(1, 2)),
    "asynchronous": Asynchronous("one-by-one"),
}
CLIENTS, LOCAL_STEPS, HORIZON = 20, 10, 20
SCENARIOS = (0, 80)
"""X of the hardware FX: F0 has equal clients; in F80 the fastest reports five times as often as the slowest."""
STEP_SIZES = tuple(2.0**-power for power in range(11, -1, -1))


@dataclass(frozen=True, eq=False)
class SchemesCompared:
    """The three schemes on one split with one hardware, each at all step sizes."""

    split: Split
    slower: int
    """X of the hardware FX."""
    schemes: Mapping[str, CurvesByStepSize]
    minimum: float
    """The smallest loss of (2)."""

    @property
    def hardware(self) -> str:
        """Return the name FX of the hardware."""
        return f"F{self.slower}"

    @property
    def best_losses(self) -> dict[str, float]:
        """Return the final loss of each scheme at its best step size."""
        return {name: tuned.best.final_loss for name, tuned in self.schemes.items()}


@dataclass(frozen=True, eq=False)
class SplitCompared:
    """The three schemes on one split with every hardware."""

    by_hardware: tuple[SchemesCompared, ...]
    f0_gap: float
    """Sum of squared differences of the moments of FedFix-0.5 under F0 and of synchronous FedAvg with eta_g = 2."""


def compute_figure_4(
    split: Split,
    *,
    seed: int = 0,
    clients: int = CLIENTS,
    horizon: int = HORIZON,
    local_steps: int = LOCAL_STEPS,
    step_sizes: Sequence[float] = STEP_SIZES,
) -> SplitCompared:
    """Return all schemes on one split of the digits, with time-based weights and ``eta_g = 1``."""
    problem = make_digits_problem(clients, split, seed)
    # All scenarios have the same slowest client, so they share the synchronous rounds.
    shared = make_scheme_scenario(problem, "synchronous", 0, local_steps, horizon).compute_curves(step_sizes)
    compared = []
    for slower in SCENARIOS:
        schemes = {"synchronous": shared}
        for name in ("FedFix-0.5", "asynchronous"):
            schemes[name] = make_scheme_scenario(problem, name, slower, local_steps, horizon).compute_curves(step_sizes)
        compared.append(SchemesCompared(split, slower, schemes, float(problem.optimal_value)))
    fedfix = make_scheme_scenario(problem, "FedFix-0.5", 0, local_steps, horizon)
    step_size = compared[0].schemes["FedFix-0.5"].best.step_size
    gap = doubled_server_gap.measure(Run(problem, fedfix.make_algorithm(step_size)))
    return SplitCompared(tuple(compared), float(gap))


def make_scheme_scenario(problem: Problem, scheme: str, slower: int, local_steps: int, horizon: int) -> Scenario:
    """Return the scenario of a scheme with time-based weights and the hardware F`slower`."""
    policy = POLICIES[scheme]
    return make_scenario(problem, policy, slower, "Time-based", local_steps=local_steps, horizon=horizon)
