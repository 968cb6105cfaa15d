"""Linear models on data: logistic regression, and Huber, log-cosh or softplus regression, in floats.

``F_i(w) = (1/n_i) sum_j phi(x_ij'w - b_ij) + ridge/2 |w|^2`` with a smooth convex loss phi with bounded derivative.
"""

from fedtheory.federation.linear_models.batches import RowBatches as RowBatches
from fedtheory.federation.linear_models.model import LinearModel as LinearModel
from fedtheory.federation.linear_models.model import MarginLoss as MarginLoss
from fedtheory.federation.linear_models.problem import LinearModelProblem as LinearModelProblem
