"""What a plan says of one claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.planner.admissible import Edge
from fedtheory.planner.bound import STEP, Bound, Slack
from fedtheory.planner.comparators import ComparedWith
from fedtheory.planner.exact import ExactOptimum
from fedtheory.planner.extent import LocalSteps
from fedtheory.planner.optimum import Optimum
from fedtheory.planner.target import Target
from fedtheory.shown import number


@dataclass(frozen=True)
class Comparison:
    """The best step size of theory beside the one that really is best, for one error."""

    exact: ExactOptimum
    error_at_choice: float
    """The exact error at the step size of theory."""
    ratio: float
    """Step size of theory over the best one."""
    error_ratio: float
    """Exact error at the step size of theory over the smallest one."""


@dataclass(frozen=True)
class Remeasured:
    """The bound with the constants of the run at each step size, instead of those of the planned run.

    Regions that contain a run, and what a run visits, change with its step size.
    """

    changed: tuple[str, ...]
    """Numbers that differ between the planned run and the one at the best step size."""
    value: float | None
    """The bound at the best step size of the plan; None where the claim does not cover that run."""
    step_size: float
    """The best step size with constants measured anew, among those tried; the same where no number changed."""
    value_at_step: float | None
    """The bound there."""


@dataclass(frozen=True, eq=False)
class ClaimPlan:
    """What one claim recommends."""

    claim: Claim
    error: Quantity
    """What the claim bounds."""
    applicable: bool
    """Whether the claim covers the run as planned."""
    reason: str | None
    """Why it does not."""
    conditions: tuple[Slack, ...] = ()
    bound: Bound | None = None
    """None where no step size makes the claim applicable."""
    step: Edge | None = None
    """Largest admissible local step size; likewise the server's, and local steps, all else as planned."""
    server_step: Edge | None = None
    local_steps: Edge | None = None
    optimum: Optimum | None = None
    remeasured: Remeasured | None = None
    target: Target | None = None
    """Rounds to the accuracy asked for, at the planned step size."""
    target_at_best: Target | None = None
    """The same at the best step size for each number of rounds."""
    linear_clients: float | None = None
    paying_local_steps: LocalSteps | None = None
    exact: Comparison | None = None

    def entry(self) -> dict[str, Any]:
        """The bound and its best step size."""
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
        """The same for a table of those that apply."""
        entry = self.entry()
        texts = (entry[name] for name in ("verdict", "error", "bound", "best_step_size", "bound_at_best"))
        return [self.claim.id, *map(number, texts)]

    def advice(self) -> dict[str, str]:
        """The best step size of the bound, beside the one that is best for the exact error that it bounds."""
        found = {} if self.optimum is None else {"step size of the bound": number(self.optimum.step_size)}
        if self.exact is not None:
            found["step size of the exact error"] = number(self.exact.exact.step_size)
            found["error at one over error at the other"] = number(self.exact.error_ratio)
        return found

    @property
    def comparator(self) -> ComparedWith | None:
        """The point that the bound compares the run with, at the best step size where there is one."""
        if self.bound is None:
            return None
        return self.bound.compared_with(None if self.optimum is None else {STEP: self.optimum.step_size})

    @property
    def measured(self) -> list[str]:
        """Numbers in the bound that are measured on the run itself and change with its step size."""
        changed = () if self.remeasured is None else self.remeasured.changed
        notions = [notion for notion in self.claim.notation.values() if notion.name in changed]
        return [notion.name for notion in notions if not (isinstance(notion, Quantity) and notion.is_constant)]

    @property
    def self_contained(self) -> bool:
        """Whether all numbers of the bound but constants are the same at its best step size.

        A bound that contains measurements of the run itself is no function of the
        step size before the run is made.
        """
        return not self.measured

    @property
    def attainable(self) -> bool:
        """Whether the claim covers the run at its best step size."""
        if self.bound is None or self.optimum is None:
            return False
        if self.remeasured is not None and self.remeasured.value is None:
            return False
        return all(slack.holds for slack in self.bound.slacks({STEP: self.optimum.step_size}))
