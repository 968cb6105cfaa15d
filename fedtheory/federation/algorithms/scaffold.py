r"""SCAFFOLD: control variates of the server and of each client correct the drift (Karimireddy et al., ICML 2020).

    y_i^{k+1} = y_i^k - \eta (g_i(y_i^k) - c_i + c),
    c_i' = c_i - c + (x - y_i^\tau)/h_i          (option II; h_i the sum of the round's step sizes)
    x' = x + \eta_g \sum_i w_i (y_i^\tau - x),   c' = c + \sum_{i \in S} p_i (c_i' - c_i)

c and c_i start at 0; clients that are not sampled keep c_i.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.federation.definition import (
    FederatedAlgorithm,
    Gradient,
    Local,
    Participants,
    Weighted,
    eta,
    eta_g,
    eta_sum,
    optimum,
    start,
)

x, c, c_i, y = sp.symbols("x c c_i y_i", real=True)

new_control = c_i - c + (x - y) / eta_sum

algorithm = FederatedAlgorithm(
    name="scaffold",
    server={x: start, c: 0},
    client={c_i: 0},
    local=Local(y, start=x, step=y - eta * (Gradient(y) - c_i + c)),
    client_update={c_i: new_control},
    server_update={x: x + eta_g * Weighted(y - x), c: c + Participants(new_control - c_i)},
    model=x,
    at_optimum={x: optimum, c: 0, c_i: Gradient(optimum)},
    description="Local steps corrected by control variates: the average gradient minus the client's.",
)
