"""Beyond quadratics: sums of Huber, log-cosh or softplus losses.

Their gradients are bounded and differ between clients by a bounded amount on
all of space, so that claims that assume this are tested inside their
assumptions.  Huber"""

from fedtheory.losses.kinds import KINDS, Kind
from fedtheory.losses.problem import LossProblem, separable
from fedtheory.losses.run import LossRun
from fedtheory.losses.terms import Terms

__all__ = ["KINDS", "Kind", "LossProblem", "LossRun", "Terms", "separable"]
