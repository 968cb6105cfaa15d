"""Distributed gradient descent under a resource budget: fixed local steps, and adaptive local steps.

S. Wang et al., "Adaptive Federated Learning in Resource Constrained Edge Computing Systems", IEEE JSAC 2019;
lecture27.
"""

from fedtheory.sources.lecture27.budget.controller import Controller, Estimates, drift_bounds
from fedtheory.sources.lecture27.budget.cost import Budget
from fedtheory.sources.lecture27.budget.descent import (
    BudgetComparison,
    BudgetedRun,
    compare,
    descend_adaptively,
    descend_fixed,
)
from fedtheory.sources.lecture27.budget.document import document, step_size

__all__ = [
    "Budget",
    "BudgetComparison",
    "BudgetedRun",
    "Controller",
    "Estimates",
    "compare",
    "descend_adaptively",
    "descend_fixed",
    "document",
    "drift_bounds",
    "step_size",
]
