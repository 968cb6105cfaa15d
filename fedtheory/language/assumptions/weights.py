"""Assumptions on the aggregation weights of single clients."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.language.assumptions.assumption import Setting, expect


def expect_constant_weights(run: Run) -> None:
    """Raise `NotApplicable` if the weights of a client change from update to update."""
    reason = run.algorithm.clock.policy.changes_weights
    expect(not reason, reason)


def _require_client_weights(run: Run) -> None:
    expect_constant_weights(run)
    expect(run.algorithm.aggregation.chosen is None, "the aggregation weights are not the client weights")


importance_weights = Setting("importances as weights", r"$d_i=p_i$", _require_client_weights)
