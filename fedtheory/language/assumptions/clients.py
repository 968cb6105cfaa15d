"""Assumptions on the clients: their number, weights and types."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.language.assumptions.assumption import Assumption, Setting, expect


def _require_equal_weights(run: Run) -> None:
    """Require equal client weights."""
    expect(run.has_equal_weights, "the clients have unequal weights")


def _require_several_clients(run: Run) -> None:
    """Require two clients or more."""
    expect(run.clients > 1, "there is one client only")


def _require_one_client(run: Run) -> None:
    expect(run.clients == 1, "there are several clients")


def _require_one_type(run: Run) -> None:
    expect(len(set(run.surrogate.types)) <= 1, "the clients have different objectives")


uniform_shares = Setting("uniform shares", r"all clients have the same weight in the objective", _require_equal_weights)
several_clients = Assumption("several clients", r"there are at least two clients", _require_several_clients)
one_client = Assumption("one client", r"$M=1$", _require_one_client)
one_type = Assumption("one type", r"all clients have the same objective, $\mathcal Z_i=\mathcal Z$", _require_one_type)
