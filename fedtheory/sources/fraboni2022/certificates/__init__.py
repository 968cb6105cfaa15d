"""Certificates of the paper's claims: local steps, updates, windows, step sizes, schedules, types, numbers."""

from fedtheory.sources.fraboni2022.certificates import (
    closed_forms,
    local_steps,
    remarks,
    representation,
    schedules,
    step_size_conditions,
    theorem_3,
    updates,
)

CERTIFICATES = [
    *closed_forms.CERTIFICATES,
    *local_steps.CERTIFICATES,
    *remarks.CERTIFICATES,
    *representation.CERTIFICATES,
    *schedules.CERTIFICATES,
    *step_size_conditions.CERTIFICATES,
    *theorem_3.CERTIFICATES,
    *updates.CERTIFICATES,
]
