"""Assignments about Y. Fraboni et al.: the weights of FedFix, and the limits of its two examples."""

from fedtheory.sources.fraboni2022.assignments import fedfix_weights, limit_or_cycle

ASSIGNMENTS = [
    fedfix_weights.ASSIGNMENT,
    limit_or_cycle.ASSIGNMENT,
]
