"""Explains why a run diverges: the client with the largest curvature, and the edge of divergence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import plain_floats
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.planner.closed_rounds import ClosedRounds, has_closed_rounds
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.stability import find_divergence_edge
from fedtheory.shown import short, short_below

_HOPELESS = 1e-6
"""Fraction of the planned step size; if the edge of divergence is below it, smaller steps do not help."""
_ROUNDING = 1e-9
"""Part of a weight by which rounding may exceed one."""


@dataclass(frozen=True)
class Cause:
    """Reason why a run diverges."""

    client: str
    """Name or number of the client with the largest product of step size and curvature."""
    rows: int | None
    """Number of its rows; None if the problem has no data."""
    curvature: float
    """Its largest curvature L_i, in modulus."""
    step_size: float
    """Its step size in the run."""
    diverges_from: float
    """The step size from which the run diverges."""
    others: tuple[str, ...] = ()
    """Reasons, in words, why the run diverges though no client does alone; none where one does."""

    @property
    def alone(self) -> float:
        """The step size 2 / L_i from which the client's own gradient descent diverges."""
        return 2 / self.curvature if self.curvature > 0 else math.inf

    @property
    def is_hopeless(self) -> bool:
        """Whether smaller step sizes diverge as well."""
        return self.diverges_from < _HOPELESS * self.step_size

    def sentence(self) -> str:
        """Return the cause in words, with the largest stable step size."""
        if self.is_hopeless:
            return "smaller step sizes diverge as well: the round map itself grows, so look at the algorithm's updates"
        counted = "" if self.rows is None else f" ({self.rows} row{'s' * (self.rows != 1)})"
        steepest = f"client {self.client}{counted} has curvature {short(self.curvature)}"
        alone = f"2/{short(self.curvature)} = {short(self.alone)}" if math.isfinite(self.alone) else "none"
        stable = "at all step sizes tried" if math.isinf(edge := self.diverges_from) else f"up to {short_below(edge)}"
        if not self.others:
            return f"{steepest}, {alone}; this run is stable {stable}"
        reasons = ", and ".join(self.others)
        return f"no client diverges alone ({steepest}, {alone}), but {reasons}; this run is stable {stable}"


def explain_divergence(run: Run, edge: float | None = None) -> Cause | None:
    """Return the reason why the run diverges; None if its clients have no curvatures.

    `edge` is the step size from which it diverges, if it is known.
    """
    if not run.problem.is_quadratic:
        return None
    floats, problem = run.as_floats(), run.problem
    curvatures = plain_floats(floats.client_smoothness)
    sizes = plain_floats(floats.algorithm.work.step_sizes)
    steepest = int(np.argmax(sizes * curvatures))
    data = problem.data
    if edge is None:
        closed = ClosedRounds(floats) if has_closed_rounds(floats) else None
        edge = find_divergence_edge(ExactErrors(floats), closed)
    return Cause(
        client=str(steepest) if data is None else data.name_of(steepest),
        rows=None if data is None else len(data.outputs[steepest]),
        curvature=float(curvatures[steepest]),
        step_size=float(sizes.max()),
        diverges_from=edge,
        others=() if sizes[steepest] * curvatures[steepest] > 2 else tuple(_list_other_reasons(floats)),
    )


def _list_other_reasons(run: Run) -> Iterator[str]:
    """Yield reasons why a run may diverge although the local steps of no client do."""
    if run.algorithm.defined is not None:
        yield "the algorithm makes other updates than averages"
        return
    most = 1.0 if run.algorithm.clock.policy.changes_weights else _measure_largest_weight(run)
    if most > 1 + _ROUNDING:
        yield f"an update multiplies the change of a client by up to {short(most)}"
    if not run.algorithm.clock.is_synchronous:
        yield "clients report changes of stale models"
    if run.problem.oracle.depends_on_model:
        yield "the noise of mini-batches grows with the distance from x*"


def _measure_largest_weight(run: Run) -> float:
    """Return the largest factor of a client's change in an update: its weight there times the server's step size."""
    aggregation, weights = run.algorithm.aggregation, run.problem.weights
    if run.algorithm.clock.is_synchronous:
        moments = aggregation.moments(weights)
        # A weight that is zero or w has E[w^2] = w E[w].
        reported = moments.squares / np.where(moments.mean == 0, 1, moments.mean)
    else:
        reported = run.average_over_types(aggregation.weights(weights))
    return float(aggregation.server_step_size * plain_floats(reported).max())


def describe_divergence(run: Run) -> list[str]:
    """Return sentences on the overflow of a run, with the largest stable step size; empty if it does not diverge."""
    divergence = None if run.algorithm.clock.is_random else run.attempted_trajectory.divergence
    if divergence is None:
        return []
    try:
        cause = explain_divergence(run)
    except FedtheoryError:
        return [divergence.reason]
    return [divergence.reason] if cause is None else [divergence.reason, cause.sentence()]
