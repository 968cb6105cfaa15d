"""J. Liu, ECE 8101 *Nonconvex Optimization for Machine Learning*, Lecture Note 3-1, Spring 2022: federated learning.

One module for each part of the slides, in the order of the pages; inside a
module, claims stand in the order in which they are printed, each repair right
behind the claim that it corrects.
"""

from fedtheory.claim import Source
from fedtheory.sources.liu2022 import (
    algorithms,
    corollary_2,
    lemma_1,
    non_iid,
    setting,
    theorem_1,
    theorem_1_descent,
    theorem_1_proof,
)

SOURCE = Source(
    key="liu2022",
    title="Lecture Note 3-1: Federated Learning",
    authors="J. Liu",
    year=2022,
    claims=(
        *algorithms.CLAIMS,
        *setting.CLAIMS,
        *theorem_1.CLAIMS,
        *corollary_2.CLAIMS,
        *theorem_1_descent.CLAIMS,
        *lemma_1.CLAIMS,
        *theorem_1_proof.CLAIMS,
        *non_iid.CLAIMS,
    ),
)
