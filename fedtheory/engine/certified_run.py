"""Runs of rational problems whose expectations are computed in float intervals, as rationals would be too long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, singledispatch

from fedtheory.arithmetic import CERTIFIED, ENCLOSED, RATIONAL, Arithmetic
from fedtheory.engine.expectations import Expectations
from fedtheory.engine.moments import rounds_repeat
from fedtheory.engine.moments.certified import NO_ENCLOSED_VECTORS, CertifiedTrajectory
from fedtheory.engine.moments.certified_steady import CertifiedSteadyTrajectory
from fedtheory.engine.run import Run
from fedtheory.errors import Unresolved
from fedtheory.federation.problem.interval_problem import EnclosedProblem


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedRun(Run):
    """One algorithm on one rational problem: constants are rational, expectations are intervals."""

    on_progress: Callable[[int, int], None] = lambda _done, _all: None
    """Progress callback with the numbers of completed and of all rounds."""

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of intervals."""
        return ENCLOSED

    @property
    def precisions(self) -> tuple[int, ...]:
        """The number of bits of a float alone: another precision would not change these intervals."""
        return (CERTIFIED.bits,)

    def as_floats(self) -> Run:
        """Return the same run in double precision, without error bounds."""
        return Run(self.problem.as_floats(), self.algorithm.as_floats())

    def require_vectors(self) -> None:
        """Raise `Unresolved`: single vectors would be rational, and grow with every round."""
        raise Unresolved(NO_ENCLOSED_VECTORS)

    @cached_property
    def attempted_trajectory(self) -> Expectations:
        """Return intervals for the expectations; raise `Unresolved` if models are stale, or clients keep vectors."""
        if rounds_repeat(self.problem, self.algorithm):
            return CertifiedSteadyTrajectory(self.problem, self.algorithm)
        problem = EnclosedProblem.from_problem(self.problem)
        if self.algorithm.defined is not None:
            from fedtheory.engine.joint.certified import CertifiedJointTrajectory

            return CertifiedJointTrajectory(problem, self.algorithm, self.on_progress)
        return CertifiedTrajectory(problem, self.algorithm, self.on_progress)


@singledispatch
def certify_run(run: Run, on_progress: Callable[[int, int], None] = lambda _done, _all: None) -> Run:
    """Return a rational run with its expectations in float intervals; return any other run unchanged."""
    return CertifiedRun(run.problem, run.algorithm, on_progress) if run.arithmetic is RATIONAL else run
