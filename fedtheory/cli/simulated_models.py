"""Reports a simulated run on linear models: loss, accuracy and errors, with intervals if they are estimated."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fedtheory.cli.output import print_table, short
from fedtheory.cli.simulation_tables import MEASURED, measure_or_none, print_constants, print_divergence, select_updates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fedtheory.engine.linear_models import LinearModelRun
    from fedtheory.engine.sampling import ReplicaMeans

_SHOWN = ("loss", "accuracy", *MEASURED)
_ROUNDING = 1e-12
"""Relative half width of an interval below which it is a rounding error."""


def list_estimates(simulated: LinearModelRun) -> Mapping[str, ReplicaMeans]:
    """Return the existing estimates of loss, accuracy and errors over the server's updates, by name."""
    measure = simulated.attempted_trajectory.interval
    found = {name: measure_or_none(partial(measure, name)) for name in _SHOWN}
    return {name: estimate for name, estimate in found.items() if estimate is not None}


def encode_models(simulated: LinearModelRun) -> dict[str, Any]:
    """Return loss and accuracy for the JSON document, and the intervals of all estimates; null if exact."""
    found = list_estimates(simulated)
    added = {name: found[name].mean.tolist() if name in found else None for name in ("loss", "accuracy")}
    if not simulated.is_estimated:
        return {**added, "interval": None}
    first = next(iter(found.values()))
    ends = {name: {"low": one.low.tolist(), "high": one.high.tolist()} for name, one in found.items()}
    return {
        **added,
        "interval": {
            "replicas": simulated.replicas,
            "seed": simulated.seed,
            "confidence": first.confidence,
            **ends,
        },
    }


def print_models(simulated: LinearModelRun, constants: dict[str, Any]) -> None:
    """Print a run for a terminal: constants, then some of the server's updates."""
    print_constants(simulated, constants)
    found = list_estimates(simulated)
    columns = {name: [_format_cell(one, n) for n in range(len(one.mean))] for name, one in found.items()}
    count = len(next(iter(columns.values())))
    rows = [[str(n), *(cells[n] for cells in columns.values())] for n in select_updates(count)]
    title = "the server's model; nothing is random, errors are those of floats"
    if simulated.is_estimated:
        first = next(iter(found.values()))
        how = f"{simulated.replicas} replicas, with {first.confidence:.0%} intervals; seed {simulated.seed}"
        title = f"the server's model, by Monte-Carlo: averages over {how}"
    print_table(title, ["round", *columns], rows, whole=("round",))
    print_divergence(simulated)


def _format_cell(one: ReplicaMeans, n: int) -> str:
    """Format the average over replicas at round n, with the half width of its confidence interval."""
    reach = one.high[n] - one.mean[n]
    return short(one.mean[n]) + (f" ± {reach:.2g}" if reach > _ROUNDING * abs(one.mean[n]) else "")
