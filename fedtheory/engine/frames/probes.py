"""Named points of a run at which statements "for all points" are checked."""

from __future__ import annotations

from typing import Any

from fedtheory.arithmetic import RATIONAL, Array, MidpointRadius, round_to_simplest
from fedtheory.engine.run import Run


def _name_of_centre(run: Run) -> str:
    if run.problem.is_bounded_below:
        return "optimum"
    return "start" if run.problem.stationary_point is None else "stationary point"


def list_probe_points(run: Run) -> dict[str, Array]:
    """Return points (d,) of the run, relative to x*; points that coincide are listed once."""
    last: Any = run.trajectory.final_mean - run.problem.centre
    if isinstance(last, MidpointRadius):
        # Any point serves for such a statement, and rational points have rational values.
        last = RATIONAL.array([round_to_simplest(float(number)) for number in last.middle])
    named = {
        "start": run.problem.centred.start,
        _name_of_centre(run): last - last,
        f"mean after round {run.algorithm.rounds}": last,
    }
    different: dict[str, Array] = {}
    for name, point in named.items():
        if not any((point == other).all() for other in different.values()):
            different[name] = point
    return different
