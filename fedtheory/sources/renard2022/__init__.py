"""T. Renard, *Notes on Federated Optimization*, 26 May 2022: FedAvg on convex functions.

One module for each part of the notes, in the order of the pages; inside a
module, claims stand in the order in which they are printed, each repair right
behind the claim that it corrects.
"""

from fedtheory.claim import Source
from fedtheory.sources.renard2022 import lemma_2_2_noise, lemma_2_2_smoothness, properties, setting, theorem

SOURCE = Source(
    key="renard2022",
    title="Notes on Federated Optimization",
    authors="T. Renard",
    year=2022,
    claims=(
        *setting.CLAIMS,
        *theorem.CLAIMS,
        *lemma_2_2_smoothness.CLAIMS,
        *lemma_2_2_noise.CLAIMS,
        *properties.CLAIMS,
    ),
)
