"""Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi: federated optimisation with asynchronous clients (2022).

Aggregation with stale models and unequal reporting.  One module for each part,
in the order of the pages; each repair stands right behind the claim that it
corrects.
"""

from fedtheory.claim import Source
from fedtheory.sources.fraboni2022 import experiments

SOURCE = Source(
    key="fraboni2022",
    title="A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
    authors="Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi",
    year=2022,
    claims=(*experiments.CLAIMS,),
)
