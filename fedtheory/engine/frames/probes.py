"""Named points of a run at which statements "for all points" are tried."""

from __future__ import annotations

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run


def probes(run: Run) -> dict[str, Array]:
    """Points (d,) of the run, centred; points that coincide are named once."""
    last = run.trajectory.server_mean[-1] - run.problem.optimum
    named = {
        "start": run.problem.centred.start,
        "optimum": last - last,
        f"mean after round {run.algorithm.rounds}": last,
    }
    different: dict[str, Array] = {}
    for name, point in named.items():
        if not any((point == other).all() for other in different.values()):
            different[name] = point
    return different
