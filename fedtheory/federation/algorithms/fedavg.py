r"""Federated averaging, as a definition (McMahan et al., AISTATS 2017).

    y_i^0 = x,   y_i^{k+1} = y_i^k - \eta g_i(y_i^k),   x' = x + \eta_g \sum_i w_i (y_i^\tau - x)

The run files' `fedavg` states the same algorithm by three policies of the
update rule; this definition replaces it if step sizes follow a schedule.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.federation.definition import FederatedAlgorithm, Gradient, Local, Weighted, eta, eta_g, optimum, start

x, y = sp.symbols("x y_i", real=True)

algorithm = FederatedAlgorithm(
    name="fedavg",
    server={x: start},
    local=Local(y, start=x, step=y - eta * Gradient(y)),
    server_update={x: x + eta_g * Weighted(y - x)},
    model=x,
    at_optimum={x: optimum},
    description="Local SGD from a common model, then a weighted mean of the changes.",
)
