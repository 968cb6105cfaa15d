"""The statements in the order of the pages, one module per part; each correction follows the statement it corrects."""

from fedtheory.sources.liu2022.statements import (
    algorithms,
    corollary_2,
    lemma_1,
    loop,
    non_iid,
    setting,
    theorem_1,
    theorem_1_descent,
    theorem_1_proof,
)

CLAIMS = (
    *algorithms.CLAIMS,
    *setting.CLAIMS,
    *theorem_1.CLAIMS,
    *corollary_2.CLAIMS,
    *theorem_1_descent.CLAIMS,
    *lemma_1.CLAIMS,
    *theorem_1_proof.CLAIMS,
    *loop.CLAIMS,
    *non_iid.CLAIMS,
)
