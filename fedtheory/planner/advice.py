"""Recommendations from one claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fedtheory.language.assumptions import server_step_of_one, unit_server_step
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.planner.admissible import Edge, find_largest_whole, largest
from fedtheory.planner.bound import ROUNDS, SERVER_STEP, STEP, STEPS, NumericBound, Slack
from fedtheory.planner.comparators import NAMES, ComparatorValues
from fedtheory.planner.exact_optimum import ExactOptimum
from fedtheory.planner.optimum import Optimum, StepSizes
from fedtheory.planner.speed_up import UsefulLocalSteps, find_linear_clients, find_useful_local_steps
from fedtheory.planner.target import RoundsToAccuracy, find_rounds_at_best_step, find_rounds_at_step
from fedtheory.shown import number

SERVER_STEPS_OF_ONE = (unit_server_step, server_step_of_one)
"""Assumptions of claims about averaging at the server."""
FOLLOWED = frozenset({ROUNDS, "iterations"}) | NAMES
"""Quantities with known values at any number of steps and rounds."""


@dataclass(frozen=True)
class StepSizeComparison:
    """The best step size of a bound, compared with the step size of smallest exact error."""

    exact: ExactOptimum
    error_at_choice: float
    """The exact error at the step size of the bound."""
    ratio: float
    """Ratio of the step size of the bound to the best one."""
    error_ratio: float
    """Ratio of the exact error at the step size of the bound to the smallest one."""
    errors_are: str = "exact"
    """How these errors are known, in one word."""


@dataclass(frozen=True)
class Measurements:
    """A bound whose constants are measured on the run at each step size, instead of on the planned run.

    Regions that contain a run, and points that a run visits, depend on its step size.
    """

    changed: tuple[str, ...]
    """Names of the numbers that differ between the planned run and the one at the best step size."""
    value: float | None
    """The bound at the best step size of the plan; None if the claim does not cover that run."""
    step_size: float
    """The best tried step size with constants measured there; the planned best one if no number changed."""
    value_at_step: float | None
    """The bound at that step size."""


@dataclass(frozen=True, eq=False)
class ClaimPlan:
    """Recommendations from one claim."""

    claim: Claim
    error: RunQuantity
    """The bounded error."""
    applicable: bool
    """Whether the claim covers the run as planned."""
    reason: str | None
    """The reasons why it does not."""
    conditions: tuple[Slack, ...] = ()
    bound: NumericBound | None = None
    """The best step size; None if no step size makes the claim applicable."""
    step: Edge | None = None
    """Largest admissible local step size, with all other numbers as planned."""
    optimum: Optimum | None = None
    measurements: Measurements | None = None
    exact: StepSizeComparison | None = None
    accuracy: float | None = None
    """The target accuracy."""

    @cached_property
    def _sizes(self) -> StepSizes | None:
        """Return the step sizes of the bound; None if there is no bound."""
        return None if self.bound is None else StepSizes(self.bound)

    @cached_property
    def _covered(self) -> NumericBound | None:
        """The bound at a step size that the claim covers."""
        if self.bound is None or self.reason is None or self.optimum is None:
            return self.bound
        return self.bound.with_numbers({STEP: self.optimum.step_size})

    @cached_property
    def server_step(self) -> Edge | None:
        """Largest server step size, with all other numbers as planned; one if the claim concerns averaging only."""
        if self._covered is None:
            return None
        if self._covered.symbols(SERVER_STEP):
            return largest(self._covered, SERVER_STEP)
        return Edge(1.0) if any(one in self.claim.assumptions for one in SERVER_STEPS_OF_ONE) else None

    @cached_property
    def local_steps(self) -> Edge | None:
        """Largest number of local steps, with all other numbers as planned."""
        if self._covered is None or self.bound is None or not self.bound.symbols(STEPS):
            return None
        return find_largest_whole(self._covered, STEPS)

    @cached_property
    def target(self) -> RoundsToAccuracy | None:
        """Rounds to the target accuracy, at the planned step size."""
        if self.accuracy is None or self.bound is None or not self.self_contained:
            return None
        if self.reason is not None:
            return RoundsToAccuracy(self.accuracy, None, self.bound.values.get(STEP), math.inf, self.reason)
        return find_rounds_at_step(self.bound, self.accuracy)

    @cached_property
    def target_at_best(self) -> RoundsToAccuracy | None:
        """Rounds to the target accuracy, at the best step size for each number of rounds."""
        if self.accuracy is None or self.optimum is None or self._sizes is None or not self.self_contained:
            return None
        return find_rounds_at_best_step(self._sizes, self.accuracy)

    @cached_property
    def linear_clients(self) -> float | None:
        """Number of clients up to which the speed-up is linear, by the bound."""
        return None if self._sizes is None or self._is_measured else find_linear_clients(self._sizes)

    @cached_property
    def useful_local_steps(self) -> UsefulLocalSteps | None:
        """The useful number of local steps at the same number of rounds, by the bound."""
        return None if self._sizes is None or self._is_measured else find_useful_local_steps(self._sizes)

    @property
    def _is_measured(self) -> bool:
        """Return whether the bound contains measurements of the run, whose values for other settings are unknown."""
        return self.measurements is not None and bool(self.measures_the_run)

    def entry(self) -> dict[str, Any]:
        """Return the bound and its best step size, as JSON."""
        return {
            "verdict": self.claim.verdict,
            "error": self.error.name,
            "applicable": self.applicable,
            "reason": self.reason,
            "bound": None if self.bound is None else self.bound.value(),
            "best_step_size": None if self.optimum is None else self.optimum.step_size,
            "bound_at_best": None if self.optimum is None else self.optimum.value,
        }

    def row(self) -> list[str]:
        """Return the bound and its best step size as a row of the table of applicable bounds."""
        entry = self.entry()
        texts = (entry[name] for name in ("verdict", "error", "bound", "best_step_size", "bound_at_best"))
        return [self.claim.id, *map(number, texts)]

    def advice(self) -> dict[str, str]:
        """Return the best step size of the bound, and the best one for the exact error that it bounds."""
        bound = f"the bound of {self.claim.id} on {self.error.name}"
        found = {} if self.optimum is None else {f"step size that minimises {bound}": number(self.optimum.step_size)}
        if self.exact is not None:
            exact = f"the {self.exact.errors_are} {self.error.name}"
            found[f"step size that minimises {exact}"] = number(self.exact.exact.step_size)
            found[f"{exact} at the first of these over that at the second"] = number(self.exact.error_ratio)
        return found

    @property
    def comparator(self) -> ComparatorValues | None:
        """The comparator of the bound, at the best step size if there is one."""
        if self.bound is None:
            return None
        return self.bound.find_comparator(None if self.optimum is None else {STEP: self.optimum.step_size})

    @property
    def measured(self) -> list[str]:
        """Names of numbers in the bound that are measured on the run itself and change with its step size."""
        return self.select_measured(() if self.measurements is None else self.measurements.changed)

    def select_measured(self, changed: Sequence[str]) -> list[str]:
        """Return the names of the changed numbers that are not constants of a run."""
        quantities = [quantity for quantity in self.claim.notation.values() if quantity.name in changed]
        return [
            quantity.name for quantity in quantities if not (isinstance(quantity, RunQuantity) and quantity.is_constant)
        ]

    @property
    def self_contained(self) -> bool:
        """Whether the numbers that the bound measures on the run are the same at its best step size.

        A bound with measurements of the run itself is not a known function of the
        step size before the run is simulated.
        """
        return not self.measured

    @property
    def measures_the_run(self) -> list[str]:
        """Quantities of the bound that are measured on the run, and whose values for other settings are unknown."""
        known = [] if self.bound is None else list(self.bound.names.values())
        quantities = [n for n in self.claim.notation.values() if isinstance(n, RunQuantity) and n.name in known]
        return sorted({n.name for n in quantities if not n.is_constant and n.name not in FOLLOWED})

    @property
    def attainable(self) -> bool:
        """Whether the claim covers the run at its best step size."""
        if self.bound is None or self.optimum is None:
            return False
        if self.measurements is not None and self.measurements.value is None:
            return False
        return all(slack.holds for slack in self.bound.slacks({STEP: self.optimum.step_size}))
