"""Comparisons of budgeted runs as JSON documents, and their step size from a run file."""

from __future__ import annotations

from typing import Any

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation import distributed_gd
from fedtheory.sources.lecture27.budget.cost import Budget
from fedtheory.sources.lecture27.budget.descent import BudgetComparison, BudgetedRun


def get_step_size(given: Run) -> Any:
    """Return eta of a run file; raises `InputError` if its algorithm is not distributed gradient descent."""
    aggregation = given.algorithm.aggregation
    descent = distributed_gd(
        given.problem,
        rounds=1,
        local_step_size=given.algorithm.work.step_sizes,
        server_step_size=aggregation.server_step_size,
        participation=aggregation.participation,
    )
    if descent.work.common_step_size is None:
        raise InputError("algorithm.local_step_size", "expected one number for all clients")
    return descent.work.common_step_size


def write_document(comparison: BudgetComparison, budget: Budget) -> dict[str, Any]:
    """Return the JSON document of a comparison.

    ``{local_cost, aggregation_cost, budget, optimal_value, fixed: [{local_steps, ...}], adaptive: {...}, best_fixed}``.
    A run has ``{intervals, local_updates, spent, final, best, schedule}``: counts, the total cost, F - F* of the last
    and of the best aggregated model, and for each interval ``{local_steps, spent, suboptimality, value}``, of the
    adaptive run also ``{lipschitz, smoothness, divergence}``: rho, beta and delta as estimated after it. Costs are
    exact strings; losses are null where the run diverges. `best_fixed` has the smallest final loss.
    """
    return {
        "local_cost": str(budget.local_cost),
        "aggregation_cost": str(budget.aggregation_cost),
        "budget": str(budget.total),
        "optimal_value": FLOAT.text(comparison.adaptive.optimal_value),
        "fixed": [{"local_steps": steps} | _write_run(done) for steps, done in comparison.fixed.items()],
        "adaptive": _write_run(comparison.adaptive),
        "best_fixed": comparison.best_fixed,
    }


def _write_run(done: BudgetedRun) -> dict[str, Any]:
    estimates: list[dict[str, Any]] = [
        {"lipschitz": one.lipschitz, "smoothness": one.smoothness, "divergence": one.divergence}
        for one in done.estimates
    ]
    estimates += [{}] * (len(done.local_steps) - len(estimates))
    intervals = zip(done.local_steps, done.spent, done.suboptimality, done.values, estimates, strict=True)
    return {
        "intervals": len(done.local_steps),
        "local_updates": sum(done.local_steps),
        "spent": str(done.spent[-1]),
        "final": FLOAT.text(done.final),
        "best": FLOAT.text(done.best),
        "schedule": [
            {"local_steps": steps, "spent": str(spent), "suboptimality": FLOAT.text(gap), "value": FLOAT.text(value)}
            | shown
            for steps, spent, gap, value, shown in intervals
        ],
    }
