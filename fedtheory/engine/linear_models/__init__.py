"""Runs on linear models: exact in floats if nothing is random, else averages over replicas with intervals."""

from fedtheory.engine.linear_models.run import LinearModelRun
from fedtheory.engine.linear_models.trajectory import ReplicaTrajectory

__all__ = ["LinearModelRun", "ReplicaTrajectory"]
