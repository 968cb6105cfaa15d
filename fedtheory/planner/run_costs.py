"""Operations of a run: what its errors cost before they are computed."""

from __future__ import annotations

from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.linear_models.replicas import count_multiplications
from fedtheory.engine.moments import rounds_repeat
from fedtheory.engine.run import Run
from fedtheory.planner.deterministic_runs import count_numbers, is_deterministic

_OVERHEAD = 5e5
"""Overhead of a local step, in operations."""
_SLOWER = 10
"""Weight of a multiplication in operations if losses are evaluated row by row."""


def count_operations(run: Run, rounds: int) -> float:
    """Return about how many operations the errors of a run take for a number of rounds."""
    if is_deterministic(run):
        return rounds * (_OVERHEAD / 100 + count_numbers(run) ** 2)
    steps, size = rounds * max(run.algorithm.work.steps), run.problem.dimension + 1
    if isinstance(run, LinearModelRun):
        work = _SLOWER * run.replicas * count_multiplications(run.problem, run.algorithm)
        return float(rounds * work + steps * _OVERHEAD)
    repeats = run.problem.is_quadratic and rounds_repeat(run.problem, run.algorithm)
    return rounds * size**2 if repeats else steps * (_OVERHEAD + 10 * run.problem.clients * size**3)
