r"""Scaffnew, or ProxSkip: communication is skipped at random (Mishchenko et al., ICML 2022).

    z_i = x_i - \eta (g_i(x_i) - h_i)
    with probability p, by one coin for all:
        x_i' = \sum_j p_j (z_j - (\eta/p) h_j),   h_i' = h_i + (p/\eta)(x_i' - z_i)
    else:
        x_i' = z_i,   h_i' = h_i

x_i start at x^0 and h_i at 0.  A round is one iteration; errors refer to sum_i p_i x_i.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.federation.definition import Average, FederatedAlgorithm, Gradient, Local, Parameter, eta, optimum, start

x, h, z = sp.symbols("x_i h_i z_i", real=True)
p, coin = sp.Symbol("p", positive=True), sp.Symbol(r"\theta", nonnegative=True)

common = Average(z - eta / p * h)

algorithm = FederatedAlgorithm(
    name="scaffnew",
    client={x: start, h: 0},
    local=Local(z, start=x, step=z - eta * (Gradient(z) - h)),
    client_update={x: coin * common + (1 - coin) * z, h: h + coin * p / eta * (common - z)},
    model=Average(x),
    coins={coin: p},
    parameters=(
        Parameter(p, "probability", "the probability that an iteration communicates", sp.Interval.Lopen(0, 1)),
    ),
    steps_are_rounds=True,
    at_optimum={x: optimum, h: Gradient(optimum)},
    description="Gradient steps with control variates; the clients' models are averaged at random times.",
)
