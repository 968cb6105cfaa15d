"""Intervals for expectations of algorithms given as definitions whose clients keep no vectors between rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fedtheory.engine.joint.moments import Joint
from fedtheory.engine.joint.trajectory import JointTrajectory
from fedtheory.engine.moments.certified import enclose_moments
from fedtheory.errors import Unresolved
from fedtheory.federation import Algorithm
from fedtheory.federation.problem.interval_problem import EnclosedProblem


class CertifiedJointTrajectory(JointTrajectory):
    """Second moments of the server's vectors in float intervals, for runs whose rounds are all alike."""

    def __init__(self, problem: EnclosedProblem, algorithm: Algorithm, on_progress: Callable[[int, int], None]) -> None:
        super().__init__(problem, algorithm)
        if self.layout.own or not algorithm.clock.is_synchronous or not algorithm.has_one_size_a_step:
            reason = "enclosures in floats exist neither for vectors that clients keep nor for rounds that differ"
            raise Unresolved(f"the run is too long for rationals, and {reason}: use fewer rounds")
        first, _ = self._begin()
        self._shared = enclose_moments(np.outer(first, first), algorithm.rounds, self.propagate_round, on_progress)
        self.moments = np.stack([self._measure_model(joint) for joint in self._iterate_joints()])
        self.divergence = None

    def _iterate_joints(self) -> Iterator[Joint]:
        return map(self._join_no_clients, self._shared)
