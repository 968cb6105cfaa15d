"""Assignments about T. Renard's notes: from the lemmas to the theorem, and an error to be found."""

from fedtheory.sources.renard2022.assignments import (
    drift_recursion,
    find_the_error,
    polarization,
    progress_step,
    theorem_and_step_size,
)

ASSIGNMENTS = [
    polarization.ASSIGNMENT,
    progress_step.ASSIGNMENT,
    drift_recursion.ASSIGNMENT,
    theorem_and_step_size.ASSIGNMENT,
    find_the_error.ASSIGNMENT,
]
