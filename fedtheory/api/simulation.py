"""What a simulated run has to say, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.engine.random_clocks import drawn_runs
from fedtheory.engine.run import Run
from fedtheory.shown import Card, Shown, frame, number

_SHOWN = 8
"""Rounds in the table of a card, about evenly spread."""


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Shown):
    """Exact expectations of the server's model x^n at the server updates n = 0 .. T, in the arithmetic of the run.

    Where update times are random these are means over sampled schedules.
    """

    run: Run
    times: Array
    """Clock time of each update, 0 for the start, (T+1,)."""
    mean: Array
    """E x^n, (T+1, d)."""
    suboptimality: Array
    """E F(x^n) - F*, (T+1,)."""
    distance_sq: Array
    """E|x^n - x*|^2, (T+1,)."""
    gradient_sq: Array
    """E|grad F(x^n)|^2, (T+1,)."""
    diverges: str | None = None
    """Why the rounds end early; None where they do not."""

    def summary(self) -> str:
        """The run, and the error at its end."""
        return f"{self.run.summary()}; E F - F* = {number(self.suboptimality[-1])} at the end"

    def card(self) -> Card:
        """The errors at some of the rounds."""
        last = len(self.times) - 1
        shown = sorted({round(last * part / (_SHOWN - 1)) for part in range(_SHOWN)})
        columns = (self.suboptimality, self.distance_sq, self.gradient_sq)
        rows = [[str(n), number(self.times[n]), *(number(column[n]) for column in columns)] for n in shown]
        facts = {} if self.diverges is None else {"diverges": self.diverges}
        heads = ("round", "time", r"\(E F(x)-F^*\)", r"\(E|x-x^*|^2\)", r"\(E|\nabla F(x)|^2\)")
        return Card(self.run.summary(), facts=facts, columns=heads, rows=rows)

    def to_numpy(self) -> Array:
        """Times, suboptimality, squared distance and squared gradient as floats, (T+1, 4)."""
        columns = (self.times, self.suboptimality, self.distance_sq, self.gradient_sq)
        return np.stack([plain_floats(column) for column in columns], axis=1)

    def to_frame(self) -> Any:
        """The columns of `to_numpy` as a pandas data frame, with the round as its index."""
        names = ("time", "suboptimality", "distance_sq", "gradient_sq")
        columns = dict(zip(names, self.to_numpy().T, strict=True))
        return frame({"round": range(len(self.times))} | columns, "round")


def simulation_of(run: Run, schedules: int, seed: int) -> Simulation:
    """The expectations of a run; `schedules` are sampled where its update times are random."""
    from fedtheory.arithmetic.enclosures import precise_enclosures

    bits = run.precisions[0]
    with precise_enclosures(bits):
        refined = run.refined(bits)
        return _drawn(refined, schedules, seed) if run.algorithm.clock.is_random else _exact(refined)


def _exact(run: Run) -> Simulation:
    trajectory = run.attempted_trajectory
    zero = run.arithmetic.number(0, "time")
    times = [run.arithmetic.number(time, "time") for time in run.algorithm.times(run.problem.weights)]
    errors = (trajectory.server_suboptimality, trajectory.server_distance_sq, trajectory.server_gradient_sq)
    known = len(errors[0])
    reason = None if trajectory.divergence is None else trajectory.divergence.reason
    return Simulation(run, run.arithmetic.array([zero, *times][:known]), trajectory.server_mean, *errors, reason)


def _drawn(run: Run, schedules: int, seed: int) -> Simulation:
    found = drawn_runs(run, schedules, seed)
    times = np.concatenate([[0.0], found.times.mean])
    return Simulation(run, times, found.mean, found.suboptimality.mean, found.distance_sq.mean, found.gradient_sq.mean)
