"""Federated problems: quadratics, least squares on data, and splits of data over clients."""

from fedtheory.federation.problem.least_squares import least_squares as least_squares
from fedtheory.federation.problem.matrices import quadratic as quadratic
from fedtheory.federation.problem.quadratic import Problem as Problem
