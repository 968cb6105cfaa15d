"""Losses beyond quadratics: sums of Huber, log-cosh, softplus or Hampel losses; the last are not convex.

Their gradients are bounded and differ between clients by a bounded amount on
all of space, so that claims with such assumptions can be tested within their
assumptions.  Huber and Hampel losses have rational values; the others are enclosed.
"""

from fedtheory.federation.losses.loss_terms import Terms as Terms
from fedtheory.federation.losses.problem import LossProblem as LossProblem
from fedtheory.federation.losses.problem import build_separable as build_separable
from fedtheory.federation.losses.scalar_losses import KINDS as KINDS
from fedtheory.federation.losses.scalar_losses import LossFamily as LossFamily
