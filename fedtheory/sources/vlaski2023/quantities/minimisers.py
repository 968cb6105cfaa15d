"""Distances of the clients' minimisers from that of F."""

from __future__ import annotations

from fedtheory.language.quantities.measuring.axes import place_on_clients
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP
from fedtheory.language.quantities.measuring.symbols import CLIENT_OPTIMUM, OPTIMUM, define_by, square
from fedtheory.language.quantities.quantity import constant

client_optimum_distance = constant(
    "client_optimum_distance",
    r"\|w_k^o-w^o\|",
    "distance of each client's minimiser from that of F",
    lambda run: place_on_clients(((run.problem.client_optima - run.problem.optimum) ** 2).sum(axis=1)),
    root=True,
    term=define_by(square(CLIENT_OPTIMUM - OPTIMUM), FIRST_STEP, FIRST_ROUND),
)
