r"""FedAvg with momentum at the server, also in Nesterov's form (Hsu et al., 2019; the outer loop of DiLoCo).

    \Delta = \sum_i w_i (y_i^\tau - x),   v' = \beta v + \Delta,
    x' = x + \eta_g v'                    (with Nesterov: x' = x + \eta_g (\Delta + \beta v'))

v starts at 0; with beta = 0 this is FedAvg.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.federation.definition import (
    FederatedAlgorithm,
    Gradient,
    Local,
    Parameter,
    Weighted,
    eta,
    eta_g,
    optimum,
    start,
)

x, v, y = sp.symbols("x v y_i", real=True)
beta = sp.Symbol(r"\beta", nonnegative=True)
nesterov = sp.Symbol(r"\nu", nonnegative=True)

change = Weighted(y - x)
new_v = beta * v + change

algorithm = FederatedAlgorithm(
    name="fedavgm",
    server={x: start, v: 0},
    local=Local(y, start=x, step=y - eta * Gradient(y)),
    server_update={v: new_v, x: x + eta_g * ((1 - nesterov) * new_v + nesterov * (change + beta * new_v))},
    model=x,
    parameters=(
        Parameter(beta, "momentum", "the momentum of the server", sp.Interval.Ropen(0, 1)),
        Parameter(nesterov, "nesterov", "1 with Nesterov's momentum, 0 without", sp.Interval(0, 1), 0, is_flag=True),
    ),
    at_optimum={x: optimum, v: 0},
    description="FedAvg with heavy-ball or Nesterov momentum at the server.",
)
