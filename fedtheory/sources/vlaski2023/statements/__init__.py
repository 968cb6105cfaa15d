"""The statements in the order of the pages, one module per part; each correction follows the statement it corrects."""

from fedtheory.sources.vlaski2023.statements import (
    dynamics,
    gradient_noise,
    local_error,
    perturbation,
    problems,
    proof,
    recursions,
    theorem,
)

CLAIMS = (
    *recursions.CLAIMS,
    *dynamics.CLAIMS,
    *gradient_noise.CLAIMS,
    *perturbation.CLAIMS,
    *local_error.CLAIMS,
    *theorem.CLAIMS,
    *proof.CLAIMS,
    *problems.CLAIMS,
)
