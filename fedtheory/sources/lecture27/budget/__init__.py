"""Distributed gradient descent under a resource budget: fixed local steps, and adaptive local steps.

S. Wang et al., "Adaptive Federated Learning in Resource Constrained Edge Computing Systems", IEEE JSAC 2019;
lecture27.
"""

from fedtheory.sources.lecture27.budget.controller import Controller, Estimates, compute_drift_bounds
from fedtheory.sources.lecture27.budget.cost import Budget
from fedtheory.sources.lecture27.budget.descent import (
    BudgetComparison,
    BudgetedRun,
    compare,
    descend_adaptively,
    descend_fixed,
)
from fedtheory.sources.lecture27.budget.document import get_step_size, write_document

__all__ = [
    "Budget",
    "BudgetComparison",
    "BudgetedRun",
    "Controller",
    "Estimates",
    "compare",
    "compute_drift_bounds",
    "descend_adaptively",
    "descend_fixed",
    "get_step_size",
    "write_document",
]
