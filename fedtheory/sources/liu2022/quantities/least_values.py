"""The gap between the least value of F and the clients' least values."""

from __future__ import annotations

from typing import Any

from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average, Expectation, Value
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP
from fedtheory.language.quantities.measuring.symbols import CLIENT_OBJECTIVE, CLIENT_OPTIMUM, OPTIMUM, define_by
from fedtheory.language.quantities.quantity import constant


def _measure_optimal_value_gap(run: Run) -> Any:
    """Return F* minus the client average of the clients' least values."""
    return run.problem.optimal_value - run.surrogate.least_client_values @ run.problem.weights


optimal_value_gap = constant(
    "optimal_value_gap",
    r"\Gamma",
    "Gamma = F* - sum_i p_i F_i*, F_i* the least value of F_i",
    _measure_optimal_value_gap,
    term=define_by(
        Average(Expectation(Value(CLIENT_OBJECTIVE, OPTIMUM) - Value(CLIENT_OBJECTIVE, CLIENT_OPTIMUM))),
        FIRST_STEP,
        FIRST_ROUND,
    ),
)
