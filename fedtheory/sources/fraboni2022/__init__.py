"""Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi: federated optimisation with asynchronous clients (2022).

Aggregation with stale models and unequal reporting.  One module for each part,
in the order of the pages; each repair stands right behind the claim that it
corrects.
"""

from fedtheory.claim import Source
from fedtheory.sources.fraboni2022 import (
    asynchronous,
    convergence,
    examples,
    experiments,
    federated_optimum,
    fedfix,
    gradient_lemmas,
    hardware,
    inequalities,
    lemma_3,
    lemma_3_proof,
    lemma_4,
    relaxed,
    sampling,
    setting,
    step_size_conditions,
    surrogate_problem,
    table_2,
    theorem_1,
    theorem_1_bound,
    theorem_1_proof,
    theorem_2_proof,
    theorem_3,
    theorem_3_proof,
    weights_lemmas,
)

SOURCE = Source(
    key="fraboni2022",
    title="A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
    authors="Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi",
    year=2022,
    claims=(
        *setting.CLAIMS,
        *surrogate_problem.CLAIMS,
        *convergence.CLAIMS,
        *theorem_1.CLAIMS,
        *federated_optimum.CLAIMS,
        *examples.EXAMPLE_1,
        *relaxed.CLAIMS,
        *theorem_3_proof.CLAIMS,
        *theorem_3.CLAIMS,
        *hardware.CLAIMS,
        *table_2.CLAIMS,
        *asynchronous.CLAIMS,
        *fedfix.CLAIMS,
        *experiments.CLAIMS,
        *inequalities.CLAIMS,
        *weights_lemmas.CLAIMS,
        *lemma_3.CLAIMS,
        *lemma_3_proof.CLAIMS,
        *lemma_4.CLAIMS,
        *gradient_lemmas.CLAIMS,
        *theorem_1_proof.CLAIMS,
        *theorem_1_bound.CLAIMS,
        *step_size_conditions.CLAIMS,
        *theorem_2_proof.CLAIMS,
        *sampling.CLAIMS,
    ),
)
