"""Runs in the limit of a parameter: infinitesimal step sizes, or infinitely many rounds.

Quantities of such a run are rational functions of an infinitesimal h, the factor of the step sizes or one over the
number of rounds: they give the limit, and the rate, exactly.
"""

from __future__ import annotations

from fedtheory.arithmetic import RATIONAL
from fedtheory.arithmetic.germs import INFINITESIMAL
from fedtheory.engine.expectations import Divergence
from fedtheory.engine.losses.run import LossRun
from fedtheory.engine.moments import Trajectory
from fedtheory.engine.moments.endless import EndlessTrajectory
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable, Unresolved


class _ShortSteps(Trajectory):
    """The expectations of a run with infinitesimal steps, which never diverges."""

    def _find_divergence(self, _overflow: int | None) -> Divergence | None:
        """Return None: a run in the limit does not diverge."""
        return None


def with_infinitesimal_steps(run: Run) -> Run:
    """Return the run with all step sizes times an infinitesimal; in rationals, for settings of the update rule."""
    _require_rationals(run)
    short = run.with_step_factor(INFINITESIMAL)
    vars(short)["attempted_trajectory"] = _ShortSteps(short.problem, short.algorithm)
    return short


def with_endless_rounds(run: Run) -> Run:
    """Return the run with 1/h rounds for an infinitesimal h; its rounds must be alike, and its arithmetic rational."""
    _require_rationals(run)
    if not run.algorithm.rounds_are_alike:
        raise NotApplicable("the limit for infinitely many rounds is computed for runs whose rounds are all equal")
    endless = run.with_rounds(1 / INFINITESIMAL)  # type: ignore[arg-type]
    recursion = run.attempted_trajectory.recursion
    vars(endless)["attempted_trajectory"] = EndlessTrajectory(run.problem, endless.algorithm, recursion)
    return endless


def _require_rationals(run: Run) -> None:
    if run.arithmetic is not RATIONAL:
        raise Unresolved("limits of runs are computed in rationals")
    if isinstance(run, LossRun):
        raise NotApplicable("limits of runs are known for quadratics and least squares")
    run.algorithm.require_update_rule("limits of runs are known for the update rule")
