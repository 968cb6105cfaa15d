"""Assumptions on the clients: number, weights in the objective, types."""

from __future__ import annotations

from fedtheory.language.assumptions.assumption import Assumption, Setting, expect

uniform_shares = Setting(
    "uniform shares",
    r"all clients have the same weight in the objective",
    lambda run: expect(
        run.has_equal_weights, 'the clients have unequal weights (shares = "equal" gives clients on data equal ones)'
    ),
)
several_clients = Assumption(
    "several clients",
    r"there are at least two clients",
    lambda run: expect(run.clients > 1, "there is one client only"),
)
one_client = Assumption("one client", r"$M=1$", lambda run: expect(run.clients == 1, "there are several clients"))
one_type = Assumption(
    "one type",
    r"all clients have the same objective, $\mathcal Z_i=\mathcal Z$",
    lambda run: expect(len(set(run.surrogate.types)) <= 1, "the clients have different objectives"),
)
