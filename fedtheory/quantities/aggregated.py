"""The models that aggregations give: the server's models without the start."""

from __future__ import annotations

from fedtheory.quantities.notion import Quantity

best_aggregated_suboptimality = Quantity(
    "best_aggregated_suboptimality",
    r"\min_{1\le n\le T}\mathbb E F(x^n)-F^*",
    "the smallest E F(x^n) - F* of the aggregated models n = 1 .. T",
    lambda run: run.trajectory.server_suboptimality[1:].min(),
)
