"""Gradient oracles: full gradients, additive noise, mini-batches."""

from fedtheory.federation.oracles.additive import AdditiveNoise, ExactOracle
from fedtheory.federation.oracles.base import Oracle, StepBound
from fedtheory.federation.oracles.minibatch import MiniBatch

__all__ = ["AdditiveNoise", "ExactOracle", "MiniBatch", "Oracle", "StepBound"]
