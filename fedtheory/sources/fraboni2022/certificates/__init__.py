"""Certificates for Fraboni et al. (2022): local steps, updates, windows of updates, and step sizes."""

from fedtheory.sources.fraboni2022.certificates import local_steps, step_size_conditions, theorem_3, updates

CERTIFICATES = [
    *local_steps.CERTIFICATES,
    *step_size_conditions.CERTIFICATES,
    *theorem_3.CERTIFICATES,
    *updates.CERTIFICATES,
]
