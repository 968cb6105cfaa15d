"""Definitions for clocks that do not wait: each client holds a copy of the server's vectors as it last received them.

Its local steps and its report use the copies; when it reports, it receives the server's new vectors.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.federation.definition.algorithm import FederatedAlgorithm, Local
from fedtheory.federation.definition.language import SUMS, Participants, Weighted
from fedtheory.kernel.expressions import Average, Expr


def with_held_vectors(algorithm: FederatedAlgorithm) -> FederatedAlgorithm:
    """Return the definition whose clients hold copies of the server's vectors.

    Raises `InputError` with the reason if the definition has no meaning with such a clock.
    """
    require_clock(algorithm)
    held = {vector: sp.Symbol(f"held {vector}", real=True) for vector in algorithm.server}

    def of_client(expression: Expr) -> Expr:
        return sp.sympify(expression).xreplace(held)

    def at_server(expression: Expr) -> Expr:
        return sp.sympify(expression).replace(
            lambda part: isinstance(part, SUMS), lambda part: part.func(of_client(part.args[0]))
        )

    updates = {vector: at_server(end) for vector, end in algorithm.server_update.items()}
    return replace(
        algorithm,
        local=tuple(Local(one.vector, of_client(one.start), of_client(one.step)) for one in algorithm.steps),
        client={held[vector]: begin for vector, begin in algorithm.server.items()},
        server_update=updates,
        client_update={held[vector]: updates.get(vector, vector) for vector in algorithm.server},
        at_optimum={**algorithm.at_optimum, **{held[vector]: at for vector, at in algorithm.at_optimum.items()}},
    )


def require_clock(algorithm: FederatedAlgorithm) -> None:
    """Raise `InputError` if clients cannot report at different times."""
    reasons = {
        "its clients keep vectors between rounds": bool(algorithm.client),
        "its coins are tossed for all clients at once": bool(algorithm.coins),
        "its server receives from all clients in every round": algorithm.uses(Average),
        "its server receives from no client": not (algorithm.uses(Weighted) or algorithm.uses(Participants)),
    }
    for reason in (reason for reason, holds in reasons.items() if holds):
        raise InputError("algorithm.clock", f"expected the synchronous clock with {algorithm.name}: {reason}")
