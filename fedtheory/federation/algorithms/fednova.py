r"""FedNova: changes are divided by the client's number of local steps (Wang et al., NeurIPS 2020).

    y_i^{k+1} = y_i^k - \eta g_i(y_i^k),   x' = x + \eta_g \bar\tau \sum_i w_i (y_i^{\tau_i} - x)/\tau_i,
    \bar\tau = \sum_i p_i \tau_i

With equal numbers of local steps this is FedAvg.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.federation.definition import (
    FederatedAlgorithm,
    Gradient,
    Local,
    Weighted,
    eta,
    eta_g,
    mean_tau,
    start,
    tau,
)

x, y = sp.symbols("x y_i", real=True)

algorithm = FederatedAlgorithm(
    name="fednova",
    server={x: start},
    local=Local(y, start=x, step=y - eta * Gradient(y)),
    server_update={x: x + eta_g * mean_tau * Weighted((y - x) / tau)},
    model=x,
    description="FedAvg whose clients report their change per local step.",
)
