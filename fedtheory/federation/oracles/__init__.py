"""Gradient oracles: full gradients, additive noise, mini-batches."""

from fedtheory.federation.oracles.additive import AdditiveNoise as AdditiveNoise
from fedtheory.federation.oracles.additive import ExactOracle as ExactOracle
from fedtheory.federation.oracles.base import Oracle as Oracle
from fedtheory.federation.oracles.base import StepBound as StepBound
from fedtheory.federation.oracles.minibatch import MiniBatch as MiniBatch
