"""Recommends step sizes, local steps, rounds and clients for a run, by bounds and by exact errors.

    >>> from fedtheory import planner
    >>> found = planner.plan_numbers({"L": 1, "M": 10, "tau": 5, "T": 100, "D": 2, "sigma": 1, "zeta": 0.5})
    >>> found.recommended.optimum.step_size < 1 / 4
    True

All numbers are floats: a plan is advice.  Formulas are SymPy expressions.

Uses `language`, `runfile`, `engine`, `federation`, `arithmetic`, `kernel`.
"""

from fedtheory.planner.admissible import Edge, largest
from fedtheory.planner.advice import ClaimPlan, StepSizeComparison
from fedtheory.planner.alternatives import KINDS, Alternative, Costs
from fedtheory.planner.bound import NumericBound, Slack, bound_of_numbers, bound_of_run
from fedtheory.planner.coverage import covering_claims, refuted_bounds, repair_of
from fedtheory.planner.exact_optimum import ExactErrors, ExactOptimum
from fedtheory.planner.measurements import compare
from fedtheory.planner.optimum import Optimum, StepSizes
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.planning import plan, plan_numbers
from fedtheory.planner.recommendation import Answer, Plan, Promise
from fedtheory.planner.regimes import RegimeMap, regime_map
from fedtheory.planner.target import RoundCost, RoundsToAccuracy

__all__ = [
    "KINDS",
    "Alternative",
    "Answer",
    "ClaimPlan",
    "Costs",
    "Edge",
    "ErrorAtStepSize",
    "ExactErrors",
    "ExactOptimum",
    "NumericBound",
    "Optimum",
    "Plan",
    "Promise",
    "RegimeMap",
    "RoundCost",
    "RoundsToAccuracy",
    "Slack",
    "StepSizeComparison",
    "StepSizes",
    "bound_of_numbers",
    "bound_of_run",
    "compare",
    "covering_claims",
    "largest",
    "plan",
    "plan_numbers",
    "refuted_bounds",
    "regime_map",
    "repair_of",
]
