"""Assignments about Y. Fraboni et al.: the weights of FedFix, and what its two examples converge to."""

from fedtheory.sources.fraboni2022.assignments import fedfix_weights, limit_or_cycle

ASSIGNMENTS = [
    fedfix_weights.ASSIGNMENT,
    limit_or_cycle.ASSIGNMENT,
]
