"""Gradient oracles: full gradients, additive noise, mini-batches."""

from fedtheory.oracles.additive import AdditiveNoise, ExactOracle
from fedtheory.oracles.base import Oracle, StepBound
from fedtheory.oracles.minibatch import MiniBatch

__all__ = ["AdditiveNoise", "ExactOracle", "MiniBatch", "Oracle", "StepBound"]
