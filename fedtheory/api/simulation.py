"""Results of a simulated run, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.engine.expectations import Expectations
from fedtheory.engine.random_clocks import average_over_schedules
from fedtheory.engine.run import Run
from fedtheory.errors import NoMinimiser
from fedtheory.shown import Card, Shown, frame, number

_SHOWN = 8
"""Number of rounds in the table of a card, about evenly spaced."""


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Shown):
    """Exact expectations of the server's model x^n at the server updates n = 0 .. T, in the arithmetic of the run.

    If client times are random, these are averages over sampled schedules.
    """

    run: Run
    times: Array
    """Clock time of each update, 0 for the start, (T+1,)."""
    mean: Array
    """E x^n, (T+1, d)."""
    suboptimality: Array | None
    """E F(x^n) - F*, (T+1,); None if F has no minimiser."""
    distance_sq: Array | None
    """E|x^n - x*|^2, (T+1,); None if F has no minimiser."""
    gradient_sq: Array
    """E|grad F(x^n)|^2, (T+1,)."""
    diverges: str | None = None
    """Reason why the run ends before its last round; None if it does not."""

    def summary(self) -> str:
        """Return the summary of the run, and the error at its end."""
        name, errors = "E F - F*", self.suboptimality
        if errors is None:
            name, errors = "E|grad F|^2", self.gradient_sq
        return f"{self.run.summary()}; {name} = {number(errors[-1])} at the end"

    def card(self) -> Card:
        """Return the errors at some of the rounds."""
        last = len(self.times) - 1
        shown = sorted({round(last * part / (_SHOWN - 1)) for part in range(_SHOWN)})
        heads = (r"\(E F(x)-F^*\)", r"\(E|x-x^*|^2\)", r"\(E|\nabla F(x)|^2\)")
        errors = zip(heads, (self.suboptimality, self.distance_sq, self.gradient_sq), strict=True)
        columns = {head: values for head, values in errors if values is not None}
        rows = [[str(n), number(self.times[n]), *(number(column[n]) for column in columns.values())] for n in shown]
        facts = {} if self.diverges is None else {"diverges": self.diverges}
        return Card(self.run.summary(), facts=facts, columns=("round", "time", *columns), rows=rows)

    def to_numpy(self) -> Array:
        """Return times, suboptimality, squared distance and squared gradient norm as floats, (T+1, 4).

        Entries are NaN where F has no minimiser.
        """
        unknown = np.full(len(self.times), np.nan)
        columns = (self.times, self.suboptimality, self.distance_sq, self.gradient_sq)
        return np.stack([unknown if column is None else plain_floats(column) for column in columns], axis=1)

    def to_frame(self) -> Any:
        """Return the columns of `to_numpy` as a pandas data frame, with the round as its index."""
        names = ("time", "suboptimality", "distance_sq", "gradient_sq")
        columns = dict(zip(names, self.to_numpy().T, strict=True))
        return frame({"round": range(len(self.times))} | columns, "round")


def simulate_run(run: Run, schedules: int, seed: int) -> Simulation:
    """Return the expectations of a run; `schedules` are sampled if its client times are random."""
    from fedtheory.arithmetic.enclosures import precise_enclosures

    bits = run.precisions[0]
    with precise_enclosures(bits):
        refined = run.refine(bits)
        if run.algorithm.clock.is_random:
            return _average_over_schedules(refined, schedules, seed)
        return _simulate_exactly(refined)


def _simulate_exactly(run: Run) -> Simulation:
    """Return the exact expectations of a run with a fixed schedule."""
    trajectory = run.attempted_trajectory
    zero = run.arithmetic.number(0, "time")
    times = [run.arithmetic.number(time, "time") for time in run.algorithm.times(run.problem.weights)]
    gradient_sq = trajectory.server_gradient_sq
    known = len(gradient_sq)
    reason = None if trajectory.divergence is None else trajectory.divergence.reason
    suboptimality, distance_sq = _measure_from_optimum(trajectory)
    clock = run.arithmetic.array([zero, *times][:known])
    return Simulation(
        run, clock, run.problem.lift(trajectory.server_mean), suboptimality, distance_sq, gradient_sq, reason
    )


def _measure_from_optimum(trajectory: Expectations) -> tuple[Array, Array] | tuple[None, None]:
    """Return E F(x^n) - F* and E|x^n - x*|^2; None twice if F has no minimiser."""
    try:
        return trajectory.server_suboptimality, trajectory.server_distance_sq
    except NoMinimiser:
        return None, None


def _average_over_schedules(run: Run, schedules: int, seed: int) -> Simulation:
    """Average the exact expectations of a run over sampled schedules."""
    found = average_over_schedules(run, schedules, seed)
    times = np.concatenate([[0.0], found.times.mean])
    return Simulation(
        run,
        times,
        run.problem.lift(found.mean),
        found.suboptimality.mean,
        found.distance_sq.mean,
        found.gradient_sq.mean,
    )
