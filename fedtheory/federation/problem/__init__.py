"""Federated problems: quadratics, least squares on data, and how data is split over clients."""

from fedtheory.federation.problem.least_squares import least_squares
from fedtheory.federation.problem.matrices import quadratic
from fedtheory.federation.problem.quadratic import Problem

__all__ = ["Problem", "least_squares", "quadratic"]
