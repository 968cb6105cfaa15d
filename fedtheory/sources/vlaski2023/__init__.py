"""S. Vlaski and A. H. Sayed, chapter 5 "Federated Learning" of a draft textbook (2023): federated averaging.

L of K agents are sampled in each round, agent k takes E_k local steps of size
mu_k = mu / E_k.  One module for each part of the chapter, in the order of the
pages; each repair stands right behind the claim that it corrects.
"""

from fedtheory.claim import Source
from fedtheory.sources.vlaski2023 import (
    dynamics,
    gradient_noise,
    local_error,
    perturbation,
    problems,
    proof,
    recursions,
    theorem,
)

SOURCE = Source(
    key="vlaski2023",
    title="Federated Learning (draft chapter 5)",
    authors="S. Vlaski and A. H. Sayed",
    year=2023,
    claims=(
        *recursions.CLAIMS,
        *dynamics.CLAIMS,
        *gradient_noise.CLAIMS,
        *perturbation.CLAIMS,
        *local_error.CLAIMS,
        *theorem.CLAIMS,
        *proof.CLAIMS,
        *problems.CLAIMS,
    ),
)
