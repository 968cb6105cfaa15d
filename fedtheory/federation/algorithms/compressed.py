r"""FedAvg with compressed changes: each client sends k random coordinates of d (rand-k).

    y_i^{k+1} = y_i^k - \eta g_i(y_i^k),   x' = x + \eta_g \sum_i w_i \mathcal C_i(y_i^\tau - x),

where C_i keeps k random coordinates, scales them by d/k and sets the others to zero, so that its expectation is its
argument.  With k = d this is FedAvg.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.federation.definition import (
    Compressed,
    FederatedAlgorithm,
    Gradient,
    Local,
    Parameter,
    Weighted,
    eta,
    eta_g,
    start,
)

x, y = sp.symbols("x y_i", real=True)
kept = sp.Symbol("k", positive=True, integer=True)

algorithm = FederatedAlgorithm(
    name="compressed",
    server={x: start},
    local=Local(y, start=x, step=y - eta * Gradient(y)),
    server_update={x: x + eta_g * Weighted(Compressed(y - x, kept))},
    model=x,
    parameters=(Parameter(kept, "coordinates", "the number of coordinates that a client sends", sp.Range(1, sp.oo)),),
    description="FedAvg in which each client sends k random coordinates of its change.",
)
