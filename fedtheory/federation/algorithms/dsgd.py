r"""Decentralised SGD: clients average with their neighbours on a graph (Lian et al., NeurIPS 2017).

    x_i' = \sum_j W_{ij} (x_j - \eta g_j(x_j))

W is doubly stochastic.  A round is one iteration; errors refer to sum_i p_i x_i.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.federation.definition import Average, FederatedAlgorithm, Gradient, Local, Mixed, eta, start

x, y = sp.symbols("x_i y_i", real=True)

algorithm = FederatedAlgorithm(
    name="dsgd",
    client={x: start},
    local=Local(y, start=x, step=y - eta * Gradient(y)),
    client_update={x: Mixed(y)},
    model=Average(x),
    steps_are_rounds=True,
    description="Each client takes a gradient step, then averages with its neighbours.",
)
