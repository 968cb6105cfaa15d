"""Assignments about lecture 27: client drift, and the number of local steps under a budget."""

from fedtheory.sources.lecture27.assignments import drift_function, tau_under_a_budget

ASSIGNMENTS = [
    drift_function.ASSIGNMENT,
    tau_under_a_budget.ASSIGNMENT,
]
