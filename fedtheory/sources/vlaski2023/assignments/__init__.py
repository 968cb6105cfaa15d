"""Assignments about the chapter of S. Vlaski and A. H. Sayed: its three problems."""

from fedtheory.sources.vlaski2023.assignments import problem_5_1, problem_5_2, problem_5_3

ASSIGNMENTS = [
    problem_5_1.ASSIGNMENT,
    problem_5_2.ASSIGNMENT,
    problem_5_3.ASSIGNMENT,
]
