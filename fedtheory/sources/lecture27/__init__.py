"""Course 6960/5960, Lecture 27, *Introduction to Federated Learning*: distributed gradient descent under a budget.

Handwritten notes that follow S. Wang et al., "Adaptive Federated Learning in
Resource Constrained Edge Computing Systems", IEEE JSAC 2019.  One module for
each part, in the order of the pages.
"""

from fedtheory.claim import Source
from fedtheory.sources.lecture27 import assumptions, lemmas, setting, theorem_1, theorem_2

SOURCE = Source(
    key="lecture27",
    title="Lecture 27: Introduction to Federated Learning (after S. Wang et al. 2019)",
    authors="course 6960/5960",
    year=2019,
    claims=(
        *setting.CLAIMS,
        *assumptions.CLAIMS,
        *theorem_1.CLAIMS,
        *lemmas.CLAIMS,
        *theorem_2.CLAIMS,
    ),
)
