r"""FedProx: a proximal term keeps local work near the round's model (Li et al., MLSys 2020).

    y_i^{k+1} = y_i^k - \eta (g_i(y_i^k) + \mu (y_i^k - x)),   x' = x + \eta_g \sum_i w_i (y_i^\tau - x)

Local steps are gradient steps on ``F_i(y) + mu/2 |y - x|^2``; with mu = 0 this is FedAvg.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.federation.definition import FederatedAlgorithm, Gradient, Local, Parameter, Weighted, eta, eta_g, start

x, y = sp.symbols("x y_i", real=True)
mu = sp.Symbol(r"\mu_{\mathrm{prox}}", nonnegative=True)

algorithm = FederatedAlgorithm(
    name="fedprox",
    server={x: start},
    local=Local(y, start=x, step=y - eta * (Gradient(y) + mu * (y - x))),
    server_update={x: x + eta_g * Weighted(y - x)},
    model=x,
    parameters=(Parameter(mu, "proximal", "the weight of the proximal term", sp.Interval(0, sp.oo)),),
    description=r"FedAvg with local steps on $F_i(y)+\frac{\mu}{2}\|y-x\|^2$.",
)
